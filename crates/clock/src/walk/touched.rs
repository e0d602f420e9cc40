//! Pieces of memory that are touched, each with the weight that it was touched with first.

use lift_kernel::BufferId;

/// Pieces are put down as they come and put in order in the end. Those near the first are known when they come again; of others,
/// those that came again go when they are half of all.
#[derive(Default)]
pub struct Touched(Vec<(BufferId, Pieces)>);

#[derive(Default)]
struct Pieces {
    all: Vec<(i64, f64)>,
    /// As many of them are there once, in order.
    once: usize,
    /// Those that are far from the first.
    far: usize,
    near: Near,
}

/// Which pieces near the first were touched, a bit for each.
#[derive(Default)]
struct Near {
    begin: i64,
    bits: Vec<u64>,
}

/// Pieces before and after the first that are near, in words of bits.
const WORDS: usize = 512;

impl Near {
    /// Whether a piece comes for the first time; nothing of one that is far.
    fn is_first(&mut self, piece: i64) -> Option<bool> {
        if self.bits.is_empty() {
            self.bits = vec![0; 2 * WORDS];
            self.begin = piece.saturating_sub(64 * WORDS as i64);
        }
        let place = usize::try_from(piece.checked_sub(self.begin)?).ok()?;
        let word = self.bits.get_mut(place / 64)?;
        let bit = 1 << (place % 64);
        let is_first = *word & bit == 0;
        *word |= bit;
        Some(is_first)
    }

    /// For each near piece of a list, each there once, how many near ones are before it in order; nothing for others.
    fn ranks<'n>(&'n self, pieces: &'n [(i64, f64)]) -> impl Iterator<Item = Option<usize>> + 'n {
        let mut before = 0;
        let of_words = self.bits.iter().map(|word| {
            let own = before;
            before += word.count_ones() as usize;
            own
        });
        let of_words: Vec<usize> = of_words.collect();
        pieces.iter().map(move |(piece, _)| {
            let place = usize::try_from(piece.checked_sub(self.begin)?).ok()?;
            let (word, before) = (self.bits.get(place / 64)?, of_words.get(place / 64)?);
            let lower = word & ((1 << (place % 64)) - 1);
            Some(before + lower.count_ones() as usize)
        })
    }
}

/// No fewer are put in order on the way.
const FEW: usize = 4096;

impl Pieces {
    /// Whether one of them came for the first time; those that are far are taken to.
    fn extend(&mut self, pieces: impl Iterator<Item = (i64, f64)>) -> bool {
        let before = self.all.len();
        for (piece, weight) in pieces {
            match self.near.is_first(piece) {
                Some(false) => continue,
                Some(true) => {}
                None => self.far += 1,
            }
            self.all.push((piece, weight));
        }
        let is_new = self.all.len() > before;
        if self.far > 2 * self.once + FEW {
            self.tidy();
        }
        is_new
    }

    fn tidy(&mut self) {
        if !self.all.is_sorted_by_key(|(piece, _)| *piece) {
            self.put_in_order();
        }
        self.all.dedup_by_key(|(piece, _)| *piece);
        self.once = self.all.len();
        self.far = 0;
    }

    /// The bits say where those near the first belong; the others are sorted, so that the first of equal ones stays.
    fn put_in_order(&mut self) {
        let ranks: Vec<Option<usize>> = self.near.ranks(&self.all).collect();
        let mut far: Vec<(i64, f64)> = Vec::new();
        let mut near = vec![(0, 0.0); ranks.iter().flatten().count()];
        for (piece, rank) in self.all.iter().zip(ranks) {
            match rank.and_then(|rank| near.get_mut(rank)) {
                Some(place) => *place = *piece,
                None => far.push(*piece),
            }
        }
        far.sort_by_key(|(piece, _)| *piece);
        let lower = far.partition_point(|(piece, _)| *piece < self.near.begin);
        let (before, after) = far.split_at(lower);
        self.all.clear();
        self.all.extend(before.iter().chain(&near).chain(after));
    }
}

impl Touched {
    /// Adds pieces; says whether there was a new one.
    pub fn add(&mut self, buffer: BufferId, pieces: impl Iterator<Item = (i64, f64)>) -> bool {
        let place = self.0.iter().position(|(own, _)| *own == buffer).unwrap_or_else(|| {
            self.0.push((buffer, Pieces::default()));
            self.0.len() - 1
        });
        self.0.get_mut(place).is_some_and(|(_, own)| own.extend(pieces))
    }

    /// What others touched after this.
    pub fn append(&mut self, other: Touched) {
        for (buffer, pieces) in other.0 {
            match self.0.iter_mut().find(|(own, _)| *own == buffer) {
                Some((_, own)) => {
                    own.extend(pieces.all.into_iter());
                }
                None => self.0.push((buffer, pieces)),
            }
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

    /// Whatever their order, and near the first or far from it on both sides.
    #[test]
    fn pieces_come_in_order_as_a_map_has_them() {
        let mut random = fastrand::Rng::with_seed(3);
        let reach = 2 * 64 * WORDS as i64;
        for many in [1, 7, 300, 3 * FEW] {
            let mut touched = Touched::default();
            let mut first = std::collections::BTreeMap::new();
            for turn in 0..many {
                let piece = match random.bool() {
                    true => random.i64(-reach..reach),
                    false => random.i64(0..90),
                };
                first.entry(piece).or_insert(turn as f64);
                touched.add(BufferId(0), [(piece, turn as f64)].into_iter());
            }
            let found: Vec<_> = touched.by_buffer().flat_map(|(_, pieces)| pieces).collect();
            assert_eq!(found, first.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_piece_is_there_once_with_its_first_weight() {
        const MANY: i64 = (3 * FEW + 64 * WORDS) as i64;
        let (a, b) = (BufferId(0), BufferId(1));
        let mut touched = Touched::default();
        touched.add(a, [(3, 1.0), (5, 1.0)].into_iter());
        touched.add(b, [(3, 7.0)].into_iter());
        touched.add(a, [(5, 2.0), (4, 2.0)].into_iter());
        let mut later = Touched::default();
        later.add(a, [(3, 9.0), (1, 9.0)].into_iter());
        touched.append(later);
        // So many that some are far, and are put in order on the way.
        for turn in 0..3 {
            touched.add(b, (0..MANY).map(|piece| (piece, f64::from(turn))));
        }
        let mut all = touched.by_buffer();
        assert_eq!(all.next(), Some((a, vec![(1, 9.0), (3, 1.0), (4, 2.0), (5, 1.0)])));
        let (_, second) = all.next().expect("there are two buffers");
        assert_eq!(second.len(), MANY as usize);
        assert!(second[4..].iter().enumerate().all(|(k, own)| *own == (k as i64 + 4, 0.0)));
        assert_eq!(second[2..5], [(2, 0.0), (3, 7.0), (4, 0.0)]);
        assert!(all.next().is_none());
    }
}
