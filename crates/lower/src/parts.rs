//! Arrays whose elements an expression reads one at a time, side by side.

use lift_ir::{Built, Context, Expr, Lambda, MapKind, Param, Prim};

/// An array, and the variable that stands for its element.
#[derive(Clone)]
pub(crate) struct Part {
    pub element: Param,
    pub array: Expr,
}

/// `map(\(x, y) -> body, zip(xs, ys))` over those arrays whose elements the body reads.
pub(crate) fn map_over(cx: &Context, parts: &[Part], body: Expr) -> Built {
    if let Some(part) = parts.iter().find(|part| body.as_var() == Some(&part.element)) {
        return Ok(part.array.clone());
    }
    map_over_as(cx, MapKind::Map, parts, body)
}

/// The same by the work-items of a kind.
pub(crate) fn map_over_as(cx: &Context, kind: MapKind, parts: &[Part], body: Expr) -> Built {
    let map = Prim::Map(kind);
    let mut read: Vec<&Part> = parts.iter().filter(|p| body.mentions(&p.element)).collect();
    if read.is_empty() {
        read.extend(parts.first());
    }
    if let [part] = read.as_slice() {
        let f = Lambda { size: None, params: vec![part.element.clone()], body };
        return cx.call(map, vec![], vec![f], vec![part.array.clone()]);
    }
    let arrays: Vec<Expr> = read.iter().map(|p| p.array.clone()).collect();
    let zipped = cx.call(Prim::Zip, vec![], vec![], arrays)?;
    let Some((element, _)) = zipped.ty().as_array() else { return Ok(body) };
    let pair = cx.fresh("parts", element.clone());
    let mut values = Vec::new();
    for (index, part) in (0..).zip(&read) {
        let component = cx.call(Prim::Field(index), vec![], vec![], vec![cx.var(&pair)])?;
        values.push((part.element.clone(), component));
    }
    let body = cx.substitute(&body, &values);
    let f = Lambda { size: None, params: vec![pair], body };
    cx.call(map, vec![], vec![f], vec![zipped])
}
