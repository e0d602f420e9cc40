//! What arrays are like: which take long folds, which prepare something for each row, and how they are read.

use lift_ir::{Call, Expr, Family, FoldKind, Kind, Lambda, MapKind, Param, Prim, Type};

use crate::passes::default_lowering::is_layout_only;

/// Arrays of at most this many elements are kept by the work-item that makes them.
const SHORT: i128 = 64;

/// Elements of a fold from which on tiles of it pay, and those of its results that are stored at most.
const LONG: i128 = 64;
const ROOM: i128 = 1 << 27;

/// Whether a pattern reads rows of its argument in pieces, so that what a row needs would be computed for each.
pub(super) fn cuts_rows(prim: &Prim) -> bool {
    matches!(prim, Prim::Transpose | Prim::Join | Prim::Slide | Prim::AsScalar | Prim::AsVector)
}

/// Whether a pattern folds its argument, or puts it beside what takes long folds.
pub(super) fn folds_beside(call: &Call) -> bool {
    match &call.prim {
        Prim::Reduce(_) | Prim::Scan(_) => true,
        Prim::Zip => call.args.iter().filter(|arg| arg.has(is_long_fold)).count() > 1,
        _ => false,
    }
}

/// Whether an expression has a fold in it.
pub(super) fn folds(expr: &Expr) -> bool {
    let is_fold = |e: &Expr| {
        let prim = e.as_call().map(|call| &call.prim);
        matches!(prim, Some(Prim::Reduce(_) | Prim::Scan(_)))
    };
    expr.has(is_fold)
}

/// Whether the numbers of an array of so many dimensions, at least, are long folds each, and there is room for them.
pub(super) fn is_product(array: &Expr, dimensions: usize) -> bool {
    let (mut ty, mut own) = (array.ty(), 0);
    while let Some((element, _)) = ty.as_array() {
        (ty, own) = (element, own + 1);
    }
    own >= dimensions && array.ty().numbers().is_none_or(|n| n <= ROOM) && array.has(is_long_fold)
}

/// Whether an expression is a fold of many elements.
pub(crate) fn is_long_fold(expr: &Expr) -> bool {
    let fold = expr.as_call().filter(|call| matches!(call.prim, Prim::Reduce(_)));
    let length = fold.and_then(|call| call.args.get(1)).and_then(|xs| xs.ty().as_array());
    length.is_some_and(|(_, n)| n.as_int().is_none_or(|n| n >= LONG))
}

/// Whether an array takes steps of which each needs the one before.
pub(super) fn folds_in_order(array: &Expr) -> bool {
    let is_in_order = |e: &Expr| match e.as_call().map(|call| call.prim.family()) {
        Some(Family::Iteration) => true,
        Some(Family::Fold(kind)) => kind != FoldKind::Any,
        _ => false,
    };
    array.has(is_in_order) || needs_scan(array)
}

/// Whether the elements of an array are made from those of a scan.
pub(super) fn needs_scan(array: &Expr) -> bool {
    array.as_call().is_some_and(|call| match &call.prim {
        Prim::Scan(_) => array.ty().as_array().is_some_and(|(state, _)| state.is_register()),
        Prim::Map(MapKind::Map) => {
            call.args.iter().any(needs_scan) || call.functions.iter().any(|f| needs_scan(&f.body))
        }
        prim if prim.is_layout() => call.args.iter().any(needs_scan),
        _ => false,
    })
}

/// Whether a pattern puts arrays beside each other.
pub(super) fn is_zip(call: &Call) -> bool {
    call.prim == Prim::Zip && call.args.len() > 1
}

/// Whether an expression puts a variable, or that in another order, beside other arrays, or the rows of which it is made.
pub(super) fn is_zipped(expr: &Expr, param: &Param) -> bool {
    let own = |call: &Call| {
        let is_own = call.args.iter().any(|arg| is_made_of(arg, param));
        is_own && (is_zip(call) || zips_elements(call))
    };
    expr.mentions(param)
        && (expr.as_call().is_some_and(own)
            || expr.children().into_iter().any(|child| is_zipped(child, param)))
}

/// Whether what a pattern maps puts the rows of its argument beside other arrays.
pub(super) fn zips_elements(call: &Call) -> bool {
    call.prim == Prim::Map(MapKind::Map)
        && call.functions.iter().any(|f| f.params.iter().any(|row| is_zipped(&f.body, row)))
}

/// Whether each element of an array, or what stands beside others in it, is mapped to an array that a map makes.
pub(super) fn maps_to_arrays(call: &Call) -> bool {
    call.prim == Prim::Map(MapKind::Map) && call.functions.iter().any(|f| makes_map(&f.body))
}

/// Whether an expression maps the elements of a variable, alone or beside others, to arrays.
pub(super) fn is_mapped_to_arrays(expr: &Expr, param: &Param) -> bool {
    let own =
        |call: &Call| maps_to_arrays(call) && call.args.iter().any(|arg| is_view_of(arg, param));
    expr.mentions(param)
        && (expr.as_call().is_some_and(own)
            || expr.children().into_iter().any(|child| is_mapped_to_arrays(child, param)))
}

/// Whether an array is made by a map, perhaps inside what rearranges it.
pub(super) fn makes_map(expr: &Expr) -> bool {
    !expr.ty().is_register()
        && match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
            Kind::Let { body, .. } => makes_map(body),
            Kind::Call(call) => match &call.prim {
                Prim::Map(MapKind::Map) => !is_layout_only(call),
                prim if prim.is_layout() => call.args.iter().any(makes_map),
                _ => false,
            },
        }
}

/// Whether an array is a fold into places that data choose, of many elements.
pub(super) fn folds_by_index(array: &Expr) -> bool {
    let fold = array.as_call().filter(|call| matches!(call.prim, Prim::ReduceByIndex(_)));
    let length = fold.and_then(|call| call.args.get(2)).and_then(|xs| xs.ty().as_array());
    length.is_some_and(|(_, n)| n.as_int().is_none_or(|n| n >= LONG))
}

/// Whether an expression reads rows of a variable in pieces, those of its elements included.
pub(super) fn reads_rows_in_pieces(expr: &Expr, param: &Param) -> bool {
    let own = |call: &Call| {
        cuts_rows(&call.prim) && call.args.iter().any(|a| is_made_of(a, param))
            || cuts_elements(call, &|arg| is_made_of(arg, param))
    };
    expr.mentions(param)
        && (expr.as_call().is_some_and(own)
            || expr.children().into_iter().any(|child| reads_rows_in_pieces(child, param)))
}

/// Whether what a pattern maps reads rows in pieces that are those of elements of such an array, alone or beside others.
pub(super) fn cuts_elements(call: &Call, is_of_array: &dyn Fn(&Expr) -> bool) -> bool {
    let (Prim::Map(MapKind::Map), [f], [arg]) =
        (&call.prim, call.functions.as_slice(), call.args.as_slice())
    else {
        return false;
    };
    let Some(element) = f.params.first().filter(|_| !is_layout_only(call)) else { return false };
    let is_nested = |ty: &Type| ty.as_array().is_some_and(|(row, _)| row.as_array().is_some());
    let beside = arg.as_call().filter(|zip| is_zip(zip));
    match (beside, element.ty()) {
        (Some(zip), Type::Tuple(items)) => {
            let own = zip.args.iter().zip(items.iter()).zip(0..);
            own.filter(|((arg, ty), _)| is_nested(ty) && is_of_array(arg))
                .any(|(_, k)| reads_component_in_pieces(&f.body, element, k))
        }
        (_, ty) => is_nested(ty) && is_of_array(arg) && reads_rows_in_pieces(&f.body, element),
    }
}

/// Whether an expression reads rows of one component of a variable in pieces.
fn reads_component_in_pieces(expr: &Expr, tuple: &Param, component: u32) -> bool {
    let is_own = |arg: &Expr| is_view_of_component(arg, tuple, component);
    let own = |call: &Call| {
        cuts_rows(&call.prim) && call.args.iter().any(is_own) || cuts_elements(call, &is_own)
    };
    expr.mentions(tuple)
        && (expr.as_call().is_some_and(own)
            || expr
                .children()
                .into_iter()
                .any(|child| reads_component_in_pieces(child, tuple, component)))
}

/// Whether an expression is one component of a variable, or that in another order.
fn is_view_of_component(expr: &Expr, tuple: &Param, component: u32) -> bool {
    let Some(call) = expr.as_call() else { return false };
    match (&call.prim, call.args.as_slice()) {
        (Prim::Field(k), [own]) if own.as_var() == Some(tuple) => *k == component,
        (prim, args) => {
            prim.is_layout() && args.iter().any(|a| is_view_of_component(a, tuple, component))
        }
    }
}

/// Whether an expression is a variable, or that in another order.
pub(super) fn is_view_of(expr: &Expr, param: &Param) -> bool {
    match expr.kind() {
        Kind::Var(own) => own == param,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
        Kind::Call(call) => {
            call.prim.is_layout() && call.args.iter().any(|arg| is_view_of(arg, param))
        }
    }
}

/// Whether an expression is a variable, in another order or with a function of each number.
fn is_made_of(expr: &Expr, param: &Param) -> bool {
    match expr.kind() {
        Kind::Var(own) => own == param,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
        Kind::Call(call) => {
            let is_by_number = call.prim == Prim::Map(MapKind::Map)
                && !call.functions.iter().any(|f| folds(&f.body));
            (is_by_number || call.prim.is_layout())
                && call.args.iter().any(|arg| is_made_of(arg, param))
        }
    }
}

/// Whether an array of arrays computes something for each row before its elements.
pub(super) fn works_by_row(array: &Expr) -> bool {
    let is_nested = array.ty().as_array().is_some_and(|(element, _)| element.as_array().is_some());
    is_nested
        && match array.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
            Kind::Let { .. } => true,
            Kind::Call(call) => match &call.prim {
                Prim::Map(MapKind::Map) => {
                    call.functions.iter().any(|f| prepares(&f.body))
                        || call.args.iter().any(works_by_row)
                }
                prim if prim.is_layout() => call.args.iter().any(works_by_row),
                _ => true,
            },
        }
}

/// Whether something is computed before an element of an array can be.
pub(super) fn prepares(row: &Expr) -> bool {
    match row.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { .. } => true,
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Map) | Prim::Generate => {
                let array = |f: &Lambda| f.body.ty().as_array().is_some();
                call.functions.iter().any(|f| array(f) && prepares(&f.body))
                    || call.args.iter().any(prepares)
            }
            prim if prim.is_layout() => call.args.iter().any(prepares),
            _ => !row.ty().is_register(),
        },
    }
}

/// Whether an array is stored when it is evaluated, whoever reads it.
pub(super) fn is_stored(array: &Expr) -> bool {
    match array.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { body, .. } => is_stored(body),
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Map) => call.args.iter().any(is_stored),
            prim if prim.is_layout() => {
                call.args.iter().any(|a| !a.ty().is_register() && is_stored(a))
            }
            _ => !array.ty().is_register(),
        },
    }
}

/// Whether a map does nothing but pick elements, or rows, that data choose.
pub(super) fn picks_by_data(array: &Expr) -> bool {
    let is_data = |index: &Expr| !matches!(index.kind(), Kind::Literal(_) | Kind::Size(..));
    let picks = |e: &Expr| match e.as_call() {
        Some(call) => call.prim == Prim::At && call.args.get(1).is_some_and(is_data),
        None => false,
    };
    let map = array.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map));
    map.is_some_and(|call| is_layout_only(call) && call.functions.iter().any(|f| f.body.has(picks)))
}

/// Whether an array is short enough to be kept by one work-item.
pub(super) fn is_short(ty: &Type) -> bool {
    ty.numbers().is_some_and(|n| n <= SHORT)
}
