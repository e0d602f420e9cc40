//! Rows whose lengths are data, in tiles.
//!
//! Before: `map(\r -> E[reduce(z, f, [ e | k in a .. b ])], rs)`.
//! After, `range_cut` twice: a few work-items side by side fold the first elements of a row (`range_lanes`), a group what is beyond
//! them, and of the longest rows of many, several groups fold what is beyond a number that one group does in good time. That is
//!
//! - a kernel that finds the longest rows of each so many, none where they are not long either,
//! - a kernel whose groups fold a part each of what is left of them,
//! - a kernel in which a few work-items fold the beginning of a row, so that a warp reads whole lines of what lies side by side.
//!   Then its groups find their next long row, fold its rest together, and go on from there; where no row is long, as mostly,
//!   they see it at once.

use lift_ir::{
    Boundary, Build, Built, Call, Expr, FoldKind, MapKind, Math, Nat, Param, Space, Type, TypeError,
};

use super::groups::{Folded, WIDEST};
use super::ranges::{Range, only};
use super::{Decider, Level};
use crate::replace::replaced;

/// Elements of a row that a few work-items fold, at most.
const SHORT: i128 = 64;

/// Work-items that fold the beginning of a row.
const LANES: i128 = 4;

/// Rows of a group.
const TILE: i128 = 32;

/// Elements of a row that one group folds, of the longest rows of many.
const LONG: i128 = 2048;

/// Groups that share what is beyond.
const SHARES: i128 = 32;

/// Rows of which the longest are looked for, at least and at most, and in how many parts all rows are for that.
const MANY: (i128, i128) = (32, 4096);
const PARTS: i128 = 256;

/// How many of them are the longest.
const LONGEST: usize = 3;

/// Lengths beyond this are no longer told apart, so that one with a row's number among many is a number of 32 bits.
const LONGEST_TOLD: i128 = (1 << 31) / MANY.1 - 1;

/// A map of rows.
struct Rows<'e> {
    own: &'e Param,
    point: &'e Expr,
    fold: &'e Call,
    range: Range<'e>,
    xs: &'e Expr,
    length: &'e Nat,
    /// Rows of which the longest are looked for.
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
                self.begun(&rows, &longest, &tails)
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
        let both = b.zip([self.expr(rows.xs, Level::Fused)?, numbers])?;
        let all = rows.length.ceil_div(&Nat::int(tile)) * Nat::int(tile);
        b.split(Nat::int(tile), b.pad(Nat::ZERO, &all - rows.length, Boundary::Clamp, both))
    }

    /// The numbers of the longest rows of each so many, -1 in place of one that is not long.
    fn longest(&self, rows: &Rows) -> Built {
        let b = Build::new(self.cx);
        let many = b.i32(rows.many as i32);
        let keys = Type::Tuple(vec![Type::I32; LONGEST].into());
        let none = b.tuple(std::iter::repeat_n(b.i32(0), LONGEST))?;
        let most = b.lambda([("a", keys.clone()), ("b", keys)], |[x, y]| self.largest(&x, &y))?;
        // Which of two rows is longer, or else comes later, is which key is larger.
        let key = |row: Expr| {
            let length = self.length(rows, &b.field(&row, 0)?)?;
            b.add(b.mul(length, b.i32(MANY.1 as i32)), b.rem(b.field(&row, 1), &many))
        };
        let lanes = rows.many.min(WIDEST);
        let in_many = |part: Expr| {
            let (tile, number) = (b.field(&part, 0)?, b.field(&part, 1)?);
            let columns = b.transpose(b.split(Nat::int(lanes), tile))?;
            let of_lane = |rows: Expr| {
                let step = |acc: Expr, row| b.let_in("key", key(row), |key| self.with(&acc, &key));
                b.reduce_seq(&none, step, rows)
            };
            let found = self.fold_lanes(&Folded { z: &none, f: &most }, columns, lanes, of_lane);
            b.let_in("longest", found, |found| {
                let long = |at: usize| {
                    let key = b.field(&found, at as u32)?;
                    let is_long = b.le(b.i32(((LONG + 1) * MANY.1) as i32), &key)?;
                    let own = b.rem(&key, b.i32(MANY.1 as i32))?;
                    b.if_then(is_long, b.add(b.mul(&number, &many), own), b.i32(-1))
                };
                b.tuple((0..LONGEST).map(long).collect::<Result<Vec<_>, _>>()?)
            })
        };
        let tiles = self.numbered(rows, rows.many)?;
        let parts = tiles.ty().as_array().map_or(Nat::ZERO, |(_, n)| n.clone());
        let numbers = b.generate(parts, Ok)?;
        b.map_as(MapKind::Wrg(0), in_many, b.zip([tiles, numbers]))
    }

    /// Of two descending tuples of keys the largest of all, descending: a key is the n-th of both if it is the i-th of one, and
    /// the (n - i)-th of the other is no smaller; of all such pairs the smaller keys are at most as large.
    fn largest(&self, x: &Expr, y: &Expr) -> Built {
        let b = Build::new(self.cx);
        let nth = |n: usize| {
            let mut largest = b.math(Math::Max, [b.field(x, n as u32)?, b.field(y, n as u32)?])?;
            for i in 0..n {
                let pair = [b.field(x, i as u32)?, b.field(y, (n - 1 - i) as u32)?];
                largest = b.math(Math::Max, [largest, b.math(Math::Min, pair)?])?;
            }
            Ok(largest)
        };
        b.tuple((0..LONGEST).map(nth).collect::<Result<Vec<_>, TypeError>>()?)
    }

    /// The same of a tuple and one key.
    fn with(&self, x: &Expr, key: &Expr) -> Built {
        let b = Build::new(self.cx);
        let nth = |n: usize| {
            let below = match n.checked_sub(1) {
                Some(above) => b.math(Math::Min, [b.field(x, above as u32)?, key.clone()])?,
                None => key.clone(),
            };
            b.math(Math::Max, [b.field(x, n as u32)?, below])
        };
        b.tuple((0..LONGEST).map(nth).collect::<Result<Vec<_>, TypeError>>()?)
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
        let is = |at: usize| b.eq(b.field(b.at(&part, longest), at as u32), number);
        let (mut place, mut is_any) = (b.i32(0), is(0)?);
        for at in 1..LONGEST {
            place = b.if_then(is(at)?, b.i32(at as i32), place)?;
            is_any = b.or(is_any, is(at)?)?;
        }
        Ok((b.add(b.mul(b.i32(LONGEST as i32), part), place)?, is_any))
    }

    /// How long a row is, as far as lengths are told apart; 0 where its bounds decrease.
    fn length(&self, rows: &Rows, row: &Expr) -> Built {
        let b = Build::new(self.cx);
        let (low, high) = (rows.range.low, rows.range.high);
        let most = b.i32(LONGEST_TOLD as i32);
        // Where the difference wraps, it is negative, and the row longer than any.
        let length = b.sub(high, low)?;
        let fits = b.and(b.le(b.i32(0), &length)?, b.lt(&length, &most)?)?;
        let length = b.if_then(fits, length, most)?;
        let length = b.if_then(b.lt(low, high), length, b.i32(0))?;
        self.about(rows, row, &length, Level::Inside)
    }

    /// What several groups fold each, of the longest rows.
    fn tails(&self, rows: &Rows, longest: &Expr) -> Built {
        let b = Build::new(self.cx);
        let none = self.expr(rows.range.z, Level::Inside)?;
        let of_part = |numbers: Expr| {
            let share = |share: Expr| {
                let of_row = |place: Expr| {
                    let mut at = b.field(&numbers, 0)?;
                    for other in 1..LONGEST {
                        let is = b.eq(&place, b.i32(other as i32))?;
                        at = b.if_then(is, b.field(&numbers, other as u32), at)?;
                    }
                    b.let_in("at", at, |at| {
                        let row = b.at(&at, self.expr(rows.xs, Level::Fused)?)?;
                        let first = self.beyond(rows.range.low, LONG)?;
                        let lane = |own| b.add(b.mul(&share, b.i32(WIDEST as i32)), own);
                        let part =
                            self.by_lanes(rows, &first, rows.range.high, WIDEST, SHARES, lane)?;
                        let part = self.about(rows, &row, &part, Level::Inside)?;
                        b.if_then(b.le(b.i32(0), &at), part, &none)
                    })
                };
                b.map_as(MapKind::Seq, of_row, b.generate(Nat::int(LONGEST as i128), Ok))
            };
            b.transpose(b.map_as(MapKind::Wrg(0), share, b.generate(Nat::int(SHARES), Ok)))
        };
        b.join(b.map_as(MapKind::Wrg(1), of_part, longest.clone()))
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

    /// What is behind the beginning of each row of a tile, with a number that says nothing: the work-items find the next row of
    /// which something is left, fold it together, and go on from there.
    fn rests(&self, rows: &Rows, longest: &Expr, tile: &Expr) -> Built {
        let b = Build::new(self.cx);
        let (low, high) = (rows.range.low, rows.range.high);
        let is_left = b.let_in("middle", self.middle(low, high), |m| b.lt(m, high))?;
        let next = |behind: Expr| self.next(rows, tile, &is_left, &behind);
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
                let row = b.at(&at, tile)?;
                let number = self.cx.fresh("number", Type::I32);
                // Other groups have folded the end of one of the longest.
                let (_, is_cut) = self.among_longest(rows, longest, &self.cx.var(&number))?;
                // Bounds are read once, by all work-items of the group.
                let part = b.let_in("low", low.clone(), |low| {
                    b.let_in("high", high.clone(), |high| {
                        let end = b.if_then(&is_cut, self.beyond(&low, LONG), &high);
                        b.let_in("end", end, |end| {
                            b.let_in("middle", self.middle(&low, &high), |middle| {
                                self.by_lanes(rows, &middle, &end, TILE * LANES, 1, Ok)
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
        b.field(found, 0)
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
        // Few rows are long, and only of those the numbers are read.
        let is_long = b.lt(b.i32(LONG as i32), b.sub(range.high, range.low))?;
        let is_longest = b.and(is_long, is_longest)?;
        let all = self.in_order(&Folded { z: range.z, f: range.f }, b.at(place, tails)?)?;
        b.if_then(is_longest, all, range.z)
    }

    /// All rows, of which the ends of the longest are there. A range that decreases is told here.
    fn begun(&self, rows: &Rows, longest: &Expr, tails: &Expr) -> Built {
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
            let items = b.generate(Nat::int(TILE * LANES), Ok)?;
            let each = |pair: Expr| {
                let (row, number) =
                    (b.field(b.field(&pair, 0), 0)?, b.field(b.field(&pair, 0), 1)?);
                let fold = Folded { z: range.z, f: range.f };
                let begun = self.in_order(&fold, b.field(&pair, 1)?)?;
                let rest = b.field(b.field(&pair, 2), 0)?;
                let tail = self.tail(rows, longest, &number, tails)?;
                let rest = range.folded(self, rest, tail)?;
                let whole = range.folded(self, begun, rest)?;
                let decreasing = range.over(self, FoldKind::Any, range.low, range.high)?;
                let whole = b.if_then(b.le(range.low, range.high), whole, decreasing)?;
                let body = replaced(cx, rows.point, &[(rows.fold, whole)])?;
                let body = cx.substitute(&body, &[(rows.own.clone(), row)]);
                self.expr(&body, Level::Inside)
            };
            b.let_in("begun", b.map_as(MapKind::Lcl(0), of_lane, items), |begun| {
                b.let_in("rests", self.rests(rows, longest, &tile), |rests| {
                    let begun = b.split(Nat::int(LANES), begun)?;
                    b.map_as(MapKind::Lcl(0), each, b.zip([tile.clone(), begun, rests]))
                })
            })
        };
        let made = b.map_as(MapKind::Wrg(0), in_tile, self.numbered(rows, TILE)?)?;
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
