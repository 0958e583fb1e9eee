//! A list that only grows, in shared pieces: a copy of it costs a pointer a piece, and whoever changes an element of a
//! copy takes that piece alone. It removes nothing.

use std::rc::Rc;

/// Elements of one piece.
const PIECE: usize = 256;

#[derive(Clone, Debug)]
pub struct Pieces<T> {
    pieces: Vec<Rc<Vec<T>>>,
    len: usize,
}

impl<T> Default for Pieces<T> {
    fn default() -> Pieces<T> {
        Pieces { pieces: Vec::new(), len: 0 }
    }
}

impl<T: Clone> Pieces<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, index: usize) -> Option<&T> {
        self.pieces.get(index / PIECE)?.get(index % PIECE)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        Rc::make_mut(self.pieces.get_mut(index / PIECE)?).get_mut(index % PIECE)
    }

    pub fn push(&mut self, element: T) {
        match self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => Rc::make_mut(piece).push(element),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(element);
                self.pieces.push(Rc::new(piece));
            }
        }
        self.len += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flat_map(|piece| piece.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_a_copy_is_not_seen_in_the_other_and_takes_one_piece() {
        let mut list = Pieces::default();
        for n in 0..1_000 {
            list.push(n);
        }
        let copy = list.clone();
        *list.get_mut(300).unwrap() = 7;
        list.push(8);
        assert_eq!((list.get(300), copy.get(300)), (Some(&7), Some(&300)));
        assert_eq!((list.len(), copy.len(), copy.get(1_000), list.get(1_000)), (1_001, 1_000, None, Some(&8)));
        let shared = list.pieces.iter().zip(&copy.pieces).filter(|(a, b)| Rc::ptr_eq(a, b)).count();
        assert_eq!(shared, 2, "of four pieces one was changed and one has grown");
        assert!(copy.iter().copied().eq(0..1_000));
    }
}
