//! What must hold of any bytes at a door of the wire. The spoiled documents here and the targets in `fuzz/` call the
//! same functions; a panic is a fault.
//!
//! What one reader understands, every reader does. A signed document that still verifies is the one that was signed. A
//! submission that is taken has the content hash that anybody finds who reads it with a common JSON parser.

use awakener_kernel::ids::ContentHash;
use awakener_kernel::json::canonical;
use awakener_kernel::wire::{
    Document, ParsedHint, Signed, SigningKey, Submission, UnsignedHint, public_key, verify,
};
use awakener_tools::readers;

/// What came of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate<T> {
    Refused,
    /// Taken; a signature does not hold, or there is none.
    Taken(T),
    /// Taken, and the signature holds.
    Verified(T),
}

/// The one key of which these functions know that it signs.
pub fn signer() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

pub fn hint(bytes: &[u8]) -> Fate<ParsedHint> {
    let Ok(read) = ParsedHint::parse(bytes) else { return Fate::Refused };
    assert!(readers::agree(bytes));
    // What is sent again says the same, with the members of ours alone.
    let again = UnsignedHint::new(read.hint.clone()).unwrap().encode(&read.signature);
    assert_eq!(ParsedHint::parse(&again).unwrap().hint, read.hint);
    match verify(&public_key(&signer()), read.signing_bytes(), &read.signature) {
        Ok(()) => Fate::Verified(read),
        Err(_) => Fate::Taken(read),
    }
}

pub fn signed<D: Document + Clone + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Fate<Signed<D>> {
    let Ok(read) = Signed::<D>::parse(bytes) else { return Fate::Refused };
    assert!(readers::agree(bytes));
    let again = Signed::<D>::parse(&read.encode()).unwrap();
    assert_eq!((&again, again.encode()), (&read, read.encode()));
    match read.verify(&public_key(&signer())) {
        Ok(_) => Fate::Verified(read),
        Err(_) => Fate::Taken(read),
    }
}

pub fn submission(bytes: &[u8]) -> Fate<Submission> {
    let Ok(read) = Submission::parse(bytes, 1 << 16) else { return Fate::Refused };
    assert!(readers::agree(bytes));
    let mut common: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    let members = common.as_object_mut().unwrap();
    members.remove("id");
    members.remove("from");
    assert_eq!(read.content_hash(), ContentHash::of(&canonical(&common)));
    Fate::Taken(read)
}
