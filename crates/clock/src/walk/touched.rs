//! Pieces of memory that are touched, each with the weight that it was touched with first.

use lift_kernel::BufferId;

/// Pieces are put down as they come and put in order in the end; those that came again go when they are half of all.
#[derive(Default)]
pub struct Touched(Vec<(BufferId, Pieces)>);

#[derive(Default)]
struct Pieces {
    all: Vec<(i64, f64)>,
    /// As many of them are there once, in order.
    once: usize,
}

/// No fewer are put in order on the way.
const FEW: usize = 4096;

impl Pieces {
    fn extend(&mut self, pieces: impl Iterator<Item = (i64, f64)>) {
        self.all.extend(pieces);
        if self.all.len() > 2 * self.once + FEW {
            self.tidy();
        }
    }

    /// The sort keeps the order of equal ones, so that the first of them stays.
    fn tidy(&mut self) {
        self.all.sort_by_key(|(piece, _)| *piece);
        self.all.dedup_by_key(|(piece, _)| *piece);
        self.once = self.all.len();
    }
}

impl Touched {
    pub fn add(&mut self, buffer: BufferId, pieces: impl Iterator<Item = (i64, f64)>) {
        let place = self.0.iter().position(|(own, _)| *own == buffer).unwrap_or_else(|| {
            self.0.push((buffer, Pieces::default()));
            self.0.len() - 1
        });
        if let Some((_, own)) = self.0.get_mut(place) {
            own.extend(pieces);
        }
    }

    /// What others touched after this.
    pub fn append(&mut self, other: Touched) {
        for (buffer, pieces) in other.0 {
            self.add(buffer, pieces.all.into_iter());
        }
    }

    /// The pieces of each buffer in order, each once.
    pub fn by_buffer(self) -> impl Iterator<Item = (BufferId, Vec<(i64, f64)>)> {
        self.0.into_iter().map(|(buffer, mut pieces)| {
            pieces.tidy();
            (buffer, pieces.all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_there_once_with_its_first_weight() {
        let (a, b) = (BufferId(0), BufferId(1));
        let mut touched = Touched::default();
        touched.add(a, [(3, 1.0), (5, 1.0)].into_iter());
        touched.add(b, [(3, 7.0)].into_iter());
        touched.add(a, [(5, 2.0), (4, 2.0)].into_iter());
        let mut later = Touched::default();
        later.add(a, [(3, 9.0), (1, 9.0)].into_iter());
        touched.append(later);
        // So many that they are put in order on the way.
        for turn in 0..3 {
            touched.add(b, (0..3 * FEW as i64).map(|piece| (piece, f64::from(turn))));
        }
        let mut all = touched.by_buffer();
        assert_eq!(all.next(), Some((a, vec![(1, 9.0), (3, 1.0), (4, 2.0), (5, 1.0)])));
        let (_, second) = all.next().expect("there are two buffers");
        assert_eq!(second.len(), 3 * FEW);
        assert_eq!(second[2..5], [(2, 0.0), (3, 7.0), (4, 0.0)]);
        assert!(all.next().is_none());
    }
}
