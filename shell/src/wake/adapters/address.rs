//! Which addresses an adapter may meet, judged on what a name resolves to and not on the name.
//!
//! The addresses that were judged are the ones that are connected to ([`super::call`]), so a name that answers
//! differently the second time gains nothing. One forbidden address among several forbids all of them. Not here:
//! whether a URL may stand in a manifest. Rules: CAP-3, PRT-3, HOK-1.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::Url;

/// How far an adapter may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// This machine alone.
    Here,
    /// The public network alone.
    Public,
    /// Also private, link-local and loopback addresses (`allow_private`).
    Private,
}

/// The addresses of a URL's host, all of them within reach.
///
/// # Errors
/// In words: the name does not resolve in time, or an address is out of reach.
pub(super) async fn resolve(url: &Url, reach: Reach, within: Duration) -> Result<Vec<SocketAddr>, String> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default().ok_or_else(|| format!("{host}: no port"))?;
    let found = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => {
            let asked = tokio::time::timeout(within, tokio::net::lookup_host((host.as_str(), port))).await;
            let answer = asked.map_err(|_| format!("{host}: no answer of the resolver in time"))?;
            answer.map_err(|error| format!("{host}: {error}"))?.collect()
        }
    };
    if found.is_empty() {
        return Err(format!("{host}: no address"));
    }
    match found.iter().find(|address| !within_reach(address.ip(), reach)) {
        Some(address) => {
            awakener_spec::rule!(Prt3);
            Err(format!("{host}: {} is out of reach: only {}", address.ip(), reach.words()))
        }
        None => Ok(found),
    }
}

/// Whether every address is of the public network.
pub(super) fn all_public(addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|address| is_public(address.ip()))
}

impl Reach {
    const fn words(self) -> &'static str {
        match self {
            Self::Here => "this machine may be met",
            Self::Public => "public addresses may be met without `allow_private`",
            Self::Private => "addresses of one machine may be met",
        }
    }
}

fn within_reach(address: IpAddr, reach: Reach) -> bool {
    match reach {
        Reach::Here => address.to_canonical().is_loopback(),
        Reach::Public => is_public(address),
        Reach::Private => is_of_one_machine(address),
    }
}

fn is_of_one_machine(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let broadcast = matches!(address, IpAddr::V4(four) if four.is_broadcast());
    !address.is_unspecified() && !address.is_multicast() && !broadcast
}

/// Whether an address belongs to the public network, as the special-purpose registries of IANA say.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(four) => is_public_four(four),
        IpAddr::V6(six) => is_public_six(six),
    }
}

fn is_public_four(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network, private, loopback, link-local, private, private.
        (0 | 10 | 127, _, _) | (169, 254, _) | (172, 16..=31, _) | (192, 168, _) => true,
        // Shared by carriers, assignments of the IETF, documentation, relays, benchmarks.
        (100, 64..=127, _) | (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) => true,
        (192, 88, 99) | (198, 18..=19, _) => true,
        // Multicast, reserved, broadcast.
        (224..=255, _, _) => true,
        (_, _, _) => false,
    };
    !special
}

fn is_public_six(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let four = |high: u16, low: u16| {
        let ([x, y], [z, w]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_four(Ipv4Addr::new(x, y, z, w))
    };
    match (a, b, c, d, e, f) {
        // Translated and tunnelled: what counts is the address inside.
        (0x64, 0xff9b, 0, 0, 0, 0) => four(g, h),
        (0x2002, _, _, _, _, _) => four(b, c),
        // Assignments of the IETF with Teredo and ORCHID, documentation.
        (0x2001, 0..=0x1ff, _, _, _, _) | (0x2001, 0xdb8, _, _, _, _) | (0x3fff, 0..=0xfff, _, _, _, _) => {
            false
        }
        // Global unicast; everything beside it is local, multicast, or unassigned.
        (0x2000..=0x3fff, _, _, _, _, _) => true,
        (_, _, _, _, _, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use awakener_tools::enforces;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// The judgement on a URL, resolved on this machine.
    fn judged(url: &str, reach: Reach) -> Result<Vec<SocketAddr>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(resolve(&Url::parse(url).unwrap(), reach, Duration::from_secs(5)))
    }

    #[test]
    fn cap_3_what_is_not_of_the_public_network_is_known() {
        for local in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.8.9.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(ip(local)), "{local}");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00::1",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(ip(public)), "{public}");
        }
    }

    enforces! {
        [Prt3] fn prt_3_a_name_or_an_odd_number_is_judged_by_where_it_leads(_seen) {
            for here in ["http://127.0.0.1:1/", "http://localhost:1/", "http://[::1]:1/", "http://2130706433:1/",
                         "http://0x7f.1:1/", "http://[::ffff:127.0.0.1]:1/"] {
                let addresses = judged(here, Reach::Here).unwrap();
                assert!(addresses.iter().all(|address| address.ip().to_canonical().is_loopback()), "{here}");
                assert!(judged(here, Reach::Public).unwrap_err().contains("out of reach"), "{here}");
                assert!(judged(here, Reach::Private).is_ok(), "{here}");
            }
            let public = judged("http://8.8.8.8/", Reach::Public).unwrap();
            assert_eq!(public, ["8.8.8.8:80".parse().unwrap()]);
            assert!(all_public(&public) && !all_public(&judged("http://10.0.0.1/", Reach::Private).unwrap()));
            assert!(judged("http://8.8.8.8/", Reach::Here).is_err());
            for nowhere in ["http://0.0.0.0/", "http://224.0.0.1/", "http://255.255.255.255/", "http://[ff02::1]/"] {
                assert!(judged(nowhere, Reach::Private).is_err(), "{nowhere}");
            }
        }
    }
}
