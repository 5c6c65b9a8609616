use proptest::prelude::*;
use serde_json::json;

use super::*;

fn check(value: &Value, expected: &str) {
    assert_eq!(text_of(value).as_deref(), Ok(expected));
}

/// The samples of RFC 8785, appendix B, as bits of a double. This crate refuses the ones between 2^53 and 10^21.
#[test]
fn numbers_match_the_samples_of_the_rfc() {
    let samples: &[(u64, &str)] = &[
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, expected) in samples {
        check(&json!(f64::from_bits(*bits)), expected);
    }
    for (double, expected) in
        [(4.5, "4.5"), (2e-3, "0.002"), (1e-27, "1e-27"), (-0.0, "0"), (1e15, "1000000000000000"), (100.0, "100")]
    {
        check(&json!(double), expected);
    }
}

#[test]
fn integers_beyond_exact_doubles_are_refused() {
    check(&json!(9_007_199_254_740_991_u64), "9007199254740991");
    check(&json!(-9_007_199_254_740_991_i64), "-9007199254740991");
    for beyond in
        [json!(9_007_199_254_740_992_u64), json!(-9_007_199_254_740_992_i64), json!(u64::MAX), json!(1e20), json!(-1e16)]
    {
        assert!(matches!(text_of(&json!({"deep": [beyond]})), Err(Fault::IntegerTooLarge(_))), "{beyond}");
    }
}

/// RFC 8785, sections 3.2.2 and 3.2.3.
#[test]
fn strings_and_member_order_match_the_rfc() {
    let sample = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
        r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    check(&read(sample).unwrap(), expected);
    let sample = r#"{"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7}"#;
    check(&read(sample).unwrap(), "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
    check(&json!("\u{8}\t\n\u{c}\r\u{1f}\u{7f}"), "\"\\b\\t\\n\\f\\r\\u001f\u{7f}\"");
}

#[test]
fn ambiguous_json_is_refused() {
    for text in
        [r#"{"a":1,"a":1}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#, r#"{"a":"\ud800"}"#, r#""\udc00\ud800""#, "1e400", "[1,]", "NaN"]
    {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let nested = |depth: usize| (0..depth).fold(Value::Null, |value, _| json!([value]));
    assert!(text_of(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(text_of(&nested(DEPTH_MAX + 1)), Err(Fault::TooDeep));
    assert!(read(&"[".repeat(100_000)).is_err());
}

fn double() -> impl Strategy<Value = f64> {
    any::<f64>()
        .prop_filter("refused", |double| double.is_finite() && (double.abs() <= 9_007_199_254_740_991.0 || double.abs() >= 1e21))
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        double().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        "[\\x00-\\x7f]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-c\u{e9}\u{fb33}\u{1f600}]{0,3}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Another implementation writes the same bytes.
    #[test]
    fn another_implementation_agrees(value in value()) {
        prop_assert_eq!(text_of(&value).unwrap(), serde_json_canonicalizer::to_string(&value).unwrap());
    }

    #[test]
    fn another_implementation_agrees_about_doubles(double in double()) {
        prop_assert_eq!(text_of(&json!(double)).unwrap(), serde_json_canonicalizer::to_string(&double).unwrap());
    }

    /// A canonical value stays the same if it is read and written again, whatever its spelling was.
    #[test]
    fn spelling_does_not_matter(value in value()) {
        let canonical = text_of(&value).unwrap();
        prop_assert_eq!(&text_of(&read(&canonical).unwrap()).unwrap(), &canonical);
        prop_assert_eq!(&text_of(&read(&serde_json::to_string_pretty(&value).unwrap()).unwrap()).unwrap(), &canonical);
    }
}
