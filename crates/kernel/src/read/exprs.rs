//! Values and indices.

use lift_ir::{BinaryOp, Literal, Math, Nat, Pred, Scalar, UnaryOp, Var};

use super::cursor::{Cursor, split};
use super::{Named, Read, Reader};
use crate::{Access, Expr, ValueType};

/// Values inside of each other.
const DEEPEST: usize = 500;

impl Reader {
    pub(super) fn nat(&self, text: &str) -> Read<Nat> {
        let nat = index(text)?;
        nat.vars().iter().try_for_each(|v| self.index_of(v).map(drop))?;
        Ok(self.resolved(&nat))
    }

    /// As [`Reader::nat`], also of sizes that the host alone knows.
    pub(super) fn host_nat(&self, text: &str) -> Read<Nat> {
        Ok(self.resolved(&index(text)?))
    }

    fn resolved(&self, nat: &Nat) -> Nat {
        nat.substitute(&|v| self.index_of(v).ok().map(|v| Nat::var(&v)))
    }

    fn pred(&self, text: &str) -> Read<Pred> {
        let mut all = lift_ir::parse_preds(text)
            .map_err(|error| format!("`{text}` is no condition: {error}"))?;
        all.iter().flat_map(Pred::vars).try_for_each(|v| self.index_of(&v).map(drop))?;
        let pred = if all.len() == 1 { all.remove(0) } else { Pred::And(all) };
        Ok(pred.substitute(&|v| self.index_of(v).ok().map(|v| Nat::var(&v))))
    }

    fn index_of(&self, var: &Var) -> Read<Var> {
        match self.names.get(var.name()) {
            Some(Named::Index(var)) => Ok(var.clone()),
            Some(Named::Register(_)) => Err(format!(
                "`{}` is a variable: an index takes its value by `index i = {0}`",
                var.name()
            )),
            None => Err(format!("there is no index `{}` here", var.name())),
        }
    }

    /// `[4*i; stage k; items (l0); 4 aligned]` of an array, and the type of a load.
    pub(super) fn access(&self, name: &str, cursor: &mut Cursor<'_>) -> Read<(Access, ValueType)> {
        let (buffer, scalar) =
            *self.buffers.get(name).ok_or_else(|| format!("there is no array `{name}`"))?;
        let parts = cursor.parts('[', ']', ';')?;
        let (index, clauses) = parts.split_first().ok_or("an access says where")?;
        let mut access = Access {
            buffer,
            index: self.nat(index)?,
            stage: Nat::ZERO,
            items: Vec::new(),
            width: 1,
            aligned: false,
        };
        for clause in clauses {
            let mut clause = Cursor::new(clause);
            if clause.eat("stage") {
                access.stage = self.nat(clause.rest())?;
            } else if clause.eat("items") {
                let items = clause.parts('(', ')', ',')?;
                access.items = items.iter().map(|n| self.nat(n)).collect::<Read<_>>()?;
                clause.end()?;
            } else {
                access.width = clause.number()?;
                access.aligned = clause.eat("aligned");
                clause.end()?;
            }
        }
        let ty = ValueType::vector(scalar, access.width);
        Ok((access, ty))
    }

    /// An expression up to the end of the line.
    pub(super) fn last_expr(&mut self, cursor: &mut Cursor<'_>) -> Read<Expr> {
        let value = self.expr(cursor)?;
        cursor.end()?;
        Ok(value)
    }

    pub(super) fn expr(&mut self, cursor: &mut Cursor<'_>) -> Read<Expr> {
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return Err("values are nested too deep".to_string());
        }
        let mut value = self.primary(cursor)?;
        while cursor.rest().starts_with('.') {
            cursor.expect(".")?;
            value = Expr::Lane(Box::new(value), cursor.number()?);
        }
        self.nesting -= 1;
        Ok(value)
    }

    fn primary(&mut self, cursor: &mut Cursor<'_>) -> Read<Expr> {
        if let Some(literal) = literal(cursor)? {
            return Ok(Expr::Literal(literal));
        }
        if cursor.eat("(") {
            let value = self.bracketed(cursor)?;
            cursor.expect(")")?;
            return Ok(value);
        }
        let name = cursor.name()?;
        match cursor.rest().chars().next() {
            Some('(') => self.call(name, cursor),
            Some('[') => {
                let (access, ty) = self.access(name, cursor)?;
                Ok(Expr::Load(access, ty))
            }
            _ => match self.names.get(name) {
                Some(Named::Register(var)) => Ok(Expr::Var(var.clone())),
                Some(Named::Index(_)) => {
                    Err(format!("`{name}` is an index: as a value it is `index({name}: i32)`"))
                }
                None if name == "extern" => self.extern_call(cursor),
                None => Err(format!("there is no variable `{name}` here")),
            },
        }
    }

    /// What stands in parentheses: a choice, or an operator and its operands.
    fn bracketed(&mut self, cursor: &mut Cursor<'_>) -> Read<Expr> {
        if cursor.peek_name() == "if" {
            cursor.expect("if")?;
            let condition = self.expr(cursor)?;
            cursor.expect("then")?;
            let then = self.expr(cursor)?;
            cursor.expect("else")?;
            let otherwise = self.expr(cursor)?;
            return Ok(Expr::Select(Box::new(condition), Box::new(then), Box::new(otherwise)));
        }
        // `(-1.0)` is the opposite of 1, `(-1.0 + x)` a sum.
        let mut ahead = cursor.clone();
        let number = literal(&mut ahead).ok().flatten();
        let alone = ahead.rest().starts_with(')');
        let unary = [("-", UnaryOp::Neg), ("!", UnaryOp::Not), ("~", UnaryOp::BitNot)];
        for (symbol, op) in unary {
            if (number.is_none() || alone) && cursor.eat(symbol) {
                return Ok(Expr::Unary(op, Box::new(self.expr(cursor)?)));
            }
        }
        let first = self.expr(cursor)?;
        if cursor.eat("as") {
            let ty = cursor.ty()?;
            return Ok(special(&first, ty).unwrap_or(Expr::Cast(ty, Box::new(first))));
        }
        let symbol = cursor.rest().split(' ').next().unwrap_or_default();
        let op = BinaryOp::ALL.iter().find(|op| op.symbol() == symbol);
        let op = *op.ok_or_else(|| format!("an operator is expected, not `{}`", cursor.rest()))?;
        cursor.expect(symbol)?;
        Ok(Expr::Binary(op, Box::new(first), Box::new(self.expr(cursor)?)))
    }

    /// `index(i: i32)`, `test(i < N)`, `vector(f32: a, b)`, `splat(4: a)`, `shuffle(16: a)`, `max(a, b)`
    fn call(&mut self, name: &str, cursor: &mut Cursor<'_>) -> Read<Expr> {
        let inside = cursor.inside('(', ')')?;
        let cut = || {
            let at = match name {
                "index" => inside.rfind(':'),
                _ => inside.find(':'),
            };
            let at = at.ok_or_else(|| format!("`{name}` has a `:`"))?;
            Ok::<_, String>((inside[..at].trim(), inside[at + 1..].trim()))
        };
        match name {
            "index" => {
                let (nat, scalar) = cut()?;
                Ok(Expr::Index(self.nat(nat)?, Cursor::new(scalar).scalar()?))
            }
            "test" => Ok(Expr::Test(self.pred(inside)?)),
            "vector" => {
                let (scalar, args) = cut()?;
                Ok(Expr::Vector(Cursor::new(scalar).scalar()?, self.exprs(args)?))
            }
            "splat" => {
                let (width, value) = cut()?;
                let value = self.last_expr(&mut Cursor::new(value))?;
                Ok(Expr::Splat(Cursor::new(width).number()?, Box::new(value)))
            }
            "shuffle" => {
                let (bit, value) = cut()?;
                let value = self.last_expr(&mut Cursor::new(value))?;
                Ok(Expr::Shuffle(Cursor::new(bit).number()?, Box::new(value)))
            }
            name => {
                let math = Math::ALL.iter().find(|math| math.name() == name);
                let math = *math.ok_or_else(|| format!("there is no function `{name}`"))?;
                Ok(Expr::Math(math, self.exprs(inside)?))
            }
        }
    }

    fn extern_call(&mut self, cursor: &mut Cursor<'_>) -> Read<Expr> {
        let name = cursor.name()?;
        let function = self.functions.get(name).cloned();
        let function = function.ok_or_else(|| format!("there is no target code `{name}`"))?;
        Ok(Expr::Extern(function, self.exprs(cursor.inside('(', ')')?)?))
    }

    fn exprs(&mut self, text: &str) -> Read<Vec<Expr>> {
        split(text, ',').into_iter().map(|part| self.last_expr(&mut Cursor::new(part))).collect()
    }
}

fn index(text: &str) -> Read<Nat> {
    lift_ir::parse_nat(text).map_err(|error| format!("`{text}` is no index: {error}"))
}

/// `inf` and `nan` of a type that is not `f32`.
fn special(value: &Expr, ty: ValueType) -> Option<Expr> {
    let Expr::Literal(literal @ Literal::F32(_)) = value else { return None };
    let number = literal.as_f64().filter(|x| !x.is_finite() && ty.width == 1)?;
    Literal::float(ty.scalar, number).map(Expr::Literal)
}

/// A literal that comes next: `1.5`, `-7i64`, `true`, `inf`.
fn literal(cursor: &mut Cursor<'_>) -> Read<Option<Literal>> {
    match cursor.peek_name() {
        "true" | "false" => return Ok(Some(Literal::Bool(cursor.name()? == "true"))),
        "inf" | "nan" => {
            let name = cursor.name()?;
            return Ok(Literal::parse_float(Scalar::F32, name));
        }
        _ => {}
    }
    let text = cursor.rest();
    let sign = usize::from(text.starts_with('-'));
    if text[sign..].starts_with("inf") && sign == 1 {
        cursor.expect("-")?;
        cursor.name()?;
        return Ok(Literal::float(Scalar::F32, f64::NEG_INFINITY));
    }
    if !text[sign..].starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let mut end = sign;
    for (at, c) in text.char_indices().skip(sign) {
        let in_exponent = matches!(c, '+' | '-') && text[..at].ends_with('e');
        if !(c.is_ascii_alphanumeric() || c == '.' || in_exponent) {
            break;
        }
        end = at + 1;
    }
    let written = &text[..end];
    let typed = Scalar::ALL.iter().find_map(|s| Some((written.strip_suffix(s.name())?, *s)));
    let (digits, scalar) = typed
        .unwrap_or((written, if written.contains(['.', 'e']) { Scalar::F32 } else { Scalar::I32 }));
    let found = match scalar.is_float() {
        true => Literal::parse_float(scalar, digits),
        false => digits.parse().ok().and_then(|v| Literal::int(scalar, v)),
    };
    let found = found.ok_or_else(|| format!("`{written}` is no number"))?;
    cursor.expect(written)?;
    Ok(Some(found))
}
