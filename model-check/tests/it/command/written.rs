//! One way through `toy`, scope `crash`.

#[test]
fn inb_1_what_was_said_to_be_saved_survives_on_one_way() {
    awakener_model_check::trace::rust::must_hold::<crate::command::toy::Toy<false>>(
        "crash",
        "INB-1 what was said to be saved survives",
        &[r#""boot""#, r#"{"add":{"by":1}}"#, r#"{"write":"save"}"#, r#""crash""#],
    );
}
