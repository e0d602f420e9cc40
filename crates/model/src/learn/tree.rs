//! One regression tree whose splits are chosen among random ones.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

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

/// How a tree is grown.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Rows of a leaf at least.
    pub leaf: usize,
    /// One limit each is tried of this share of the features.
    pub share: f64,
}

/// A tree for the targets of rows that are as long as each other, split by split.
pub fn grow(rows: &[Vec<f64>], targets: &[f64], growth: Growth, random: &mut Rng) -> Tree {
    let width = rows.first().map_or(0, Vec::len);
    let mut tree = Tree::default();
    let mut all: Vec<usize> = (0..rows.len()).collect();
    let features = (0..width).collect();
    let column = |feature: usize| rows.iter().map(|row| row[feature]).collect();
    let columns: Vec<Vec<f64>> = (0..width).map(column).collect();
    Grower { columns, targets, growth, random, features, tree: &mut tree }.node(&mut all);
    tree
}

struct Grower<'a> {
    /// The values of each feature, which are looked at one feature at a time.
    columns: Vec<Vec<f64>>,
    targets: &'a [f64],
    growth: Growth,
    random: &'a mut Rng,
    /// All of them, in the order of the last node.
    features: Vec<usize>,
    tree: &'a mut Tree,
}

/// Rows whose feature is below the limit go to the left.
struct Split {
    feature: usize,
    limit: f64,
    gain: f64,
}

impl Grower<'_> {
    /// Adds the node for these rows and those below it, and gives its number.
    fn node(&mut self, rows: &mut [usize]) -> usize {
        let number = self.tree.0.len();
        let sum: f64 = rows.iter().map(|row| self.targets[*row]).sum();
        self.tree.0.push(Node::Leaf(sum / rows.len().max(1) as f64));
        let Some(Split { feature, limit, .. }) = self.best_split(rows, sum) else { return number };
        let values = &self.columns[feature];
        let is_right = |row: &usize| values[*row] >= limit;
        rows.sort_by_key(is_right);
        let border = rows.partition_point(|row| !is_right(row));
        let (left, right) = rows.split_at_mut(border);
        let (left, right) = (self.node(left), self.node(right));
        self.tree.0[number] = Node::Split(feature, limit, left, right);
        number
    }

    /// Of those that are tried, the one that lowers the squared error most; nothing where none does.
    fn best_split(&mut self, rows: &[usize], sum: f64) -> Option<Split> {
        let mut best: Option<Split> = None;
        let squares: f64 = rows.iter().map(|row| self.targets[*row].powi(2)).sum();
        let (own, least) = (sum * sum / rows.len() as f64, 1e-12 * squares);
        let mut left_to_try = (self.growth.share * self.features.len() as f64).ceil() as usize;
        self.random.shuffle(&mut self.features);
        for feature in &self.features {
            if left_to_try == 0 {
                break;
            }
            let values = &self.columns[*feature];
            let value = |row: &usize| values[*row];
            let range = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
            let none = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = rows.iter().map(value).fold(none, range);
            if low >= high {
                continue;
            }
            left_to_try -= 1;
            // Never the lowest value itself: there would be nothing below.
            let limit = high - self.random.f64() * (high - low);
            let below = rows.iter().filter(|row| value(row) < limit);
            let (count, left) =
                below.fold((0, 0.0), |(n, sum), row| (n + 1, sum + self.targets[*row]));
            let rest = rows.len() - count;
            if count < self.growth.leaf || rest < self.growth.leaf {
                continue;
            }
            let right = sum - left;
            let gain = left * left / count as f64 + right * right / rest as f64 - own;
            if gain > best.as_ref().map_or(least, |best| best.gain) {
                best = Some(Split { feature: *feature, limit, gain });
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(rows: &[Vec<f64>], targets: &[f64]) -> Tree {
        grow(rows, targets, Growth { leaf: 1, share: 1.0 }, &mut Rng::with_seed(1))
    }

    #[test]
    fn what_was_seen_is_known() {
        let rows: Vec<Vec<f64>> = (0..10).map(|k| vec![3.0, f64::from(k)]).collect();
        let targets: Vec<f64> = (0..10).map(|k| if k < 4 { 1.0 } else { 5.0 }).collect();
        let tree = grown(&rows, &targets);
        assert!(rows.iter().zip(&targets).all(|(row, target)| tree.predict(row) == *target));
        assert!(tree.is_sound(2) && !tree.is_sound(1));
    }

    #[test]
    fn leaves_have_as_many_rows_as_asked_for() {
        let rows: Vec<Vec<f64>> = (0..12).map(|k| vec![f64::from(k)]).collect();
        let targets: Vec<f64> = (0..12).map(f64::from).collect();
        let growth = Growth { leaf: 4, share: 1.0 };
        let tree = grow(&rows, &targets, growth, &mut Rng::with_seed(1));
        let leaves = tree.0.iter().filter(|node| matches!(node, Node::Leaf(_))).count();
        assert!((1..=3).contains(&leaves), "{leaves}");
    }

    #[test]
    fn targets_that_are_the_same_are_one_leaf() {
        let rows: Vec<Vec<f64>> = (0..10).map(|k| vec![f64::from(k)]).collect();
        assert_eq!(grown(&rows, &[0.1; 10]).0.len(), 1);
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
