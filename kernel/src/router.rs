//! Which tier a schema has (RTE-1): one table, and nothing else decides it.
//!
//! Priority and intent are not even arguments here (ADM-11), so neither can change a tier. Configuration may add
//! schemas to the tiers that do not wake; it can neither add to Tier-0 nor touch the four that are compiled in.

use alloc::collections::BTreeMap;

use awakener_spec::Reason;

use crate::ids::{SchemaRef, Tier};

/// The compiled table; each of them has version 1.
const COMPILED: [(&str, Tier); 4] = [
    ("interrupt-alert", Tier::Zero),
    ("directive", Tier::One),
    ("message", Tier::Two),
    ("observation", Tier::Three),
];

/// The tier of a schema that is compiled in; `None` for every other schema and version.
pub fn compiled(schema: &SchemaRef) -> Option<Tier> {
    COMPILED.iter().find(|(name, _)| schema.version() == 1 && schema.name() == *name).map(|(_, tier)| *tier)
}

/// The table in force: the compiled schemas and what configuration adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    extra: BTreeMap<SchemaRef, Tier>,
}

impl Routes {
    /// Adds schemas to the compiled table.
    ///
    /// # Errors
    /// [`Reason::ConfigMalformed`] for Tier-0, for a name that is compiled in (in whatever version), and for a schema
    /// that is named twice.
    pub fn new(extra: impl IntoIterator<Item = (SchemaRef, Tier)>) -> Result<Self, Reason> {
        let mut routes = Self::default();
        for (schema, tier) in extra {
            awakener_spec::rule!(Rte1);
            let compiled = COMPILED.iter().any(|(name, _)| schema.name() == *name);
            if tier == Tier::Zero || compiled || routes.extra.insert(schema, tier).is_some() {
                return Err(Reason::ConfigMalformed);
            }
        }
        Ok(routes)
    }

    /// The tier of a schema; `None` = `unknown_schema` (ADM-2).
    pub fn tier(&self, schema: &SchemaRef) -> Option<Tier> {
        awakener_spec::rule!(Rte1);
        compiled(schema).or_else(|| self.extra.get(schema).copied())
    }
}
