//! By which rule an observed value is a recorded one. Counts no seeds.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::queries::Query;
use super::recording::Expected;

/// The rule by which the value is right, if it is. `query` is `None` for the description in a `when`.
pub fn value_rule(query: Option<&Query>, see: &Expected, got: &Value) -> Option<&'static str> {
    match see {
        Expected::Same(expected) => same(query, expected, got),
        Expected::Varies(values) => {
            if values.iter().any(|expected| same(query, expected, got).is_some()) {
                Some("one of the values of the recorded runs")
            } else if query.is_some_and(counts_in_flight) && between(&values.iter().collect::<Vec<_>>(), got) {
                Some("between the values of the recorded runs, because it counts records in flight")
            } else {
                None
            }
        }
    }
}

fn same(query: Option<&Query>, expected: &Value, got: &Value) -> Option<&'static str> {
    if matches!(query, Some(Query::Rebalances { .. })) {
        (by_member(expected) == by_member(got)).then_some("the same calls in the same order for each member")
    } else if matches!(query, Some(Query::OldClient(_))) {
        old_client_rule(expected, got)
    } else {
        (expected == got).then_some("equal")
    }
}

/// Rows of `[member, …]` as one list per member.
fn by_member(rows: &Value) -> BTreeMap<String, Vec<&Value>> {
    let mut members: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for row in rows.as_array().into_iter().flatten() {
        members.entry(row[0].to_string()).or_default().push(row);
    }
    members
}

/// Records, assignments and revocations equal; failures of commits and polls, and long polls, within 2.
fn old_client_rule(expected: &Value, got: &Value) -> Option<&'static str> {
    let count = |value: &Value, key: &str| value.get(key).and_then(Value::as_i64);
    let exact = ["record", "assigned", "revoked"]
        .iter()
        .all(|key| expected.get(*key).is_none() || count(expected, key) == count(got, key));
    let near =
        ["commit-failed", "poll-took", "error"].iter().all(|key| match (count(expected, key), count(got, key)) {
            (Some(expected), Some(got)) => expected.abs_diff(got) <= 2,
            (None, _) => true,
            (Some(_), None) => false,
        });
    (exact && near).then_some("records and callbacks equal, failures within 2")
}

fn counts_in_flight(query: &Query) -> bool {
    match query {
        Query::Answers { .. }
        | Query::Read { .. }
        | Query::Offsets { .. }
        | Query::Committed(_)
        | Query::OldClient(_) => true,
        Query::Topics(_)
        | Query::Leaderless(_)
        | Query::IsrSizes(_)
        | Query::Group { .. }
        | Query::GroupSizes(_)
        | Query::CoordinatorIsLeaderOf { .. }
        | Query::PartitionOfEach(_)
        | Query::HasLeader
        | Query::EachAnswer { .. }
        | Query::LogAsRead { .. }
        | Query::Rebalances { .. }
        | Query::Errors { .. }
        | Query::Promises { .. } => false,
    }
}

/// Whether every number of `got` lies between those at its place in the values; everything else must be that of one of
/// them. A count that is absent is 0.
fn between(values: &[&Value], got: &Value) -> bool {
    if let Some(number) = got.as_i64() {
        let numbers: Option<Vec<i64>> = values.iter().map(|v| if v.is_null() { Some(0) } else { v.as_i64() }).collect();
        return numbers.is_some_and(|n| n.iter().min() <= Some(&number) && Some(&number) <= n.iter().max());
    }
    match got {
        Value::Object(map) => {
            let keys = values.iter().filter_map(|v| v.as_object()).flat_map(|v| v.keys()).chain(map.keys());
            values.iter().all(|v| v.is_object())
                && keys.into_iter().all(|key| {
                    between(
                        &values.iter().map(|v| v.get(key).unwrap_or(&Value::Null)).collect::<Vec<_>>(),
                        map.get(key).unwrap_or(&json!(0)),
                    )
                })
        }
        Value::Array(items) => {
            let same_length = values.iter().all(|v| v.as_array().is_some_and(|v| v.len() == items.len()));
            same_length
                && items
                    .iter()
                    .enumerate()
                    .all(|(i, item)| between(&values.iter().map(|v| &v[i]).collect::<Vec<_>>(), item))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => values.contains(&got),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_lie_between_what_varied_but_leaders_may_not() {
        let see = Expected::Varies(vec![json!({ "records": 10 }), json!({ "records": 20 })]);
        let read = Query::Read { member: "m".into(), since: None };
        assert!(
            value_rule(Some(&read), &see, &json!({ "records": 13 })).is_some_and(|rule| rule.starts_with("between"))
        );
        assert!(value_rule(Some(&read), &see, &json!({ "records": 21 })).is_none());
        assert!(value_rule(Some(&Query::Topics(vec![])), &see, &json!({ "records": 13 })).is_none());
        assert!(value_rule(Some(&Query::Topics(vec![])), &see, &json!({ "records": 20 })).is_some());
    }

    #[test]
    fn absent_failures_count_as_none() {
        let see = [json!({ "acked": 3, "failed": {} }), json!({ "acked": 1, "failed": { "TimeoutException": 2 } })];
        let values: Vec<&Value> = see.iter().collect();
        assert!(between(&values, &json!({ "acked": 2, "failed": { "TimeoutException": 1 } })));
        assert!(!between(&values, &json!({ "acked": 2, "failed": { "TimeoutException": 3 } })));
        assert!(!between(&values, &json!({ "acked": 2, "failed": { "NetworkException": 1 } })));
    }

    #[test]
    fn the_order_of_an_isr_counts_but_not_that_of_keys() {
        let see = Expected::Same(json!({ "a": 1, "isr": [2, 3] }));
        assert!(value_rule(None, &see, &json!({ "isr": [2, 3], "a": 1 })).is_some());
        assert!(value_rule(None, &see, &json!({ "isr": [3, 2], "a": 1 })).is_none());
    }

    #[test]
    fn the_order_between_members_does_not_count_but_that_within_one_does() {
        let query = Query::Rebalances { members: vec![], since: None };
        let see = Expected::Same(json!([["a", "revoked", []], ["b", "assigned", []], ["a", "assigned", []]]));
        assert!(
            value_rule(
                Some(&query),
                &see,
                &json!([["b", "assigned", []], ["a", "revoked", []], ["a", "assigned", []]])
            )
            .is_some()
        );
        assert!(
            value_rule(
                Some(&query),
                &see,
                &json!([["a", "assigned", []], ["a", "revoked", []], ["b", "assigned", []]])
            )
            .is_none()
        );
    }

    #[test]
    fn failures_of_an_old_client_may_be_off_by_two() {
        let query = Query::OldClient("c".into());
        let see = Expected::Same(
            json!({ "record": 5, "assigned": 1, "revoked": 0, "commit-failed": 6, "poll-took": 0, "error": 0 }),
        );
        let got = |record: i64, failed: i64| {
            json!({
                "record": record,
                "assigned": 1,
                "revoked": 0,
                "commit-failed": failed,
                "poll-took": 0,
                "error": 0,
            })
        };
        assert!(value_rule(Some(&query), &see, &got(5, 8)).is_some());
        assert!(value_rule(Some(&query), &see, &got(5, 9)).is_none());
        assert!(value_rule(Some(&query), &see, &got(4, 6)).is_none());
    }
}
