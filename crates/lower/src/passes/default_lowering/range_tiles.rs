//! Rows whose lengths are data, in tiles.
//!
//! Before: `map(\r -> E[reduce(z, f, [ e | k in a .. b ])], rs)`.
//! After, `range_cut` twice: a few work-items side by side fold the first elements of a row (`range_lanes`), a group what is beyond
//! them, and of the two longest rows of many, several groups fold what is beyond a number that one group does in good time. That is
//!
//! - a kernel that finds the two longest rows of each so many, none where they are not long either,
//! - a kernel whose groups fold a part each of what is left of them,
//! - a kernel whose groups have as many rows as work-items. They find the next long row together, fold its rest together, and
//!   go on from there; where no row is long, as mostly, they see it at once,
//! - a kernel in which a few work-items fold the beginning of a row, so that a warp reads whole lines of what lies side by side.

use lift_ir::{
    Boundary, Build, Built, Call, Expr, FoldKind, Literal, MapKind, Math, Nat, Param, Scalar,
    Space, Type, TypeError,
};

use super::groups::{Folded, WIDEST};
use super::ranges::{Range, only};
use super::{Decider, Level};
use crate::replace::replaced;

/// Elements of a row that a few work-items fold, at most.
const SHORT: i128 = 64;

/// Work-items that fold the beginning of a row.
const LANES: i128 = 4;

/// Rows of which a group folds the beginnings.
const BEGUN: i128 = 32;

/// Elements of a row that one group folds, of the longest row of many.
const LONG: i128 = 1024;

/// Groups that share what is beyond.
const SHARES: i128 = 16;

/// Rows of which a group folds the rests.
const TILE: i128 = 128;

/// Rows of which the two longest are looked for, at least and at most, and in how many parts all rows are for that.
const MANY: (i128, i128) = (16, 4096);
const PARTS: i128 = 256;

/// The numbers of rows are below this.
const NUMBERS: i128 = 1 << 31;

/// A map of rows.
struct Rows<'e> {
    own: &'e Param,
    point: &'e Expr,
    fold: &'e Call,
    range: Range<'e>,
    xs: &'e Expr,
    length: &'e Nat,
    /// Rows of which the two longest are looked for.
    many: i128,
}

impl Decider<'_> {
    /// A map of rows whose lengths are data.
    pub(super) fn in_tiles(
        &self,
        call: &Call,
        point: &Expr,
        fold: &Call,
    ) -> Result<Option<Expr>, TypeError> {
        let (Some(f), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return Ok(None);
        };
        let ([own], Some(range)) = (f.params.as_slice(), Range::of(fold)) else { return Ok(None) };
        let Some((_, length)) = xs.ty().as_array() else { return Ok(None) };
        // Of bounds of 64 bits, the sum of one and a length might not fit.
        if *range.low.ty() != Type::I32 {
            return Ok(None);
        }
        let many = match length.as_int() {
            Some(rows) => power_of_two((rows / PARTS).clamp(MANY.0, MANY.1)),
            None => MANY.1,
        };
        let rows = Rows { own, point, fold, range, xs, length, many };
        let b = Build::new(self.cx);
        let made = b.let_in("longest", self.longest(&rows), |longest| {
            b.let_in("tails", self.tails(&rows, &longest), |tails| {
                b.let_in("rests", self.rests(&rows, &longest, &tails), |rests| {
                    self.begun(&rows, &rests)
                })
            })
        });
        made.map(Some)
    }

    /// Something about the range of a row, lowered.
    fn about(&self, rows: &Rows, row: &Expr, what: &Expr, level: Level) -> Built {
        let made = only(self, rows.point, rows.fold, what)?.unwrap_or_else(|| what.clone());
        let made = self.expr(&made, level)?;
        Ok(self.cx.substitute(&made, &[(rows.own.clone(), row.clone())]))
    }

    /// Rows with their numbers, as tiles.
    fn numbered(&self, rows: &Rows, tile: i128) -> Built {
        let b = Build::new(self.cx);
        let numbers = b.generate(rows.length.clone(), Ok)?;
        self.beside(rows, numbers, tile)
    }

    /// Rows with something of each, as tiles.
    fn beside(&self, rows: &Rows, others: Expr, tile: i128) -> Built {
        let b = Build::new(self.cx);
        let both = b.zip([self.expr(rows.xs, Level::Fused)?, others])?;
        let all = rows.length.ceil_div(&Nat::int(tile)) * Nat::int(tile);
        b.split(Nat::int(tile), b.pad(Nat::ZERO, &all - rows.length, Boundary::Clamp, both))
    }

    /// The numbers of the two longest rows of each so many, -1 in place of one that is not long.
    fn longest(&self, rows: &Rows) -> Built {
        let b = Build::new(self.cx);
        let number = |n: i128| self.cx.literal(Literal::Int(Scalar::I64, n));
        let key = Type::Scalar(Scalar::I64);
        let two = Type::Tuple([key.clone(), key].into());
        // The two largest of a pair and two more.
        let both = |x: &Expr, first: &Expr, second: Expr| {
            let less = b.math(Math::Min, [b.field(x, 0)?, first.clone()])?;
            let more = b.math(Math::Max, [b.field(x, 0)?, first.clone()])?;
            let others = b.math(Math::Max, [b.field(x, 1)?, second])?;
            b.tuple([more, b.math(Math::Max, [less, others])?])
        };
        let most = b.lambda([("a", two.clone()), ("b", two)], |[x, y]| {
            both(&x, &b.field(&y, 0)?, b.field(&y, 1)?)
        })?;
        let lanes = rows.many.min(WIDEST);
        let none = b.tuple([number(0), number(0)])?;
        let key = |row: Expr| {
            let length = self.length(rows, &b.field(&row, 0)?)?;
            b.add(b.mul(length, number(NUMBERS)), b.cast(b.field(&row, 1), Scalar::I64))
        };
        let in_many = |tile: Expr| {
            let columns = b.transpose(b.split(Nat::int(lanes), tile))?;
            let of_lane = |rows: Expr| {
                let step =
                    |acc: Expr, row| b.let_in("key", key(row), |key| both(&acc, &key, number(0)));
                b.reduce_seq(&none, step, rows)
            };
            let found = self.fold_lanes(&Folded { z: &none, f: &most }, columns, lanes, of_lane);
            b.let_in("longest", found, |found| {
                let long = |at: u32| {
                    let key = b.field(&found, at)?;
                    let is_long = b.le(number((LONG + 1) * NUMBERS), &key)?;
                    let own = b.cast(b.rem(&key, number(NUMBERS)), Scalar::I32)?;
                    b.if_then(is_long, own, b.i32(-1))
                };
                b.tuple([long(0)?, long(1)?])
            })
        };
        b.map_as(MapKind::Wrg(0), in_many, self.numbered(rows, rows.many)?)
    }

    /// The place of a row among the longest ones, whether it is one of them or not, and whether it is.
    fn among_longest(
        &self,
        rows: &Rows,
        longest: &Expr,
        number: &Expr,
    ) -> Result<(Expr, Expr), TypeError> {
        let b = Build::new(self.cx);
        let part = b.div(number, b.i32(rows.many as i32))?;
        let is = |at: u32| b.eq(b.field(b.at(&part, longest), at), number);
        let place = b.add(b.mul(b.i32(2), &part), b.if_then(is(0)?, b.i32(0), b.i32(1)))?;
        Ok((place, b.or(is(0)?, is(1)?)?))
    }

    /// How long a row is, at most as long as an `i32` says; 0 where its bounds decrease.
    fn length(&self, rows: &Rows, row: &Expr) -> Built {
        let b = Build::new(self.cx);
        let number = |n: i128| self.cx.literal(Literal::Int(Scalar::I64, n));
        let (low, high) = (rows.range.low, rows.range.high);
        let length = b.sub(b.cast(high, Scalar::I64), b.cast(low, Scalar::I64))?;
        let length =
            b.math(Math::Max, [number(0), b.math(Math::Min, [length, number(NUMBERS - 1)])?])?;
        let length = b.if_then(b.lt(low, high), length, number(0))?;
        self.about(rows, row, &length, Level::Inside)
    }

    /// What several groups fold each, of the longest rows.
    fn tails(&self, rows: &Rows, longest: &Expr) -> Built {
        let b = Build::new(self.cx);
        let none = self.expr(rows.range.z, Level::Inside)?;
        let of_row = |at: Expr| {
            let share = |share: Expr| {
                let row = b.at(&at, self.expr(rows.xs, Level::Fused)?)?;
                let first = self.beyond(rows.range.low, LONG)?;
                let lane = |own| b.add(b.mul(&share, b.i32(WIDEST as i32)), own);
                let part = self.by_lanes(rows, &first, rows.range.high, WIDEST, SHARES, lane)?;
                let part = self.about(rows, &row, &part, Level::Inside)?;
                b.if_then(b.le(b.i32(0), &at), part, &none)
            };
            b.map_as(MapKind::Wrg(0), share, b.generate(Nat::int(SHARES), Ok))
        };
        let parts = longest.ty().as_array().map_or(Nat::ZERO, |(_, n)| n.clone());
        let one_by_one = b.generate(Nat::int(2) * parts, |place| {
            let two = b.at(b.div(&place, b.i32(2)), longest)?;
            let is_first = b.eq(b.rem(&place, b.i32(2)), b.i32(0))?;
            b.if_then(is_first, b.field(&two, 0), b.field(&two, 1))
        })?;
        b.map_as(MapKind::Wrg(1), of_row, one_by_one)
    }

    /// A fold over a part of a row's range by the lanes of one of several groups, to be lowered no more.
    fn by_lanes(
        &self,
        rows: &Rows,
        low: &Expr,
        high: &Expr,
        width: i128,
        groups: i128,
        lane: impl FnOnce(Expr) -> Built,
    ) -> Built {
        let b = Build::new(self.cx);
        let range = &rows.range;
        b.let_in("low", low.clone(), |low| {
            b.let_in("high", high.clone(), |high| {
                let own = Range { low: &low, high: &high, ..*range };
                self.range_by_lanes(&own, width, width * groups, None, lane)
            })
        })
    }

    /// What is behind the beginning of each row, by groups with as many rows as work-items. A range that decreases is told here.
    fn rests(&self, rows: &Rows, longest: &Expr, tails: &Expr) -> Built {
        let b = Build::new(self.cx);
        let (low, high) = (rows.range.low, rows.range.high);
        // Whether other groups have folded the end of a row.
        let is_longest =
            |number: &Expr| self.among_longest(rows, longest, number).map(|(_, is)| is);
        let is_left = b.let_in("middle", self.middle(low, high), |m| b.lt(m, high))?;
        let in_tile = |tile: Expr| {
            let next = |behind: Expr| self.next(rows, &tile, &is_left, &behind);
            let begin = |row: Expr| {
                let none = self.expr(rows.range.z, Level::Inside)?;
                b.let_in("first", next(b.i32(-1)), |first| {
                    let each = |_| b.to(Space::Local, Ok, b.tuple([none.clone(), first.clone()]));
                    b.map_as(MapKind::Lcl(0), each, row.clone())
                })
            };
            let at = |state: &Expr| b.field(b.at(b.i32(0), state), 1);
            let done = |state: Expr| b.eq(at(&state), b.i32(TILE as i32));
            let one = |state: Expr| {
                b.let_in("at", at(&state), |at| {
                    let row = b.at(&at, &tile)?;
                    let number = self.cx.fresh("number", Type::I32);
                    let is_cut = is_longest(&self.cx.var(&number))?;
                    // Bounds are read once, by all work-items of the group.
                    let part = b.let_in("low", low.clone(), |low| {
                        b.let_in("high", high.clone(), |high| {
                            let end = b.if_then(&is_cut, self.beyond(&low, LONG), &high);
                            b.let_in("end", end, |end| {
                                b.let_in("middle", self.middle(&low, &high), |middle| {
                                    self.by_lanes(rows, &middle, &end, TILE, 1, Ok)
                                })
                            })
                        })
                    })?;
                    let part = self.about(rows, &b.field(&row, 0)?, &part, Level::Inside)?;
                    let part = self.cx.let_in(number, b.field(&row, 1)?, part)?;
                    b.let_in("rest", part, |rest| {
                        b.let_in("next", next(at.clone()), |next| {
                            let each = |pair: Expr| {
                                let is_own = b.eq(b.field(&pair, 1), &at)?;
                                let old = b.field(b.field(&pair, 0), 0)?;
                                let new = b.if_then(is_own, &rest, old)?;
                                b.to(Space::Local, Ok, b.tuple([new, next.clone()]))
                            };
                            let numbers = b.generate(Nat::int(TILE), Ok)?;
                            b.map_as(MapKind::Lcl(0), each, b.zip([state.clone(), numbers]))
                        })
                    })
                })
            };
            let found = b.iterate_until(Nat::int(TILE), done, one, begin(tile.clone())?)?;
            b.let_in("rests", b.field(found, 0), |rests| {
                let each = |pair: Expr| {
                    let (row, rest) = (b.field(&pair, 0)?, b.field(b.field(&pair, 1), 0)?);
                    let tail = self.tail(rows, longest, &b.field(&row, 1)?, tails)?;
                    let rest = rows.range.folded(self, rest, tail)?;
                    let decreasing = rows.range.over(self, FoldKind::Any, low, high)?;
                    let whole = b.if_then(b.le(low, high), rest, decreasing)?;
                    self.about(rows, &b.field(&row, 0)?, &whole, Level::Inside)
                };
                b.map_as(MapKind::Lcl(0), each, b.zip([tile.clone(), rests]))
            })
        };
        let made = b.map_as(MapKind::Wrg(0), in_tile, self.numbered(rows, TILE)?)?;
        b.take(rows.length.clone(), b.join(made))
    }

    /// The place of the next row of a tile of which something is left for the group, the length of the tile if there is none.
    fn next(&self, rows: &Rows, tile: &Expr, is_left: &Expr, behind: &Expr) -> Built {
        let b = Build::new(self.cx);
        let none = b.i32(TILE as i32);
        let least =
            b.lambda([("a", Type::I32), ("b", Type::I32)], |[x, y]| b.math(Math::Min, [x, y]))?;
        let each = |pair: Expr| {
            let row = b.field(b.field(&pair, 0), 0)?;
            let is_left = self.about(rows, &row, is_left, Level::Inside)?;
            let at = b.field(&pair, 1)?;
            b.if_then(b.and(b.lt(behind, &at), is_left), at, &none)
        };
        let numbers = b.generate(Nat::int(TILE), Ok)?;
        let lanes = b.zip([tile.clone(), numbers])?;
        self.fold_lanes(&Folded { z: &none, f: &least }, lanes, TILE, each)
    }

    /// What several groups have folded of the row of a number, z where it is none of theirs.
    fn tail(&self, rows: &Rows, longest: &Expr, number: &Expr, tails: &Expr) -> Built {
        let b = Build::new(self.cx);
        let range = &rows.range;
        let (place, is_longest) = self.among_longest(rows, longest, number)?;
        let all = self.in_order(&Folded { z: range.z, f: range.f }, b.at(place, tails)?)?;
        b.if_then(is_longest, all, range.z)
    }

    /// All rows, of which the rests are there.
    fn begun(&self, rows: &Rows, rests: &Expr) -> Built {
        let (cx, b) = (self.cx, Build::new(self.cx));
        let range = &rows.range;
        let in_tile = |tile: Expr| {
            let of_lane = |item: Expr| {
                let row = b.field(b.at(b.div(&item, b.i32(LANES as i32)), &tile), 0)?;
                let lane = b.rem(&item, b.i32(LANES as i32))?;
                let part = b.let_in("low", range.low.clone(), |low| {
                    b.let_in("middle", self.middle(&low, range.high), |middle| {
                        let own = Range { low: &low, high: &middle, ..*range };
                        own.of_lane(self, &lane, LANES, None)
                    })
                })?;
                let part = self.about(rows, &row, &part, Level::Inside)?;
                b.to(Space::Local, Ok, part)
            };
            let items = b.generate(Nat::int(BEGUN * LANES), Ok)?;
            let each = |pair: Expr| {
                let (row, rest) = (b.field(b.field(&pair, 0), 0)?, b.field(b.field(&pair, 0), 1)?);
                let fold = Folded { z: range.z, f: range.f };
                let begun = self.in_order(&fold, b.field(&pair, 1)?)?;
                let body =
                    replaced(cx, rows.point, &[(rows.fold, range.folded(self, begun, rest)?)])?;
                let body = cx.substitute(&body, &[(rows.own.clone(), row)]);
                self.expr(&body, Level::Inside)
            };
            b.let_in("begun", b.map_as(MapKind::Lcl(0), of_lane, items), |begun| {
                let begun = b.split(Nat::int(LANES), begun)?;
                b.map_as(MapKind::Lcl(0), each, b.zip([tile.clone(), begun]))
            })
        };
        let made = b.map_as(MapKind::Wrg(0), in_tile, self.beside(rows, rests.clone(), BEGUN)?)?;
        b.take(rows.length.clone(), b.join(made))
    }

    /// [`SHORT`] behind the first number, or the end where that comes before. Nothing wraps.
    fn middle(&self, low: &Expr, high: &Expr) -> Built {
        let b = Build::new(self.cx);
        // Where the difference wraps, it is negative, and nothing is left for a group.
        let grows = b.lt(low, high)?;
        let is_long = b.lt(b.i32(SHORT as i32), b.sub(high, low))?;
        b.if_then(b.and(grows, is_long)?, self.beyond(low, SHORT), high)
    }

    /// A number so far behind another.
    fn beyond(&self, low: &Expr, by: i128) -> Built {
        let b = Build::new(self.cx);
        b.add(low, b.i32(by as i32))
    }
}

/// The least power of two that is no smaller.
fn power_of_two(n: i128) -> i128 {
    let bits = (n.max(1) - 1).checked_ilog2().map_or(0, |last| last + 1);
    1 << bits
}
