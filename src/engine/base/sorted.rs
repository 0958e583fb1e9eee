//! Ordered maps and sets that lie in one list, [`Map`] and [`Set`], and lists put in order. They have the names of the
//! standard library's methods, and deliberately no tree: what is put in or taken out moves what lies behind it.
//!
//! Most maps of a cluster hold a handful of things, are read far more often than changed, and are copied with every
//! keyframe. A list costs one allocation there and a fraction of a tree's code, which is made anew for each pair of
//! types: in the page trees took a sixth of the program. What grows with the length of a run stays in a tree.

mod set;

use alloc::vec::{self, Vec};
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::ops::Index;
use core::{fmt, mem, slice};

pub use set::{Set, SetIntoIter, SetIter};

/// Puts the list in order; what is equal keeps its order.
///
/// The standard library's sort is made anew for each type that is sorted. Here the numbers of the places are sorted,
/// once for all types, and the things moved afterwards.
pub fn sort_by<T>(list: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..list.len()).collect();
    sort_places(&mut order, &|a, b| compare(&list[a], &list[b]));
    let mut things: Vec<Option<T>> = list.drain(..).map(Some).collect();
    list.extend(order.into_iter().filter_map(|place| things[place].take()));
}

#[inline(never)]
fn sort_places(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

/// A map whose pairs lie in the order of their keys. Finding takes O(log n) steps, changing moves O(n) pairs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Map<K, V> {
    pairs: Vec<(K, V)>,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Map<K, V> {
        Map::new()
    }
}

impl<K, V> Map<K, V> {
    pub const fn new() -> Map<K, V> {
        Map { pairs: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.pairs.iter())
    }

    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.pairs.iter_mut())
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.pairs.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.pairs.iter().map(|(_, value)| value)
    }

    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator {
        self.pairs.iter_mut().map(|(_, value)| value)
    }

    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        self.pairs.into_iter().map(|(key, _)| key)
    }

    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.pairs.into_iter().map(|(_, value)| value)
    }

    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.pairs.first().map(|(key, value)| (key, value))
    }

    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.pairs.last().map(|(key, value)| (key, value))
    }

    pub fn pop_first(&mut self) -> Option<(K, V)> {
        if self.is_empty() { None } else { Some(self.pairs.remove(0)) }
    }

    pub fn pop_last(&mut self) -> Option<(K, V)> {
        self.pairs.pop()
    }

    /// Keeps the pairs for which `keep` holds; it is asked in the order of the keys.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.pairs.retain_mut(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> Map<K, V> {
    /// Where the key lies, or where it would.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        // What is new mostly comes last: ids and offsets grow.
        match self.pairs.last().map(|(last, _)| last.borrow().cmp(key)) {
            None | Some(Ordering::Less) => Err(self.pairs.len()),
            Some(Ordering::Equal) => Ok(self.pairs.len() - 1),
            Some(Ordering::Greater) => self.pairs.binary_search_by(|(known, _)| known.borrow().cmp(key)),
        }
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &self.pairs[at].1)
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &mut self.pairs[at].1)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Puts the value in; what lay under the key comes out.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(at) => Some(mem::replace(&mut self.pairs[at].1, value)),
            Err(at) => {
                self.pairs.insert(at, (key, value));
                None
            }
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| self.pairs.remove(at).1)
    }

    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let place = self.place(&key);
        Entry { map: self, key, place }
    }
}

/// What lies under a key, or the free place of it.
pub struct Entry<'a, K, V> {
    map: &'a mut Map<K, V>,
    key: K,
    place: Result<usize, usize>,
}

impl<'a, K, V> Entry<'a, K, V> {
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        let at = match self.place {
            Ok(at) => at,
            Err(at) => {
                self.map.pairs.insert(at, (self.key, make()));
                at
            }
        };
        &mut self.map.pairs[at].1
    }

    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Entry<'a, K, V> {
        if let Ok(at) = self.place {
            change(&mut self.map.pairs[at].1);
        }
        self
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    /// # Panics
    /// There is nothing under the key.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("there is a value under this key")
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        for (key, value) in pairs {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    /// Of two pairs with the same key the later one counts.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Map<K, V> {
        let mut map = Map::new();
        map.extend(pairs);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(pairs: [(K, V); N]) -> Map<K, V> {
        pairs.into_iter().collect()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut Map<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}

/// The pairs of a map in the order of their keys.
pub struct Iter<'a, K, V>(slice::Iter<'a, (K, V)>);

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter(self.0.clone())
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// The pairs of a map in the order of their keys; the values can be changed.
pub struct IterMut<'a, K, V>(slice::IterMut<'a, (K, V)>);

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for IterMut<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (&*key, value))
    }
}

impl<K, V> ExactSizeIterator for IterMut<'_, K, V> {}

#[cfg(test)]
mod tests {
    use super::{Map, Set, sort_by};
    use crate::base::digest_of;
    use alloc::collections::{BTreeMap, BTreeSet};
    use alloc::vec::Vec;

    /// Numbers that look drawn, the same ones every time.
    fn drawn() -> impl Iterator<Item = u64> {
        (1..).map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40)
    }

    #[test]
    fn a_map_does_what_the_tree_of_the_standard_library_does() {
        let (mut map, mut tree) = (Map::new(), BTreeMap::new());
        for (step, n) in drawn().take(4_000).enumerate() {
            let key = n % 60;
            match n / 60 % 8 {
                0 | 1 => assert_eq!(map.insert(key, step), tree.insert(key, step)),
                2 => assert_eq!(map.remove(&key), tree.remove(&key)),
                3 => *map.entry(key).and_modify(|v| *v += 1).or_insert(step) = step,
                4 => assert_eq!(map.get_mut(&key).map(|v| *v += 1), tree.get_mut(&key).map(|v| *v += 1)),
                5 if step % 9 == 0 => assert_eq!(map.pop_first(), tree.pop_first()),
                6 if step % 9 == 0 => assert_eq!(map.pop_last(), tree.pop_last()),
                7 if step % 50 == 0 => {
                    map.retain(|k, v| !(*k as usize + *v).is_multiple_of(3));
                    tree.retain(|k, v| !(*k as usize + *v).is_multiple_of(3));
                }
                _ => assert_eq!((map.get(&key), map.contains_key(&key)), (tree.get(&key), tree.contains_key(&key))),
            }
            if n / 60 % 8 == 3 {
                tree.insert(key, step);
            }
            assert!(map.iter().eq(tree.iter()), "step {step}");
            assert_eq!((map.len(), map.first_key_value()), (tree.len(), tree.first_key_value()));
        }
        assert!(map.iter().rev().eq(tree.iter().rev()) && map.into_iter().eq(tree));
    }

    #[test]
    fn a_set_is_in_order_and_holds_each_value_once() {
        let values: Vec<u64> = drawn().take(500).map(|n| n % 90).collect();
        let (mut set, mut tree) =
            (values.iter().copied().collect::<Set<_>>(), values.iter().copied().collect::<BTreeSet<_>>());
        for value in 0..90 {
            assert_eq!((set.insert(value), set.contains(&value)), (tree.insert(value), true));
        }
        assert_eq!((set.remove(&7), set.remove(&7), set.pop_first()), (true, false, tree.pop_first()));
        tree.remove(&7);
        assert!(set.into_iter().eq(tree));
    }

    #[test]
    fn what_is_equal_keeps_its_order() {
        let mut ours: Vec<(u64, usize)> = drawn().map(|n| n % 7).zip(0..200).collect();
        let mut theirs = ours.clone();
        sort_by(&mut ours, |a, b| a.0.cmp(&b.0));
        theirs.sort_by_key(|(n, _)| *n);
        assert_eq!(ours, theirs);
    }

    #[test]
    fn the_later_of_two_values_with_the_same_key_counts() {
        let map = Map::from([(2, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!(map.into_iter().collect::<Vec<_>>(), [(1, 'b'), (2, 'c')]);
    }

    #[test]
    fn a_digest_is_that_of_a_tree() {
        let pairs: Vec<(u64, u32)> = drawn().take(40).map(|n| (n % 30, n as u32)).collect();
        let (map, tree) =
            (pairs.iter().copied().collect::<Map<_, _>>(), pairs.iter().copied().collect::<BTreeMap<_, _>>());
        assert_eq!(digest_of(&map), digest_of(&tree));
    }
}
