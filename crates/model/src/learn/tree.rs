//! One regression tree, grown on values that were sorted into bins.

use serde::{Deserialize, Serialize};

/// So many different values of a feature are told apart.
const MOST_BINS: usize = 64;

/// A tree; the first node is its root.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Tree(Vec<Node>);

/// As JSON, `[feature, limit, left, right]` or a number.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Node {
    /// Below the limit the answer is that of the first node, otherwise that of the second.
    Split(usize, f64, usize, usize),
    Leaf(f64),
}

impl Tree {
    pub fn predict(&self, features: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            match self.0.get(at) {
                Some(Node::Split(feature, limit, left, right)) => {
                    let value = features.get(*feature).copied().unwrap_or(0.0);
                    at = if value < *limit { *left } else { *right };
                }
                Some(Node::Leaf(value)) => return *value,
                None => return 0.0,
            }
        }
    }

    /// Whether every walk ends at a leaf: nodes lead to later ones alone.
    pub fn is_sound(&self, width: usize) -> bool {
        let count = self.0.len();
        let leads = |from: usize, to: usize| from < to && to < count;
        count > 0
            && self.0.iter().enumerate().all(|(from, node)| match node {
                Node::Split(feature, _, left, right) => {
                    *feature < width && leads(from, *left) && leads(from, *right)
                }
                Node::Leaf(_) => true,
            })
    }
}

/// Rows with each value replaced by the number of its bin.
pub struct Binned {
    /// By feature; the limits between bins, rising.
    limits: Vec<Vec<f64>>,
    /// By feature and row.
    bins: Vec<Vec<u8>>,
}

impl Binned {
    /// Of rows that are as long as each other.
    pub fn new(rows: &[Vec<f64>]) -> Binned {
        let width = rows.first().map_or(0, Vec::len);
        let column = |k: usize| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
        let limits: Vec<Vec<f64>> = (0..width).map(|k| limits(column(k))).collect();
        let bin = |(k, limits): (usize, &Vec<f64>)| {
            rows.iter().map(|row| limits.partition_point(|limit| *limit <= row[k]) as u8).collect()
        };
        let bins = limits.iter().enumerate().map(bin).collect();
        Binned { limits, bins }
    }
}

/// Limits half-way between different values, as many to each bin as can be.
fn limits(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let between = |a: f64, b: f64| a + (b - a) / 2.0;
    let different: Vec<usize> = (1..values.len()).filter(|k| values[k - 1] < values[*k]).collect();
    let middle = |k: &usize| between(values[k - 1], values[*k]);
    if different.len() < MOST_BINS {
        return different.iter().map(middle).collect();
    }
    let wanted = (1..MOST_BINS).map(|part| part * values.len() / MOST_BINS);
    let nearest =
        |k: usize| different[different.partition_point(|d| *d < k).min(different.len() - 1)];
    let mut chosen: Vec<usize> = wanted.map(nearest).collect();
    chosen.dedup();
    chosen.iter().map(middle).collect()
}

/// How a tree is grown.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Splits on the way to a leaf at most.
    pub depth: u32,
    /// Rows of a leaf at least.
    pub leaf: usize,
    /// What the mean of a leaf's rows is multiplied by.
    pub rate: f64,
}

/// The tree that comes nearest to the targets of these rows, split by split.
pub fn grow(data: &Binned, rows: &mut [usize], targets: &[f64], growth: Growth) -> Tree {
    let mut tree = Tree::default();
    let mut grower = Grower { data, targets, growth, tree: &mut tree };
    grower.node(rows, growth.depth);
    tree
}

struct Grower<'a> {
    data: &'a Binned,
    targets: &'a [f64],
    growth: Growth,
    tree: &'a mut Tree,
}

/// The place of the best split: rows in bins up to this one go to the left.
struct Split {
    feature: usize,
    bin: usize,
    gain: f64,
}

impl Grower<'_> {
    /// Adds the node for these rows and those below it, and gives its number.
    fn node(&mut self, rows: &mut [usize], depth: u32) -> usize {
        let number = self.tree.0.len();
        let sum: f64 = rows.iter().map(|row| self.targets[*row]).sum();
        self.tree.0.push(Node::Leaf(self.growth.rate * sum / rows.len().max(1) as f64));
        if depth == 0 {
            return number;
        }
        let Some(split) = self.best_split(rows, sum) else { return number };
        let bins = &self.data.bins[split.feature];
        rows.sort_by_key(|row| usize::from(bins[*row]) > split.bin);
        let border = rows.partition_point(|row| usize::from(bins[*row]) <= split.bin);
        let (left, right) = rows.split_at_mut(border);
        let (left, right) = (self.node(left, depth - 1), self.node(right, depth - 1));
        let limit = self.data.limits[split.feature][split.bin];
        self.tree.0[number] = Node::Split(split.feature, limit, left, right);
        number
    }

    /// The first of those that lower the squared error most; nothing where none does.
    fn best_split(&self, rows: &[usize], sum: f64) -> Option<Split> {
        let mut best: Option<Split> = None;
        let own = sum * sum / rows.len() as f64;
        let least = 1e-12 * rows.iter().map(|row| self.targets[*row].powi(2)).sum::<f64>();
        for (feature, bins) in self.data.bins.iter().enumerate() {
            let mut in_bin = vec![(0_usize, 0.0); self.data.limits[feature].len() + 1];
            for row in rows {
                let place = &mut in_bin[usize::from(bins[*row])];
                *place = (place.0 + 1, place.1 + self.targets[*row]);
            }
            let (mut count, mut left) = (0, 0.0);
            for (bin, (rows_in, sum_in)) in in_bin.iter().enumerate() {
                (count, left) = (count + rows_in, left + sum_in);
                let rest = rows.len() - count;
                if count < self.growth.leaf || rest < self.growth.leaf {
                    continue;
                }
                let right = sum - left;
                let gain = left * left / count as f64 + right * right / rest as f64 - own;
                if gain > best.as_ref().map_or(least, |best| best.gain) {
                    best = Some(Split { feature, bin, gain });
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROWTH: Growth = Growth { depth: 3, leaf: 1, rate: 1.0 };

    fn grown(rows: &[Vec<f64>], targets: &[f64]) -> Tree {
        let mut all: Vec<usize> = (0..rows.len()).collect();
        grow(&Binned::new(rows), &mut all, targets, GROWTH)
    }

    #[test]
    fn a_step_is_one_split() {
        let rows: Vec<Vec<f64>> = (0..10).map(|k| vec![3.0, f64::from(k)]).collect();
        let targets: Vec<f64> = (0..10).map(|k| if k < 4 { 1.0 } else { 5.0 }).collect();
        let tree = grown(&rows, &targets);
        assert_eq!(tree.0, [Node::Split(1, 3.5, 1, 2), Node::Leaf(1.0), Node::Leaf(5.0)]);
        assert!(tree.is_sound(2) && !tree.is_sound(1));
    }

    #[test]
    fn targets_that_are_the_same_are_one_leaf() {
        let rows: Vec<Vec<f64>> = (0..10).map(|k| vec![f64::from(k)]).collect();
        assert_eq!(grown(&rows, &[0.1; 10]).0.len(), 1);
    }

    #[test]
    fn many_values_share_bins_and_stay_in_order() {
        let limits = limits((0..10_000).map(f64::from).collect());
        assert_eq!(limits.len(), MOST_BINS - 1);
        assert!(limits.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_tree_that_goes_in_circles_is_not_sound() {
        let tree: Tree = serde_json::from_str("[[0, 1.5, 0, 1], 0.5]").expect("a tree");
        assert!(!tree.is_sound(1));
        let tree: Tree = serde_json::from_str("[[0, 1.5, 1, 2], 0.5]").expect("a tree");
        assert!(!tree.is_sound(1));
        assert!(!Tree::default().is_sound(1));
    }
}
