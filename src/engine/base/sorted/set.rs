//! A set in the order of its values: the keys of a [`Map`]. It compares nothing itself.

use alloc::vec;
use core::borrow::Borrow;
use core::fmt;

use super::{Iter, Map};

/// A set whose values lie in their order: a [`Map`] from each value to nothing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set<T> {
    values: Map<T, ()>,
}

impl<T> Default for Set<T> {
    fn default() -> Set<T> {
        Set::new()
    }
}

impl<T> Set<T> {
    pub const fn new() -> Set<T> {
        Set { values: Map::new() }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn clear(&mut self) {
        self.values.clear();
    }

    pub fn iter(&self) -> SetIter<'_, T> {
        SetIter(self.values.iter())
    }

    pub fn first(&self) -> Option<&T> {
        self.values.first_key_value().map(|(value, ())| value)
    }

    pub fn last(&self) -> Option<&T> {
        self.values.last_key_value().map(|(value, ())| value)
    }

    pub fn pop_first(&mut self) -> Option<T> {
        self.values.pop_first().map(|(value, ())| value)
    }

    pub fn pop_last(&mut self) -> Option<T> {
        self.values.pop_last().map(|(value, ())| value)
    }

    /// Keeps the values for which `keep` holds; it is asked in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.values.retain(|value, ()| keep(value));
    }
}

impl<T: Ord> Set<T> {
    pub fn contains<Q: Ord + ?Sized>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.values.contains_key(value)
    }

    /// Puts the value in; whether it is new.
    pub fn insert(&mut self, value: T) -> bool {
        self.values.insert(value, ()).is_none()
    }

    /// Takes the value out; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.values.remove(value).is_some()
    }

    /// What is here and not there.
    pub fn difference<'a>(&'a self, other: &'a Set<T>) -> impl Iterator<Item = &'a T> {
        self.iter().filter(|value| !other.contains(*value))
    }
}

impl<T: Ord> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Set<T> {
        let mut set = Set::new();
        set.extend(values);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for Set<T> {
    fn from(values: [T; N]) -> Set<T> {
        values.into_iter().collect()
    }
}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = SetIntoIter<T>;

    fn into_iter(self) -> SetIntoIter<T> {
        SetIntoIter(self.values.into_iter())
    }
}

impl<'a, T> IntoIterator for &'a Set<T> {
    type Item = &'a T;
    type IntoIter = SetIter<'a, T>;

    fn into_iter(self) -> SetIter<'a, T> {
        self.iter()
    }
}

/// The values of a set in their order.
pub struct SetIter<'a, T>(Iter<'a, T, ()>);

impl<T> Clone for SetIter<'_, T> {
    fn clone(&self) -> Self {
        SetIter(self.0.clone())
    }
}

impl<'a, T> Iterator for SetIter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().map(|(value, ())| value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for SetIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(value, ())| value)
    }
}

impl<T> ExactSizeIterator for SetIter<'_, T> {}

/// The values of a set in their order, taken out of it.
pub struct SetIntoIter<T>(vec::IntoIter<(T, ())>);

impl<T> Iterator for SetIntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|(value, ())| value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for SetIntoIter<T> {
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back().map(|(value, ())| value)
    }
}

impl<T> ExactSizeIterator for SetIntoIter<T> {}
