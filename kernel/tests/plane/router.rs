//! RTE-1: one table.

use awakener_kernel::ids::{SchemaRef, Tier};
use awakener_kernel::router::Routes;
use awakener_spec::Reason;
use awakener_tools::enforces;

fn schema(text: &str) -> SchemaRef {
    SchemaRef::parse(text).unwrap()
}

enforces! {
    [Rte1]
    fn rte_1_the_four_schemas_have_their_tiers_and_others_have_none(_seen) {
        let routes = Routes::default();
        let table = [
            ("interrupt-alert/1", Some(Tier::Zero)),
            ("directive/1", Some(Tier::One)),
            ("message/1", Some(Tier::Two)),
            ("observation/1", Some(Tier::Three)),
            ("interrupt-alert/2", None),
            ("interrupt-alerts/1", None),
            ("note/1", None),
        ];
        for (name, tier) in table {
            assert_eq!(routes.tier(&schema(name)), tier, "{name}");
        }
    }
}

enforces! {
    [Rte1]
    fn rte_1_configuration_adds_to_the_tiers_that_do_not_wake(_seen) {
        for tier in [Tier::One, Tier::Two, Tier::Three] {
            let routes = Routes::new([(schema("note/2"), tier)]).unwrap();
            assert_eq!(routes.tier(&schema("note/2")), Some(tier));
            assert_eq!(routes.tier(&schema("note/1")), None, "another version is another schema");
            assert_eq!(routes.tier(&schema("interrupt-alert/1")), Some(Tier::Zero));
        }
    }
}

enforces! {
    [Rte1]
    fn rte_1_configuration_neither_adds_to_tier_0_nor_touches_the_four(_seen) {
        let refused = [
            vec![(schema("siren/1"), Tier::Zero)],
            vec![(schema("interrupt-alert/1"), Tier::Two)],
            vec![(schema("interrupt-alert/2"), Tier::One)],
            vec![(schema("message/1"), Tier::Two)],
            vec![(schema("note/1"), Tier::One), (schema("note/1"), Tier::Two)],
        ];
        for extra in refused {
            assert_eq!(Routes::new(extra.clone()), Err(Reason::ConfigMalformed), "{extra:?}");
        }
    }
}
