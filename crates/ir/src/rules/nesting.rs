//! Which parallel patterns may stand inside which.
//!
//! `mapLcl` and `mapWarp` stand inside `mapWrg`, `mapLane` inside `mapWarp`; `mapGlb` and `mapWrg` do
//! not nest, nor do `mapLcl` and `mapWarp`; along a nest no pattern repeats with one dimension.

use super::Violation;
use crate::{Expr, MapKind, Prim, Span};

pub(super) fn check(body: &Expr) -> Vec<Violation> {
    let mut found = Vec::new();
    visit(body, &mut Vec::new(), &mut found);
    found
}

type Nest = Vec<(MapKind, Option<Span>)>;

fn visit(expr: &Expr, nest: &mut Nest, found: &mut Vec<Violation>) {
    let Some(call) = expr.as_call() else {
        expr.children().into_iter().for_each(|c| visit(c, nest, found));
        return;
    };
    let parallel = match &call.prim {
        Prim::Map(kind) if kind.dimension().is_some() => Some(*kind),
        _ => None,
    };
    if let Some(kind) = parallel {
        found.extend(fault(kind, nest).map(|(message, other)| Violation {
            message,
            span: expr.span(),
            other,
            help: None,
        }));
        nest.push((kind, expr.span()));
    }
    call.functions.iter().for_each(|f| visit(&f.body, nest, found));
    if parallel.is_some() {
        nest.pop();
    }
    call.args.iter().for_each(|a| visit(a, nest, found));
}

type Fault = (String, Option<(String, Span)>);

/// Why `kind` may not stand inside `nest`, outermost first.
fn fault(kind: MapKind, nest: &Nest) -> Option<Fault> {
    let name = spelled(kind);
    let clash = nest.iter().rev().find(|(outer, _)| *outer == kind || excludes(*outer, kind));
    if let Some((outer, span)) = clash {
        let outer = spelled(*outer);
        let message = if outer == name {
            format!("`{name}` stands inside another `{name}`")
        } else {
            format!("`{name}` may not stand inside `{outer}`")
        };
        return Some((message, span.map(|span| (format!("the outer `{outer}`"), span))));
    }
    let needed: fn(&MapKind) -> bool = match kind {
        MapKind::Lcl(_) | MapKind::Warp(_) => |k| matches!(k, MapKind::Wrg(_)),
        MapKind::Lane(_) => |k| matches!(k, MapKind::Warp(_)),
        MapKind::Glb(_) | MapKind::Wrg(_) => |_| true,
        MapKind::Map | MapKind::Seq | MapKind::SeqUnroll => |_| true,
    };
    let wanted = match kind {
        MapKind::Lcl(_) | MapKind::Warp(_) => "mapWrg",
        MapKind::Lane(_) => "mapWarp",
        _ => return None,
    };
    let inside = nest.iter().any(|(outer, _)| needed(outer));
    (!inside).then(|| (format!("`{name}` must stand inside `{wanted}`"), None))
}

/// Whether `inner` is forbidden anywhere inside `outer`.
fn excludes(outer: MapKind, inner: MapKind) -> bool {
    use MapKind::{Glb, Lane, Lcl, Map, Seq, SeqUnroll, Warp, Wrg};
    match outer {
        Glb(_) => matches!(inner, Wrg(_) | Lcl(_) | Warp(_) | Lane(_)),
        Wrg(_) => matches!(inner, Glb(_)),
        Lcl(_) => matches!(inner, Glb(_) | Wrg(_) | Warp(_) | Lane(_)),
        Warp(_) | Lane(_) => matches!(inner, Glb(_) | Wrg(_) | Lcl(_) | Warp(_)),
        Map | Seq | SeqUnroll => false,
    }
}

fn spelled(kind: MapKind) -> String {
    let (name, d) = match kind {
        MapKind::Glb(d) => ("mapGlb", d),
        MapKind::Wrg(d) => ("mapWrg", d),
        MapKind::Lcl(d) => ("mapLcl", d),
        MapKind::Warp(d) => ("mapWarp", d),
        MapKind::Lane(d) => ("mapLane", d),
        MapKind::Map => return "map".to_string(),
        MapKind::Seq => return "mapSeq".to_string(),
        MapKind::SeqUnroll => return "mapSeqUnroll".to_string(),
    };
    format!("{name}({d})")
}
