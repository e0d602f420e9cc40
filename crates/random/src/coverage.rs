//! What of the language occurs in an expression.

use std::collections::BTreeSet;

use lift_ir::{Boundary, Call, Expr, Kind, Permutation, Prim, Type, table};

/// The names of everything that occurs in an expression: patterns as the table calls them, what has
/// syntax of its own, and the kinds that patterns come in (`mapGlb(1)`, `pad mirror`).
pub fn features(expr: &Expr) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, part) in expr.places() {
        part.ty().scalars(&mut |scalar| {
            found.insert(scalar.name().to_string());
        });
        if let Type::Vector(_, width) = part.ty() {
            found.insert(format!("x{width}"));
        }
        match part.kind() {
            Kind::Var(_) | Kind::Literal(_) => {}
            Kind::Size(..) => {
                found.insert("size".to_string());
            }
            Kind::Let { .. } => {
                found.insert("let".to_string());
            }
            Kind::Call(call) => of_call(call, &mut found),
        }
    }
    found
}

fn of_call(call: &Call, found: &mut BTreeSet<String>) {
    found.extend(table::name_of(&call.prim).map(str::to_string));
    let own = match &call.prim {
        Prim::Map(kind) => match (table::name_of(&call.prim), kind.dimension()) {
            (Some(name), Some(d)) => format!("{name}({d})"),
            _ => return,
        },
        Prim::Gather(p) => {
            // `reorder_stride` is another name for this.
            if matches!(p, Permutation::Stride(_)) {
                found.insert("reorder_stride".to_string());
            }
            format!("gather {}", permutation(p))
        }
        Prim::Scatter(p) => format!("scatter {}", permutation(p)),
        Prim::Pad(boundary) => format!("pad {}", boundary_name(boundary)),
        Prim::Iterate => {
            let changes = call.functions.iter().any(|f| f.size.is_some());
            format!("iterate {}", if changes { "changing" } else { "keeping" })
        }
        Prim::ReduceRange(_) => "range".to_string(),
        Prim::Point(domain) => format!("point {}", domain.dimensions()),
        Prim::Tuple => "tuple".to_string(),
        Prim::Field(_) => "field".to_string(),
        Prim::Array => "array".to_string(),
        Prim::Vector => "vector".to_string(),
        Prim::Splat => "splat".to_string(),
        Prim::Lane => "lane".to_string(),
        Prim::If => "if".to_string(),
        Prim::Cast(_) => "as".to_string(),
        Prim::Unary(op) => format!("unary {}", op.symbol()),
        Prim::Binary(op) => op.symbol().to_string(),
        Prim::Extern(_) => "extern".to_string(),
        Prim::Reduce(_)
        | Prim::Scan(_)
        | Prim::MapSeqSlide
        | Prim::PartialReduce
        | Prim::ReduceByIndex(_)
        | Prim::IterateIndex
        | Prim::IterateUntil
        | Prim::Zip
        | Prim::Unzip
        | Prim::Split
        | Prim::Join
        | Prim::Transpose
        | Prim::Slide
        | Prim::PadValue
        | Prim::Take
        | Prim::Drop
        | Prim::Concat
        | Prim::Head
        | Prim::Generate
        | Prim::Repeat
        | Prim::At
        | Prim::Rank(_)
        | Prim::Id
        | Prim::Update
        | Prim::AsVector
        | Prim::AsScalar
        | Prim::Vectorize
        | Prim::To(_)
        | Prim::Math(_) => return,
    };
    found.insert(own);
}

fn permutation(p: &Permutation) -> &'static str {
    match p {
        Permutation::Reverse => "reverse",
        Permutation::Stride(_) => "stride",
        Permutation::Shift(_) => "shift",
        Permutation::Index(..) => "function",
    }
}

fn boundary_name(boundary: &Boundary) -> &'static str {
    match boundary {
        Boundary::Clamp => "clamp",
        Boundary::Mirror => "mirror",
        Boundary::Wrap => "wrap",
        Boundary::Index(..) => "function",
    }
}
