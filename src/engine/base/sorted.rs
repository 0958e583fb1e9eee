//! Ordered maps and sets out of whatever is given one by one. It deliberately has no type of its own.
//!
//! The standard library's `collect` sorts a list first, with a whole sort for each type of element. Where a handful
//! is collected, putting one after the other into its place is as fast, and a fraction of the bytes in the page.

use alloc::collections::{BTreeMap, BTreeSet};

/// A map of the pairs; of two with the same key the later one counts, as with `collect`.
pub fn map_of<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}

/// A set of the values.
pub fn set_of<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for value in values {
        set.insert(value);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::{map_of, set_of};
    use alloc::vec::Vec;

    #[test]
    fn the_later_of_two_values_with_the_same_key_counts() {
        let map = map_of([(2, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!(map.into_iter().collect::<Vec<_>>(), [(1, 'b'), (2, 'c')]);
    }

    #[test]
    fn a_set_is_in_order_and_holds_each_value_once() {
        assert_eq!(set_of([3, 1, 3]).into_iter().collect::<Vec<_>>(), [1, 3]);
    }
}
