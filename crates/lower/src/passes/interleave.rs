//! Interleaving: unrolled results whose windows overlap are computed side by side.
//!
//! Before: `a = x[0]; a += x[1]; a += x[2]; r[0] = a; b = x[1]; b += x[2]; b += x[3]; r[1] = b;`
//! After: `a = x[0]; a += x[1]; b = x[1]; a += x[2]; r[0] = a; b += x[2]; b += x[3]; r[1] = b;`
//!
//! A strand is a set of statements connected by variables: a component of their use graph. Each strand keeps its order; the
//! strand with the lowest load address goes on. Loads of one address then stand close together: C compilers do one of them,
//! and its value need not stay in a register until the last window comes to it.

use std::collections::HashMap;

use lift_ir::{Facts, Var};
use lift_kernel::{Access, BufferId, Expr, Kernel, Stmt};

pub(crate) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body, &kernel.facts);
}

fn block(stmts: Vec<Stmt>, facts: &Facts) -> Vec<Stmt> {
    let (mut made, mut straight) = (Vec::with_capacity(stmts.len()), Vec::new());
    for mut stmt in stmts {
        if can_move(&stmt) {
            straight.push(stmt);
            continue;
        }
        for inner in stmt.blocks_mut() {
            *inner = block(std::mem::take(inner), facts);
        }
        made.extend(woven(std::mem::take(&mut straight), facts));
        made.push(stmt);
    }
    made.extend(woven(straight, facts));
    made
}

fn can_move(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Comment(_) | Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Store { .. }
    )
}

/// Straight statements in an order in which shared loads stand together; as they are where there is none.
fn woven(stmts: Vec<Stmt>, facts: &Facts) -> Vec<Stmt> {
    let order = strands(&stmts).and_then(|strands| Some((addresses(&stmts, facts)?, strands)));
    let Some((addresses, strands)) = order else { return stmts };
    let order = by_address(&strands, &addresses);
    if !stores_in_order(&stmts, &order) {
        return stmts;
    }
    let mut left: Vec<Option<Stmt>> = stmts.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| left[at].take()).collect()
}

/// The numbers of the statements of each strand, if there are several. A comment belongs to what follows it.
fn strands(stmts: &[Stmt]) -> Option<Vec<Vec<usize>>> {
    // Of each statement, one before it in the same strand, or itself.
    let mut before: Vec<usize> = (0..stmts.len()).collect();
    let mut users: HashMap<&Var, usize> = HashMap::new();
    for stmt in stmts {
        if let Stmt::Declare { var, .. } | Stmt::Assign { var, .. } = stmt {
            users.insert(&var.id, usize::MAX);
        }
    }
    for (at, stmt) in stmts.iter().enumerate() {
        each_variable(stmt, &mut |var| {
            // What is not written here is the same for all.
            let Some(user) = users.get_mut(var) else { return };
            if *user != usize::MAX {
                join(&mut before, *user, at);
            }
            *user = at;
        });
        if at > 0 && matches!(stmts[at - 1], Stmt::Comment(_)) {
            join(&mut before, at - 1, at);
        }
    }
    let mut strands: Vec<Vec<usize>> = vec![Vec::new(); stmts.len()];
    for at in 0..stmts.len() {
        strands[first(&before, at)].push(at);
    }
    strands.retain(|strand| !strand.is_empty());
    (strands.len() > 1).then_some(strands)
}

fn join(before: &mut [usize], one: usize, other: usize) {
    let (a, b) = (first(before, one), first(before, other));
    before[a.max(b)] = a.min(b);
}

/// The first statement of a strand.
fn first(before: &[usize], mut at: usize) -> usize {
    while before[at] != at {
        at = before[at];
    }
    at
}

fn each_variable<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Var)) {
    if let Stmt::Declare { var, .. } | Stmt::Assign { var, .. } = stmt {
        visit(&var.id);
    }
    for value in stmt.values() {
        value.each(&mut |e| {
            if let Expr::Var(var) = e {
                visit(&var.id);
            }
        });
    }
}

/// Where each statement loads first from the array that is loaded from most, relative to the others. Nothing where
/// no distance is known, nothing is loaded twice, or something that is loaded is stored here too.
fn addresses(stmts: &[Stmt], facts: &Facts) -> Option<Vec<Option<i128>>> {
    let (mut loads, mut stored) = (HashMap::<BufferId, usize>::new(), Vec::new());
    for stmt in stmts {
        stmt.each_own_access(&mut |access, is_store| match is_store {
            true => stored.push(access.buffer),
            false => *loads.entry(access.buffer).or_default() += 1,
        });
    }
    if stored.iter().any(|buffer| loads.contains_key(buffer)) {
        return None;
    }
    let (most, _) = loads.iter().max_by_key(|(buffer, count)| (**count, **buffer))?;
    let mut origin: Option<Access> = None;
    let mut found = Vec::new();
    for stmt in stmts {
        let mut load = None;
        stmt.each_own_access(&mut |access, is_store| {
            if !is_store && access.buffer == *most && load.is_none() {
                load = Some(access.clone());
            }
        });
        let Some(load) = load else {
            found.push(None);
            continue;
        };
        let origin = origin.get_or_insert_with(|| load.clone());
        found.push(Some(facts.simplify(&load.distance_from(origin)?).as_int()?));
    }
    let mut all: Vec<i128> = found.iter().flatten().copied().collect();
    all.sort_unstable();
    all.windows(2).any(|pair| pair[0] == pair[1]).then_some(found)
}

/// Statements strand by strand, each going on when its next address is the lowest.
fn by_address(strands: &[Vec<usize>], addresses: &[Option<i128>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(addresses.len());
    let mut left: Vec<&[usize]> = strands.iter().map(Vec::as_slice).collect();
    loop {
        for strand in &mut left {
            while let [at, rest @ ..] = strand
                && addresses[*at].is_none()
            {
                order.push(*at);
                *strand = rest;
            }
        }
        let next = left.iter_mut().filter(|strand| !strand.is_empty());
        let Some(lowest) = next.min_by_key(|strand| addresses[strand[0]]) else { return order };
        order.push(lowest[0]);
        *lowest = &lowest[1..];
    }
}

/// Whether stores to the same array stay in order: two may be to the same place.
fn stores_in_order(stmts: &[Stmt], order: &[usize]) -> bool {
    let mut last: HashMap<BufferId, usize> = HashMap::new();
    order.iter().all(|at| match &stmts[*at] {
        Stmt::Store { access, .. } => last.insert(access.buffer, *at).is_none_or(|one| one < *at),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use lift_ir::{BinaryOp, Nat, Scalar, Var};
    use lift_kernel::{ValueType, Variable};

    use super::*;

    const X: BufferId = BufferId(0);
    const R: BufferId = BufferId(1);

    fn var(name: &str) -> Variable {
        Variable { id: Var::named(name), ty: ValueType::scalar(Scalar::F32) }
    }

    fn access(buffer: BufferId, index: Nat) -> Access {
        Access { buffer, index, stage: Nat::ZERO, items: Vec::new(), width: 1, aligned: true }
    }

    fn load(index: i128) -> Expr {
        Expr::Load(access(X, Nat::var(&Var::named("i")) + Nat::int(index)), var("").ty)
    }

    fn declare(name: &str, index: i128) -> Stmt {
        Stmt::Declare { var: var(name), value: Some(load(index)) }
    }

    fn add(name: &str, index: i128) -> Stmt {
        let (sum, element) = (Box::new(Expr::Var(var(name))), Box::new(load(index)));
        Stmt::Assign { var: var(name), value: Expr::Binary(BinaryOp::Add, sum, element) }
    }

    fn store(to: BufferId, index: i128, name: &str) -> Stmt {
        Stmt::Store { access: access(to, Nat::int(index)), value: Expr::Var(var(name)) }
    }

    /// The sum of three elements from `index` on.
    fn window(name: &str, index: i128, to: BufferId) -> [Stmt; 4] {
        let [first, second, third] = [0, 1, 2].map(|k| index + k);
        [declare(name, first), add(name, second), add(name, third), store(to, index, name)]
    }

    fn weave(stmts: &[Stmt]) -> Vec<Stmt> {
        woven(stmts.to_vec(), &Facts::new())
    }

    #[test]
    fn windows_that_overlap_are_computed_side_by_side() {
        let (a, b) = (window("a", 0, R), window("b", 1, R));
        let found = weave(&[a.clone(), b.clone()].concat());
        let ([a0, a1, a2, a], [b1, b2, b3, b]) = (a, b);
        assert_eq!(found, [a0, a1, b1, a2, a, b2, b3, b]);
    }

    #[test]
    fn windows_apart_stay_in_order() {
        let stmts = [window("a", 0, R), window("b", 3, R)].concat();
        assert_eq!(weave(&stmts), stmts);
    }

    #[test]
    fn what_has_a_variable_in_common_stays_in_order() {
        let mut stmts = [window("b", 1, R), window("a", 0, R)].concat();
        stmts[5] = Stmt::Assign { var: var("b"), value: load(1) };
        assert_eq!(weave(&stmts), stmts);
    }

    #[test]
    fn what_is_stored_and_loaded_stays_in_order() {
        let stmts = [window("a", 0, X), window("b", 1, X)].concat();
        assert_eq!(weave(&stmts), stmts);
    }

    #[test]
    fn stores_to_an_array_stay_in_order() {
        let stmts = [window("b", 1, R), window("a", 0, R)].concat();
        assert_eq!(weave(&stmts), stmts);
        let stmts = [window("b", 1, R), window("a", 0, BufferId(2))].concat();
        assert_ne!(weave(&stmts), stmts);
    }

    #[test]
    fn a_comment_stays_with_what_follows() {
        let about = |what: &str| Stmt::Comment(what.to_string());
        let (a, b) = (window("a", 0, R).to_vec(), window("b", 1, R).to_vec());
        let found = weave(&[vec![about("a")], a.clone(), vec![about("b")], b.clone()].concat());
        let place = |stmt: &Stmt| found.iter().position(|one| one == stmt);
        assert!(place(&about("a")) < place(&a[0]) && place(&about("b")) < place(&b[0]));
        assert!(place(&b[0]) < place(&a[3]), "{found:?}");
    }

    #[test]
    fn a_barrier_or_a_loop_is_passed_by_nothing() {
        let inner = [window("c", 0, R), window("d", 1, R)].concat();
        let between = Stmt::If {
            condition: Expr::Literal(lift_ir::Literal::Bool(true)),
            then: inner.clone(),
            otherwise: Vec::new(),
        };
        let (a, b) = (window("a", 0, R).to_vec(), window("b", 1, R).to_vec());
        let found = block([a.clone(), vec![between], b.clone()].concat(), &Facts::new());
        assert_eq!((&found[..4], &found[5..]), (a.as_slice(), b.as_slice()));
        assert_eq!(found[4].blocks()[0], weave(&inner));
    }
}
