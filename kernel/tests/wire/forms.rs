//! One form each: names, ids, digests, tokens, times.

use std::fmt::Debug;
use std::str::FromStr;

use awakener_kernel::ids::{
    ContentHash, Form, FormError, KeyId, MessageId, NameError, Nonce, PublicKey, SchemaRef, Seq,
    SignatureBytes, Target, Tier, Token,
};
use awakener_kernel::time::{Millis, Wall};
use awakener_tools::enforces;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Accepted texts come back as they were, through text and through JSON; the others are refused by both.
fn check<T>(good: &[&str], bad: &[&str])
where
    T: FromStr<Err: Debug> + ToString + Serialize + DeserializeOwned + Debug + PartialEq,
{
    for text in good {
        let value: T = text.parse().unwrap_or_else(|error| panic!("{text:?}: {error:?}"));
        assert_eq!(value.to_string(), *text);
        let json = serde_json::to_value(&value).unwrap();
        assert_eq!(json, *text);
        assert_eq!(serde_json::from_value::<T>(json).unwrap(), value);
    }
    for text in bad {
        assert!(text.parse::<T>().is_err(), "{text:?} must be refused");
        assert!(serde_json::from_value::<T>((*text).into()).is_err(), "{text:?} must be refused in JSON");
    }
}

enforces! {
    [Idn2]
    fn idn_2_a_name_has_one_alphabet_and_64_bytes(_seen) {
        let longest = "a".repeat(64);
        let too_long = "a".repeat(65);
        check::<Target>(
            &["a", "7", "mataya-dyad", "a_b-c9", "a-", &longest],
            &["", "-a", "_a", "A", "aB", "a.b", "a b", "é", "aé", "a/b", " a", "a\n", &too_long],
        );
        assert_eq!(Target::parse(""), Err(NameError::Empty));
        assert_eq!(Target::parse(&too_long), Err(NameError::TooLong));
        assert_eq!(Target::parse("-a"), Err(NameError::Start));
        assert_eq!(Target::parse("Ab"), Err(NameError::Start));
        assert_eq!(Target::parse("ab.c"), Err(NameError::Character { at: 2 }));
    }
}

enforces! {
    [Idn3]
    fn idn_3_an_id_is_a_lower_case_uuid_v7(_seen) {
        check::<MessageId>(
            &["019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b1", "00000000-0000-7000-b000-000000000000"],
            &[
                "",
                "019F0A1B-2C3D-7E4F-8A5B-6C7D8E9FA0B1",
                "019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0B1",
                "019f0a1b2c3d7e4f8a5b6c7d8e9fa0b1",
                "{019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b1}",
                "urn:uuid:019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b1",
                "019f0a1b-2c3d-4e4f-8a5b-6c7d8e9fa0b1",
                "019f0a1b-2c3d-7e4f-ca5b-6c7d8e9fa0b1",
                "019f0a1b-2c3d-7e4f-0a5b-6c7d8e9fa0b1",
                "019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b",
                "019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b11",
                "019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0bg",
                "00000000-0000-0000-0000-000000000000",
            ],
        );
        assert_eq!(MessageId::parse("x"), Err(FormError(Form::Uuid)));
    }
}

#[test]
fn idn_3_an_id_is_made_from_a_time_and_chance() {
    let made = MessageId::from_parts(1_786_968_000_123, [0xff; 10]);
    assert_eq!(made.unix_ms(), 1_786_968_000_123);
    assert_eq!(MessageId::parse(&made.to_string()), Ok(made));
    assert_eq!(MessageId::from_bytes(*made.as_bytes()), Ok(made));
    assert!(MessageId::from_bytes([0xff; 16]).is_err());
    assert!(made < MessageId::from_parts(1_786_968_000_124, [0; 10]), "ids sort by time");
}

enforces! {
    [Idn4]
    fn idn_4_a_key_id_is_the_digest_of_the_raw_key(_seen) {
        let digits = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
        let good = format!("sha256:{digits}");
        // SHA-256 of 32 zero bytes, by sha256sum.
        assert_eq!(KeyId::of(&[0; 32]).to_string(), good);
        assert_eq!(PublicKey([0; 32]).key_id(), KeyId::of(&[0; 32]));
        assert_eq!(KeyId::parse_hex(digits), Ok(KeyId::of(&[0; 32])));
        assert!(KeyId::parse_hex(&good).is_err());
        let bad = [
            String::new(),
            digits.to_owned(),
            format!("SHA256:{digits}"),
            good.to_uppercase(),
            good.replace('a', "A"),
            format!("{good}0"),
            good[..70].to_owned(),
            format!("sha256: {}", &digits[1..]),
            format!("sha256:+{}", &digits[1..]),
            format!("sha512:{digits}"),
        ];
        let bad: Vec<_> = bad.iter().map(String::as_str).collect();
        check::<KeyId>(&[&good], &bad);
        check::<ContentHash>(&[&good], &bad);
    }
}

#[test]
fn sig_4_base64url_has_no_padding_and_no_spare_bits() {
    check::<Nonce>(
        &["AAAAAAAAAAAAAAAAAAAAAA", "-_v7-_v7-_v7-_v7-_v7-w"],
        &[
            "",
            "AAAAAAAAAAAAAAAAAAAAAA==",
            "AAAAAAAAAAAAAAAAAAAAAB",
            "+/v7+/v7+/v7+/v7+/v7+w",
            "AAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAA AAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAA\n",
        ],
    );
    let (zero, spare) = ("A".repeat(86), format!("{}B", "A".repeat(85)));
    check::<SignatureBytes>(
        &[&format!("ed25519:{zero}")],
        &[
            &zero,
            &format!("ed25519:{zero}=="),
            &format!("ed25519:{spare}"),
            &format!("Ed25519:{zero}"),
            &format!("ed25519:{}", "A".repeat(87)),
            &format!("ed25519:{}", "A".repeat(43)),
            &format!("ed25519: {zero}"),
        ],
    );
    check::<PublicKey>(
        &[&"A".repeat(43)],
        &[&"A".repeat(44), &"A".repeat(42), &format!("{}=", "A".repeat(43))],
    );
}

#[test]
fn emt_2_a_token_is_21_bits_of_epoch_above_32_bits_of_counter() {
    let token = Token::new(3, 5).unwrap();
    assert_eq!((token.get(), token.epoch(), token.counter()), ((3 << 32) + 5, 3, 5));
    let last = Token::new(Token::MAX_EPOCH, u32::MAX).unwrap();
    assert_eq!((last.get(), last.epoch(), last.counter()), ((1 << 53) - 1, (1 << 21) - 1, u32::MAX));
    assert_eq!(Token::new(Token::MAX_EPOCH + 1, 1), None);
    assert_eq!(Token::new(0, 0), None);
    assert_eq!(Token::from_u64(1 << 53), None);
    assert!(
        Token::new(4, 0).unwrap() > Token::new(3, u32::MAX).unwrap(),
        "a new epoch is above all of the last"
    );
    assert_eq!(Token::new(3, 5).unwrap().next(), Token::new(3, 6));
    assert_eq!(last.next(), None, "a counter that is used up does not run into the next epoch");
}

#[test]
fn numbers_in_json_are_integers_in_their_range() {
    let token = |json: &str| serde_json::from_str::<Token>(json).ok().map(Token::get);
    assert_eq!(token("42"), Some(42));
    for json in ["0", "-1", "42.0", "4e1", "\"42\"", "9007199254740992"] {
        assert_eq!(token(json), None, "{json}");
    }
    assert_eq!(serde_json::to_string(&Tier::Zero).unwrap(), "0");
    assert_eq!(serde_json::from_str::<Tier>("3").unwrap(), Tier::Three);
    assert!(serde_json::from_str::<Tier>("4").is_err());
    assert_eq!(serde_json::from_str::<Seq>("1").unwrap(), Seq::FIRST);
    assert!(serde_json::from_str::<Seq>("0").is_err());
}

#[test]
fn adm_11_a_schema_has_a_version() {
    check::<SchemaRef>(
        &["interrupt-alert/1", "message/4294967295"],
        &[
            "message",
            "message/",
            "message/0",
            "message/01",
            "message/+1",
            "message/1/1",
            "/1",
            "Message/1",
            "message/4294967296",
        ],
    );
    let schema = SchemaRef::parse("directive/2").unwrap();
    assert_eq!((schema.name(), schema.version()), ("directive", 2));
    assert_eq!(SchemaRef::new("directive", 2), Ok(schema));
    assert_eq!(SchemaRef::new("directive", 0), Err(FormError(Form::Schema)));
}

#[test]
fn sig_4_a_time_has_one_form() {
    let good = [
        "1970-01-01T00:00:00Z",
        "2026-08-17T12:00:30.001Z",
        "2024-02-29T23:59:59Z",
        "9999-12-31T23:59:59.999Z",
    ];
    for text in good {
        assert_eq!(Wall::parse_utc(text).unwrap().utc(), text);
    }
    // Also allowed on the wire, though we write it without.
    assert_eq!(Wall::parse_utc("1970-01-01T00:00:01.000Z"), Ok(Wall(1_000)));
    let bad = [
        "",
        "2026-08-17T12:00:00",
        "2026-08-17T12:00:00+00:00",
        "2026-08-17T12:00:00-00:00",
        "2026-08-17T12:00:00z",
        "2026-08-17t12:00:00Z",
        "2026-08-17 12:00:00Z",
        "2026-08-17T12:00:60Z",
        "2016-12-31T23:59:60Z",
        "2026-08-17T12:60:00Z",
        "2026-08-17T24:00:00Z",
        "2026-08-17T12:00Z",
        "2026-08-17T12:00:00.Z",
        "2026-08-17T12:00:00.1Z",
        "2026-08-17T12:00:00.12Z",
        "2026-08-17T12:00:00.1234Z",
        "2026-08-17T12:00:00,123Z",
        "2026-08-17T12:00:00.12aZ",
        "2026-8-17T12:00:00Z",
        "02026-08-17T12:00:00Z",
        "+026-08-17T12:00:00Z",
        "2026-00-17T12:00:00Z",
        "2026-13-17T12:00:00Z",
        "2026-08-00T12:00:00Z",
        "2026-08-32T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "2100-02-29T12:00:00Z",
        "2026-04-31T12:00:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-00T00:00:00Z",
        " 2026-08-17T12:00:00Z",
        "2026-08-17T12:00:00ZZ",
        "２026-08-17T12:00:00Z",
    ];
    for text in bad {
        assert_eq!(Wall::parse_utc(text), Err(FormError(Form::Time)), "{text:?}");
    }
}

#[test]
fn sig_4_times_agree_with_a_calendar_of_someone_else() {
    let days = Wall::LAST.0 / 86_400_000;
    assert_eq!(days, 2_932_896, "the last day of the year 9999");
    // 61 steps through every day of the month and every month; all of the first two centuries.
    for day in (0..=73_200).chain((73_200..=days).step_by(61)) {
        let ms = day * 86_400_000 + day % 86_400 * 1_000;
        let theirs = jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap().to_string();
        assert_eq!(Wall(ms).utc(), theirs);
        assert_eq!(Wall::parse_utc(&theirs), Ok(Wall(ms)));
    }
}

#[test]
fn arithmetic_of_time_saturates() {
    assert_eq!(Wall(u64::MAX) + Millis(1), Wall(u64::MAX));
    assert_eq!(Wall(5) - Millis(7), Wall(0));
    assert_eq!(Wall(7).saturating_since(Wall(5)), Millis(2));
    assert_eq!(Wall(5).saturating_since(Wall(7)), Millis::ZERO);
    assert_eq!(Wall(u64::MAX).utc(), "9999-12-31T23:59:59.999Z");
}

proptest! {
    #[test]
    fn sig_4_every_instant_comes_back(ms in 0..=Wall::LAST.0) {
        prop_assert_eq!(Wall::parse_utc(&Wall(ms).utc()), Ok(Wall(ms)));
    }

    #[test]
    fn sig_4_what_is_read_as_a_time_is_one(text in "[0-9]{4}-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{3})?Z") {
        let theirs = text.parse::<jiff::Timestamp>().ok().and_then(|time| u64::try_from(time.as_millisecond()).ok());
        // They read a leap second as the second before it.
        let theirs = theirs.filter(|_| text.get(17..19) != Some("60"));
        prop_assert_eq!(Wall::parse_utc(&text).ok(), theirs.map(Wall));
    }

    #[test]
    fn bytes_come_back(bytes: [u8; 16], digest: [u8; 32]) {
        prop_assert_eq!(Nonce::parse(&Nonce(bytes).to_string()), Ok(Nonce(bytes)));
        prop_assert_eq!(KeyId::parse(&KeyId(digest).to_string()), Ok(KeyId(digest)));
    }
}
