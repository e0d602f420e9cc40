//! Keys of maps: hashes that spread, and an order of variables.

use super::nat;
use crate::hash::{Quick, QuickMap};
use crate::{Nat, Var};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

fn hash(f: impl FnOnce(&mut Quick)) -> u64 {
    let mut state = Quick::default();
    f(&mut state);
    state.finish()
}

/// Keys that differ in any byte fall into different parts of a table.
#[test]
fn hashes_spread() {
    for shift in 0..56 {
        let hashes: Vec<u64> = (0..256).map(|i| hash(|h| h.write_u64(i << shift))).collect();
        let low: HashSet<u64> = hashes.iter().map(|h| h & 255).collect();
        let high: HashSet<u64> = hashes.iter().map(|h| h >> 56).collect();
        // Of 256 balls thrown at 256 boxes about 160 boxes get one.
        assert!(low.len() > 80 && high.len() > 80, "{shift}: {} {}", low.len(), high.len());
        let ones: u32 = hashes.iter().map(|h| h.count_ones()).sum();
        assert!((28 * 256..36 * 256).contains(&ones), "{shift}: {ones}");
    }
}

#[test]
fn every_word_counts() {
    let pairs = |i: u64| (i / 64, i % 64);
    let all: HashSet<u64> = (0..4096)
        .map(|i| {
            hash(|h| {
                h.write_u64(pairs(i).0);
                h.write_u64(pairs(i).1);
            })
        })
        .collect();
    assert_eq!(all.len(), 4096);
    let low = hash(|h| h.write_u64(7));
    assert_eq!(hash(|h| h.write_u8(7)), low);
    assert_eq!(hash(|h| h.write_u32(7)), low);
    assert_eq!(hash(|h| h.write_usize(7)), low);
    let both = hash(|h| {
        h.write_u64(3);
        h.write_u64(7);
    });
    assert_eq!(hash(|h| h.write_u128(3 << 64 | 7)), both);
    let bytes: Vec<u8> = [3_u64, 7].iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(hash(|h| h.write(&bytes)), both);
    assert_eq!(hash(|h| h.write(&bytes[..9])), both);
    assert_eq!(hash(|h| h.write(&[])), hash(|_| {}));
    let names: HashSet<u64> =
        (0..1000).map(|i| hash(|h| Var::named(&format!("x{i}")).hash(h))).collect();
    assert_eq!(names.len(), 1000);
}

#[test]
fn values_are_found_by_their_hash() {
    let values = ["x", "2*x", "x + 1", "x*y", "x / y", "y / x", "min(x, y)", "3"];
    let map: QuickMap<Nat, usize> = values.iter().enumerate().map(|(i, v)| (nat(v), i)).collect();
    let distinct: HashSet<u64> = map.keys().map(|n| hash(|h| n.hash(h))).collect();
    assert_eq!((map.len(), distinct.len()), (values.len(), values.len()));
    for (i, v) in values.iter().enumerate() {
        assert_eq!(map.get(&nat(v)), Some(&i), "{v}");
    }
}

/// By name, then by id; also where long names begin alike.
#[test]
fn variables_are_ordered_by_name() {
    let names = ["", "N", "N0", "Na", "a", "abcdefgh", "abcdefgh1", "abcdefgh2", "abcdefghi", "é"];
    let all = || names.iter().flat_map(|name| [0, 1, 7].map(|id| (*name, id)));
    for a in all() {
        for b in all() {
            let (v, w) = (Var::with_id(a.0, a.1), Var::with_id(b.0, b.1));
            assert_eq!(v.cmp(&w), a.cmp(&b), "{a:?} {b:?}");
            assert_eq!(v.partial_cmp(&w), Some(a.cmp(&b)));
            assert_eq!(v == w, a == b, "{a:?} {b:?}");
        }
        let v = Var::with_id(a.0, a.1);
        assert_eq!((v.name(), v.id()), a);
        assert_eq!(v.cmp(&v.clone()), std::cmp::Ordering::Equal);
    }
}
