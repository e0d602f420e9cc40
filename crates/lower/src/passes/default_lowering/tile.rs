//! What one group does with a tile of an array that is scanned or folded in order.
//!
//! A tile is copied to local memory, neighbours by neighbours; each of `side * side` work-items folds `own` elements that
//! follow each other; their folds are scanned in rows of `side`, and those of the rows again, in steps of doubling distance:
//!
//! `xs_(k+1)[i] = if i < 2^k then xs_k[i] else f(xs_k[i - 2^k], xs_k[i])`
//!
//! Then each scans its elements from the fold of all before them, and the result is copied back. `own` is odd, so that
//! work-items that walk through local memory together meet in no bank.

use lift_ir::{
    Arg, Build, Built, Context, Expr, FoldKind, Lambda, MapKind, Nat, Prim, Space, Type,
};

/// Bytes of local memory that a group has at most without asking for more, and that several groups have at a time.
const LOCAL_MEMORY: i128 = 48 << 10;
const SEVERAL_TIMES: i128 = 32 << 10;

/// Work-items along a row of a group: so many, or fewer where elements are large.
const SIDES: [i128; 2] = [16, 8];

/// Elements of a work-item at most, where tiles are many.
const OWN: i128 = 11;

/// Folds that a work-item takes at once while a group folds its own.
const TOGETHER: i128 = 4;

#[derive(Clone, Copy)]
pub(super) struct Tile {
    side: i128,
    own: i128,
}

impl Tile {
    /// The smallest tile that holds an array of a length, else a large one; none where elements are too large for any.
    pub(super) fn of(ty: &Type, length: Option<i128>, memory: i128) -> Option<Tile> {
        let (bytes, memory) = (bytes(ty)?, memory.min(LOCAL_MEMORY));
        let of_side = |side: i128| {
            let tiles = (1..).step_by(2).map(move |own| Tile { side, own });
            tiles.take_while(move |tile| tile.elements_kept() * bytes <= memory)
        };
        let side = SIDES.into_iter().find(|side| of_side(*side).next().is_some())?;
        let holds = |tile: &Tile| length.is_some_and(|n| n <= tile.length());
        let is_light = |tile: &Tile| tile.own == 1 || tile.elements_kept() * bytes <= SEVERAL_TIMES;
        let many = of_side(side).take_while(|tile| tile.own <= OWN && is_light(tile));
        of_side(side).find(holds).or_else(|| many.last())
    }

    pub(super) fn length(self) -> i128 {
        self.items() * self.own
    }

    fn items(self) -> i128 {
        self.side * self.side
    }

    /// The tile and its result, the folds of its work-items, and what the steps make of these, and of rows.
    fn elements_kept(self) -> i128 {
        let steps = i128::from(self.side.ilog2());
        2 * self.length() + (1 + steps) * self.items() + steps * self.side
    }

    /// `[fold of the tile]`
    pub(super) fn fold(self, cx: &Context, f: &Lambda, tile: &Expr) -> Built {
        let group = Group { cx, b: Build::new(cx), f, tile: self };
        let b = group.b;
        b.let_in("staged", group.staged(tile), |staged| {
            let fold = |own: Expr| b.to(Space::Local, |x| b.id(x), group.fold(&own));
            let mut folds = b.map_as(MapKind::Lcl(0), fold, b.split(Nat::int(self.own), staged))?;
            let mut count = self.items();
            while count > 1 {
                count /= TOGETHER;
                let space = if count > 1 { Space::Local } else { Space::Global };
                let fold = |some: Expr| b.to(space, |x| b.id(x), group.fold(&some));
                let parts = b.split(Nat::int(TOGETHER), folds);
                folds = b.map_as(MapKind::Lcl(0), fold, parts)?;
            }
            Ok(folds)
        })
    }

    /// `map(after, scan(start, f, tile))`
    pub(super) fn scan(
        self,
        cx: &Context,
        f: &Lambda,
        (start, tile): (&Expr, &Expr),
        after: Option<&Lambda>,
    ) -> Built {
        let group = Group { cx, b: Build::new(cx), f, tile: self };
        let b = group.b;
        b.let_in("staged", group.staged(tile), |staged| {
            let own = b.split(Nat::int(self.own), staged)?;
            let fold = |own: Expr| b.to(Space::Local, |x| b.id(x), group.fold(&own));
            let folds = b.map_as(MapKind::Lcl(0), fold, &own);
            b.let_in("folds", folds, |folds| {
                let scanned = |starts| group.states(&starts, &own, after);
                group.starts_from(start, &folds, scanned)
            })
        })
    }
}

/// What a group's steps are made of.
#[derive(Clone, Copy)]
struct Group<'a> {
    cx: &'a Context,
    b: Build<'a>,
    f: &'a Lambda,
    tile: Tile,
}

impl Group<'_> {
    /// The tile in local memory.
    fn staged(&self, tile: &Expr) -> Built {
        let b = self.b;
        let copy = |column| b.map_seq_unroll(|x| b.id(x), column);
        b.to(Space::Local, |tile| self.by_columns(copy, &tile), tile)
    }

    /// A map over all elements, neighbours by neighbouring work-items.
    fn by_columns(&self, f: impl FnOnce(Expr) -> Built, tile: &Expr) -> Built {
        let b = self.b;
        let columns = b.transpose(b.split(Nat::int(self.tile.items()), tile));
        b.join(b.transpose(b.map_as(MapKind::Lcl(0), f, columns)))
    }

    /// The fold of an array from its first element on.
    fn fold(&self, xs: &Expr) -> Built {
        let b = self.b;
        let args = vec![b.head(xs)?, b.drop(Nat::ONE, xs)?];
        self.cx.call(Prim::Reduce(FoldKind::SeqUnroll), vec![], vec![self.f.clone()], args)
    }

    /// What each work-item starts from, given what all of them folded.
    fn starts_from(&self, start: &Expr, folds: &Expr, rest: impl FnOnce(Expr) -> Built) -> Built {
        let (b, side) = (self.b, self.tile.side);
        self.stepped(b.split(Nat::int(side), folds), 1, |rows| {
            let totals = b.map(|row| b.head(b.drop(Nat::int(side - 1), row)), &rows);
            self.stepped(b.split(Nat::int(side), totals), 1, |totals| {
                let of_rows = self.starts(start, &b.join(totals)?);
                let starts = |pair: Expr| self.starts(&b.field(&pair, 0)?, &b.field(&pair, 1)?);
                rest(b.join(b.map(starts, b.zip([of_rows?, rows])))?)
            })
        })
    }

    /// The scans of all work-items, and a function of their elements.
    fn states(&self, starts: &Expr, own: &Expr, after: Option<&Lambda>) -> Built {
        let b = self.b;
        let scan = |pair: Expr| {
            let args = vec![b.field(&pair, 0)?, b.field(&pair, 1)?];
            let states =
                self.cx.call(Prim::Scan(FoldKind::Seq), vec![], vec![self.f.clone()], args);
            b.to(Space::Local, |x| b.id(x), states)
        };
        let scanned = b.join(b.map_as(MapKind::Lcl(0), scan, b.zip([starts, own])))?;
        let store = |x: Expr| match after {
            None => b.to(Space::Global, |x| b.id(x), x),
            Some(g) => self.cx.call(Prim::To(Space::Global), vec![], vec![g.clone()], vec![x]),
        };
        self.by_columns(|column| b.map_seq_unroll(store, column), &scanned)
    }

    /// The scans of rows, each from its first element on, in steps of doubling distance from the given one on.
    fn stepped(&self, rows: Built, distance: i128, rest: impl FnOnce(Expr) -> Built) -> Built {
        let (b, side) = (self.b, self.tile.side);
        if distance >= side {
            return rest(rows?);
        }
        let (near, far) = (Nat::int(distance), Nat::int(side - distance));
        let step = |row: Expr| {
            let pairs = b.zip([b.take(far, &row)?, b.drop(near.clone(), &row)?]);
            let sums = b.map(|pair| self.applied(b.field(&pair, 0), b.field(&pair, 1)), pairs);
            b.concat(b.take(near, &row), sums)
        };
        let next = b.join(b.map(step, rows));
        let kept = b.map_as(MapKind::Lcl(0), |x| b.to(Space::Local, |x| b.id(x), x), next);
        b.let_in("folds", kept, |kept| {
            self.stepped(b.split(Nat::int(side), kept), 2 * distance, rest)
        })
    }

    /// `[start, f(start, xs[0]), f(start, xs[1]), …]` as long as xs, whose last element is left out.
    fn starts(&self, start: &Expr, xs: &Expr) -> Built {
        let b = self.b;
        let before = b.take(Nat::int(self.tile.side - 1), xs);
        b.concat(b.array([start]), b.map(|x| self.applied(start, Ok(x)), before))
    }

    /// `f(a, b)`
    fn applied(&self, a: impl Arg, b: impl Arg) -> Built {
        let [left, right] = self.f.params.as_slice() else { return a.built() };
        let inner = self.cx.let_in(right.clone(), b.built()?, self.f.body.clone())?;
        self.cx.let_in(left.clone(), a.built()?, inner)
    }
}

/// What an element takes in memory.
fn bytes(ty: &Type) -> Option<i128> {
    match ty {
        Type::Scalar(scalar) => i128::try_from(scalar.bytes()).ok(),
        Type::Vector(scalar, width) => Some(i128::try_from(scalar.bytes()).ok()? * width.as_int()?),
        Type::Tuple(components) => components.iter().map(bytes).sum(),
        Type::Array(..) => None,
    }
}
