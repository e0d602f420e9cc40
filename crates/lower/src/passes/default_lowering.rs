//! The default lowering: high-level patterns get a way to run.
//!
//! Before: `map(f, xs)`, `reduce(z, f, xs)`, anywhere.
//! After: outside all parallel maps, nests of `map` run over global work-items, outermost dimension
//! highest, and a `reduce` runs in steps, all but the last in parallel; work-groups share a `scan` ([`scans`]); elsewhere
//! folds run in order. A `map` that stays is a view: its function is applied where an element is read.
//!
//! Where work-items are threads they share long folds: those of a group the fold of a row ([`groups`]), several groups
//! or work-items a fold that few others run beside ([`chunks`]), all of them that of a whole array ([`whole`]). How
//! elements lie in memory decides ([`strides`]).
//!
//! Valid for every size. Low-level patterns are left as they are.

mod boxes;
mod by_index;
mod by_index_columns;
mod by_index_joined;
mod by_index_rows;
mod chained;
mod chunks;
mod column_blocks;
mod groups;
mod parts;
mod range_tiles;
mod ranges;
mod reductions;
pub(crate) mod rows;
mod scan_chunks;
mod scan_nests;
mod scan_parts;
mod scanned;
mod scans;
mod shared;
mod sink;
mod strides;
mod tile;
mod whole;
mod wide;

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, Family, FoldKind, Kind, Lambda, MapKind, Nat, Prim,
    TypeError,
};

use crate::passes::translate::{nest_to_see, with_nested};
use crate::passes::{grid_order, loop_interchange, share};
use crate::{LowerError, Options, Target};

/// Work-items of the first and of the second step of a parallel reduction by loops.
const FIRST: i128 = 1 << 16;
const SECOND: i128 = 1 << 8;

/// On processors, rows of the first step at least, so that padding is little of it, and elements that the lanes of one thread fold
/// as fast as several threads.
const ROWS: i128 = 16;
const FOR_ONE: i128 = 1 << 14;

/// Elements of a window, at most: folds over so many are written out.
const WINDOW: i128 = 64;

/// Elements of a fold that work-items share, at least.
const LONG: i128 = 128;

/// The dimensions of a grid at most, and those of groups.
pub(crate) const MOST_DIMENSIONS: u8 = 6;
const GROUP_DIMENSIONS: u8 = 3;

pub(crate) fn decide(def: &Def, options: &Options) -> Result<Def, LowerError> {
    let cx = def.context();
    let target = options.target;
    let is_shared = !is_grid_wide(&def.body);
    let decider = Decider { cx: &cx, target, def, options, is_plain: false, is_shared };
    let body = decider.expr(&def.body, Level::Host)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

/// The dimension of a nest of maps along which it reads what lies side by side, more so than along the innermost; nothing where that is
/// as good.
pub(crate) fn nearest_dimension(
    cx: &Context,
    def: &Def,
    options: &Options,
    call: &Call,
) -> Result<Option<usize>, TypeError> {
    let depth = nest_depth(call);
    if !(2..=MOST_DIMENSIONS).contains(&depth) || is_layout_only(call) {
        return Ok(None);
    }
    let target = options.target;
    let plain = Decider { cx, target, def, options, is_plain: true, is_shared: true };
    let grid = plain.grid(call, depth - 1, Level::Fused, false)?;
    let kernel = strides::alone(&grid, def, cx.next_number(), options);
    Ok(kernel.and_then(|kernel| grid_order::nearest_to_read(&kernel)))
}

/// Whether an expression computes with numbers, without arrays.
fn is_scalar_code(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => true,
        Kind::Call(call) => matches!(
            call.prim,
            Prim::Binary(_)
                | Prim::Unary(_)
                | Prim::Math(_)
                | Prim::Cast(_)
                | Prim::If
                | Prim::Tuple
                | Prim::Field(_)
        ),
    }
}

/// Whether an expression has a map or a fold over groups or global work-items.
pub(crate) fn is_grid_wide(expr: &Expr) -> bool {
    let is_wide = |e: &Expr| match e.as_call().map(|call| &call.prim) {
        Some(Prim::Map(MapKind::Glb(_) | MapKind::Wrg(_))) => true,
        Some(prim) => *prim == Prim::ReduceByIndex(FoldKind::Glb),
        None => false,
    };
    expr.has(is_wide)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Outside all parallel maps, where the value is stored.
    Host,
    /// Outside all parallel maps, where each element is read once: a `map` is fused with its reader.
    Fused,
    /// Inside a parallel map, or in a kernel of one work-item: a `map` is applied on reading.
    Inside,
    /// As [`Level::Inside`], where elements are read again and again: a `map` is stored.
    Kept,
    /// Inside a map over groups and outside of those over their work-items, which share long folds.
    Group,
}

#[derive(Clone, Copy)]
struct Decider<'a> {
    cx: &'a Context,
    def: &'a Def,
    target: Target,
    options: &'a Options,
    /// Every fold inside a map runs in order.
    is_plain: bool,
    /// Arrays that are worth storing have names: see [`share`].
    is_shared: bool,
}

impl Decider<'_> {
    fn expr(&self, expr: &Expr, level: Level) -> Result<Expr, TypeError> {
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                if let Some(made) = self.let_of_scans((param, value), body, level)? {
                    return Ok(made);
                }
                // Numbers that are made from what is folded, one after the other, take no kernels of their own.
                if let Some(number) = self.number_at(expr, level)? {
                    return Ok(number);
                }
                let own = match level {
                    Level::Host | Level::Fused => Level::Host,
                    Level::Inside | Level::Kept if share::is_read_once(param, value, body) => {
                        Level::Inside
                    }
                    Level::Inside | Level::Kept => Level::Kept,
                    Level::Group => Level::Group,
                };
                let value = self.expr(value, own)?;
                self.cx.let_in(param.clone(), value, self.expr(body, level)?)?
            }
            Kind::Call(call) => match self.number_at(expr, level)? {
                Some(number) => number,
                None => self.call(call, level)?,
            },
        };
        Ok(match expr.span() {
            Some(span) => made.with_span(span),
            None => made,
        })
    }

    fn call(&self, call: &Call, level: Level) -> Built {
        match &call.prim {
            Prim::Map(MapKind::Map) if level == Level::Kept && !is_layout_only(call) => {
                self.rebuild(call, Prim::Map(MapKind::Seq), Level::Inside, Level::Inside)
            }
            Prim::Generate if level == Level::Kept => self.kept_generate(call),
            prim if level == Level::Kept
                && !prim.is_layout()
                && *prim != Prim::Map(MapKind::Map) =>
            {
                self.call(call, Level::Inside)
            }
            // Around what runs on the whole grid, a loop of the host.
            Prim::Map(MapKind::Map)
                if level != Level::Inside
                    && level != Level::Kept
                    && call.functions.iter().any(|f| is_grid_wide(&f.body)) =>
            {
                self.rebuild(call, Prim::Map(MapKind::Seq), Level::Host, Level::Host)
            }
            Prim::Map(MapKind::Map) if level == Level::Host && !is_layout_only(call) => {
                if let Some(made) = self.boxed(call)? {
                    return Ok(made);
                }
                if let Some(made) = self.map_of_scans(call)? {
                    return Ok(made);
                }
                if let Some(made) = self.rows_by_index(call)? {
                    return self.expr(&made, level);
                }
                match self.nested(call)? {
                    Some(nested) => self.expr(&nested, level),
                    None => {
                        let depth = nest_depth(call).min(MOST_DIMENSIONS);
                        if let Some(rows) = self.ragged(call, depth)? {
                            return Ok(rows);
                        }
                        match self.shared(call, depth)? {
                            Some(shared) => Ok(shared),
                            None => self.grid(call, depth - 1, Level::Fused, true),
                        }
                    }
                }
            }
            Prim::Map(MapKind::Map) => match self.stored_for_reading(call, level)? {
                Some(stored) => Ok(stored),
                None => self.rebuild(call, call.prim.clone(), Level::Inside, level),
            },
            Prim::Reduce(_) | Prim::Scan(_)
                if matches!(level, Level::Host | Level::Fused) && self.has_large_state(call) =>
            {
                self.fold_on_host(call)
            }
            Prim::Reduce(FoldKind::Any) if level == Level::Group && groups::is_long(call) => {
                self.fold_in_group(call)
            }
            Prim::ReduceRange(FoldKind::Any) if level == Level::Group => self.range_in_group(call),
            Prim::Reduce(FoldKind::Any) if level == Level::Host || level == Level::Fused => {
                self.parallel_reduce(call)
            }
            Prim::Reduce(FoldKind::Any) => match self.by_rows(call)?.filter(|_| !self.is_plain) {
                Some(nested) => self.expr(&nested, level),
                // The order is free still: lanes of a processor's vectors may share it, or warps.
                None if self.target == Target::Loops || self.is_for_warps(call) => {
                    self.rebuild(call, call.prim.clone(), Level::Inside, level)
                }
                None => self.rebuild(call, Prim::Reduce(FoldKind::Seq), Level::Inside, level),
            },
            Prim::Scan(FoldKind::Any) => self.scan(call, level),
            Prim::PartialReduce => {
                let spelled = self.partial_reduce(call)?;
                self.expr(&spelled, level)
            }
            Prim::ReduceByIndex(FoldKind::Any) => self.by_index(call, level),
            // One thread of a processor changes states in order.
            Prim::ReduceByIndex(FoldKind::Glb) if self.target == Target::Loops => {
                let prim = Prim::ReduceByIndex(FoldKind::Seq);
                self.rebuild(call, prim, Level::Inside, read(level))
            }
            // What replaces elements, and where, is computed where it is put.
            Prim::Update => {
                let levels = [level, read(level), read(level)];
                let args = call.args.iter().zip(levels).map(|(arg, level)| self.expr(arg, level));
                let args: Result<Vec<Expr>, TypeError> = args.collect();
                self.cx.call(Prim::Update, vec![], vec![], args?)
            }
            // Loops of the host, around what runs on the whole grid.
            Prim::Map(MapKind::Seq | MapKind::SeqUnroll) | Prim::Reduce(_) | Prim::Scan(_)
                if level != Level::Inside
                    && call.functions.iter().any(|f| is_grid_wide(&f.body)) =>
            {
                self.rebuild(call, call.prim.clone(), Level::Host, Level::Host)
            }
            Prim::Generate => match nest_to_see(call).filter(|_| level == Level::Host) {
                Some(nest) => with_nested(self.cx, call, self.expr(nest, Level::Host)?),
                None => self.rebuild(call, call.prim.clone(), Level::Inside, read(level)),
            },
            Prim::To(_) => self.rebuild(call, call.prim.clone(), stored(level), stored(level)),
            // An element may be read more than once through these. Windows of what is dear have a name for it already, unless the
            // program says itself what runs where.
            Prim::Slide if self.is_shared => {
                self.rebuild(call, call.prim.clone(), Level::Inside, level)
            }
            Prim::Slide | Prim::Repeat | Prim::At => {
                self.rebuild(call, call.prim.clone(), Level::Inside, stored(level))
            }
            prim => {
                let (inside, beside) = match prim.family() {
                    Family::Map | Family::Fold(_) => (Level::Inside, read(level)),
                    Family::Iteration => (stored(level), stored(level)),
                    Family::Layout | Family::Storage | Family::Scalar => (Level::Inside, level),
                };
                self.rebuild(call, prim.clone(), inside, beside)
            }
        }
    }

    fn rebuild(&self, call: &Call, prim: Prim, inside: Level, beside: Level) -> Built {
        let functions: Result<Vec<Lambda>, TypeError> = call
            .functions
            .iter()
            .map(|f| Ok(Lambda { body: self.expr(&f.body, inside)?, ..f.clone() }))
            .collect();
        let args: Result<Vec<Expr>, TypeError> =
            call.args.iter().map(|a| self.expr(a, beside)).collect();
        self.cx.call(prim, call.sizes.clone(), functions?, args?)
    }

    /// Whether a fold's state is so large, and made by maps, that its parts get work-items of their own.
    fn has_large_state(&self, call: &Call) -> bool {
        let state = call.args.first().map(Expr::ty);
        state.is_some_and(|ty| loop_interchange::is_large(ty, self.target))
            && call.functions.iter().all(|f| loop_interchange::maps(&f.body))
    }

    /// A fold or scan as a loop of the host around its steps, each of which is parallel.
    fn fold_on_host(&self, call: &Call) -> Built {
        let prim = match &call.prim {
            Prim::Scan(_) => Prim::Scan(FoldKind::Seq),
            _ => Prim::Reduce(FoldKind::Seq),
        };
        self.rebuild(call, prim, Level::Host, Level::Host)
    }

    /// `generate(n, f)` as `mapSeq(f)` of the indices, which is stored.
    fn kept_generate(&self, call: &Call) -> Built {
        let b = Build::new(self.cx);
        let length = call.sizes.first().cloned().unwrap_or_else(|| Nat::int(1));
        let indices = b.generate(length, Ok)?;
        let spelled = Call { sizes: Vec::new(), args: vec![indices], ..call.clone() };
        self.rebuild(&spelled, Prim::Map(MapKind::Seq), Level::Inside, Level::Inside)
    }

    /// The two outermost of more maps than groups have dimensions, as one.
    ///
    /// `map(\x -> map(\y -> e, ys), xs) = split(n, map(\(x, y) -> e, join(map(\x -> map(\y -> (x, y), ys), xs))))`
    fn flattened(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        if nest_depth(call) <= GROUP_DIMENSIONS {
            return Ok(None);
        }
        let (Some(outer), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return Ok(None);
        };
        let Some(inner) = inner_map(outer) else { return Ok(None) };
        let (Some(f), Some(ys)) = (inner.functions.first(), inner.args.first()) else {
            return Ok(None);
        };
        let ([x], [y]) = (outer.params.as_slice(), f.params.as_slice()) else { return Ok(None) };
        let Some((_, n)) = ys.ty().as_array() else { return Ok(None) };
        let b = Build::new(self.cx);
        let pairs = b.map(
            |own| {
                let ys = self.cx.substitute(ys, &[(x.clone(), own.clone())]);
                b.map(|y| b.tuple([Ok(own.clone()), Ok(y)]), Ok(ys))
            },
            Ok(xs.clone()),
        );
        let each = |pair: Expr| {
            let field = |k: u32| self.cx.call(Prim::Field(k), vec![], vec![], vec![pair.clone()]);
            Ok(self.cx.substitute(&f.body, &[(x.clone(), field(0)?), (y.clone(), field(1)?)]))
        };
        b.split(n.clone(), b.map(each, b.join(pairs))).map(Some)
    }

    /// A nest of maps becomes a grid; what is inside runs in order, what it reads is fused in. `plain` is whether the rows of
    /// the maps around lie in memory as they are.
    fn grid(&self, call: &Call, dimension: u8, level: Level, plain: bool) -> Built {
        let (Some(f), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Host);
        };
        let plain = plain && wide::is_plain(xs);
        let body = match inner_map(f).filter(|_| dimension > 0) {
            Some(inner) => self.grid(inner, dimension - 1, Level::Inside, plain)?,
            None => self.expr(&f.body, Level::Inside)?,
        };
        let is_inner = level == Level::Inside;
        let wide = dimension == 0 && self.is_wide(f, xs, plain, is_inner);
        let f = Lambda { body, ..f.clone() };
        let xs = self.expr(xs, level)?;
        if wide {
            return self.wide_grid(f, xs);
        }
        self.cx.call(Prim::Map(MapKind::Glb(dimension)), vec![], vec![f], vec![xs])
    }
}

/// The map that is the whole body of a function, if it is one.
fn inner_map(f: &Lambda) -> Option<&Call> {
    let call = f.body.as_call()?;
    (call.prim == Prim::Map(MapKind::Map) && !is_layout_only(call)).then_some(call)
}

fn nest_depth(call: &Call) -> u8 {
    call.functions
        .first()
        .and_then(inner_map)
        .map_or(1, |inner| nest_depth(inner).saturating_add(1))
}

/// A map whose function only rearranges.
pub(crate) fn is_layout_only(call: &Call) -> bool {
    call.functions.iter().all(|f| rearranges(&f.body))
}

fn rearranges(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Let { value, body, .. } => rearranges(value) && rearranges(body),
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Map) => is_layout_only(call) && call.args.iter().all(rearranges),
            Prim::Generate => false,
            prim => prim.is_layout() && call.args.iter().all(rearranges),
        },
    }
}

/// The level of what is read again and again.
fn stored(level: Level) -> Level {
    match level {
        Level::Host | Level::Fused => Level::Host,
        Level::Inside => Level::Inside,
        Level::Kept => Level::Kept,
        Level::Group => Level::Group,
    }
}

/// The level of what is read once.
fn read(level: Level) -> Level {
    match level {
        Level::Host | Level::Fused => Level::Fused,
        Level::Inside | Level::Kept => Level::Inside,
        Level::Group => Level::Group,
    }
}
