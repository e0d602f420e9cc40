//! Prints expressions and definitions as source text that parses back to the same program.
//!
//! Everything is printed on as few lines as it has declarations; layout is the formatter's work.

mod names;

use std::fmt;

use lift_domain::Domain;
use lift_nat::{Nat, Pred, Var};

use crate::table::{self, Slot};
use crate::{
    BinaryOp, Boundary, Call, Def, Expr, Extern, FoldKind, Kind, Lambda, Literal, Permutation,
    Prim, Type, UnaryOp,
};
use names::Names;

/// Binding strengths: an expression is put in parentheses where something tighter is wanted.
const ANY: u8 = 0;
const PIPE: u8 = 1;
const UNARY: u8 = PIPE + BinaryOp::MAX_STRENGTH + 1;
const CAST: u8 = UNARY + 1;
const POSTFIX: u8 = CAST + 1;

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(Names::of_expr(self));
        printer.expr(self, ANY);
        f.write_str(&printer.out)
    }
}

impl fmt::Display for Def {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(Names::of_def(self));
        printer.def(self);
        f.write_str(&printer.out)
    }
}

struct Printer {
    out: String,
    names: Names,
    /// Literals and sizes carry their type, because the context would choose another one.
    suffixed: bool,
    /// Inside the brackets of an array, where `|` is a bar unless it stands in parentheses.
    bar: bool,
}

impl Printer {
    fn new(names: Names) -> Printer {
        Printer { out: String::new(), names, suffixed: false, bar: false }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn list<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Printer, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            print(self, item);
        }
    }

    fn size(&mut self, size: &Nat) {
        let text = size.substitute(&|v| self.names.size(v)).to_string();
        self.push(&text);
    }

    fn ty(&mut self, ty: &Type) {
        let text = ty.map_sizes(&|n| n.substitute(&|v| self.names.size(v))).to_string();
        self.push(&text);
    }

    /// What is called, and the domain it takes first.
    fn domain(&mut self, called: &str, domain: &Domain) {
        let text = domain.substitute(&|v| self.names.size(v)).to_string();
        self.push(called);
        self.push(&text);
    }

    fn pred(&mut self, pred: &Pred) {
        let text = pred.substitute(&|v| self.names.size(v)).to_string();
        self.push(&text);
    }

    fn wrapped(&mut self, own: u8, wanted: u8, print: impl FnOnce(&mut Printer)) {
        if own < wanted {
            self.push("(");
            print(self);
            self.push(")");
        } else {
            print(self);
        }
    }

    fn expr(&mut self, expr: &Expr, wanted: u8) {
        match expr.kind() {
            Kind::Var(param) => {
                let name = self.names.of(param);
                self.push(&name);
            }
            Kind::Literal(literal) => self.literal(*literal, wanted),
            Kind::Size(size, crate::Scalar::I32) => {
                if self.suffixed {
                    return self.wrapped(CAST, wanted, |p| {
                        p.cast_size(size);
                        p.push(" as i32");
                    });
                }
                let own = if size.as_var().is_some() { POSTFIX } else { ANY };
                self.wrapped(own, wanted, |p| p.size(size));
            }
            Kind::Size(size, scalar) => self.wrapped(CAST, wanted, |p| {
                p.cast_size(size);
                p.push(&format!(" as {scalar}"));
            }),
            Kind::Let { param, value, body } => self.wrapped(ANY, wanted, |p| {
                p.push("let ");
                let name = p.names.choose(param.name());
                p.push(&name);
                p.push(" = ");
                p.expr(value, ANY);
                p.push("; ");
                p.names.bind(param, name);
                p.expr(body, ANY);
                p.names.unbind(param);
            }),
            Kind::Call(call) => self.call(call, expr.ty(), wanted),
        }
    }

    fn literal(&mut self, literal: Literal, wanted: u8) {
        let mut text = literal.to_string();
        if self.suffixed && matches!(literal, Literal::F32(_) | Literal::Int(..)) {
            let suffix = literal.scalar().name();
            text = match text.as_str() {
                text if text.ends_with(suffix) => text.to_string(),
                "inf" | "-inf" | "nan" => format!("({text} as {suffix})"),
                text => format!("{text}{suffix}"),
            };
        }
        let own = if text.starts_with('-') { UNARY } else { POSTFIX };
        self.wrapped(own, wanted, |p| p.push(&text));
    }

    /// A size as the operand of `as`.
    fn cast_size(&mut self, size: &Nat) {
        let own = if size.as_var().is_some() { POSTFIX } else { ANY };
        self.wrapped(own, CAST, |p| p.size(size));
    }

    fn call(&mut self, call: &Call, ty: &Type, wanted: u8) {
        let Call { prim, sizes, functions, args } = call;
        match (prim, args.as_slice()) {
            (Prim::Tuple, _) => {
                self.push("(");
                self.list(args, |p, a| p.expr(a, ANY));
                self.push(")");
            }
            (Prim::Array, _) => {
                let before = std::mem::replace(&mut self.bar, true);
                self.push("[");
                self.list(args, |p, a| p.expr(a, ANY));
                self.push("]");
                self.bar = before;
            }
            (Prim::Vector | Prim::Splat, _) => {
                self.ty(ty);
                self.push("(");
                self.list(args, |p, a| p.expr(a, ANY));
                self.push(")");
            }
            (Prim::Extern(function), _) => {
                self.push(&function.name);
                self.push("(");
                self.list(args, |p, a| p.expr(a, ANY));
                self.push(")");
            }
            (Prim::Field(index), [tuple]) => {
                self.expr(tuple, POSTFIX);
                self.push(&format!(".{index}"));
            }
            (Prim::Lane, [vector]) => {
                self.expr(vector, POSTFIX);
                self.push("[");
                sizes.iter().for_each(|n| self.size(n));
                self.push("]");
            }
            (Prim::At, [index, array]) => {
                self.expr(array, POSTFIX);
                self.push("[");
                self.expr(index, ANY);
                self.push("]");
            }
            (Prim::Rank(domain), _) => {
                self.domain("rank(", domain);
                self.push(if args.len() == 1 { ", " } else { ", (" });
                self.list(args, |p, a| p.expr(a, ANY));
                self.push(if args.len() == 1 { ")" } else { "))" });
            }
            (Prim::ReduceRange(kind), [start, low, high]) => {
                let name = table::name_of(&Prim::Reduce(*kind)).unwrap_or("reduce");
                self.push(&format!("{name}("));
                let before = std::mem::replace(&mut self.suffixed, true);
                self.expr(start, ANY);
                self.suffixed = before;
                self.push(", ");
                functions.first().into_iter().for_each(|f| self.lambda(f));
                self.push(", ");
                functions.get(1).into_iter().for_each(|f| self.over_range(f, low, high));
                self.push(")");
            }
            (Prim::Point(domain), [number]) => {
                self.domain("point(", domain);
                self.push(", ");
                self.expr(number, ANY);
                self.push(")");
            }
            (Prim::If, [condition, then, otherwise]) => self.wrapped(ANY, wanted, |p| {
                p.push("if ");
                p.expr(condition, ANY);
                p.push(" then ");
                p.expr(then, ANY);
                p.push(" else ");
                p.expr(otherwise, ANY);
            }),
            (Prim::Cast(_), [value]) => self.wrapped(CAST, wanted, |p| {
                match value.kind() {
                    Kind::Size(size, crate::Scalar::I64) => p.cast_size(size),
                    Kind::Size(size, scalar) => {
                        p.push("(");
                        p.cast_size(size);
                        p.push(&format!(" as {scalar})"));
                    }
                    // In parentheses, so that it stays a conversion of a literal.
                    Kind::Literal(literal) => {
                        p.push("(");
                        p.literal(*literal, ANY);
                        p.push(")");
                    }
                    Kind::Var(_) | Kind::Let { .. } | Kind::Call(_) => p.expr(value, CAST),
                }
                p.push(" as ");
                p.ty(ty);
            }),
            (Prim::Unary(op), [value]) => self.wrapped(UNARY, wanted, |p| {
                p.push(op.symbol());
                // A minus in front of a bare number would make a negative literal.
                let literal = matches!(value.kind(), Kind::Literal(_));
                let own = if literal && *op == UnaryOp::Neg { ANY } else { UNARY };
                p.wrapped(own, UNARY, |p| p.expr(value, UNARY));
            }),
            (Prim::Binary(op), [left, right]) => {
                let own = PIPE + op.strength();
                let bar = self.bar && *op == BinaryOp::BitOr;
                let wanted = if bar { u8::MAX } else { wanted };
                let suffixed = self.suffixed || (op.is_arithmetic() && reads_as_size(args));
                let before = std::mem::replace(&mut self.suffixed, suffixed);
                self.wrapped(own, wanted, |p| {
                    p.expr(left, own);
                    p.push(&format!(" {} ", op.symbol()));
                    p.expr(right, own + 1);
                });
                self.suffixed = before;
            }
            _ => self.pattern(prim, sizes, functions, args, wanted),
        }
    }

    /// A pattern of the table; its last argument is piped in where that reads better.
    fn pattern(
        &mut self,
        prim: &Prim,
        sizes: &[Nat],
        functions: &[Lambda],
        args: &[Expr],
        wanted: u8,
    ) {
        let piped = match args.split_last() {
            Some((last, _)) if reads_piped(prim, last) => Some(last),
            _ => None,
        };
        match piped {
            Some(last) => self.wrapped(PIPE, wanted, |p| {
                p.expr(last, PIPE);
                p.push(" |> ");
                p.partial(prim, sizes, functions, &args[..args.len() - 1]);
            }),
            None => self.partial(prim, sizes, functions, args),
        }
    }

    /// A pattern applied to the given values: all of them, or the first few.
    fn partial(&mut self, prim: &Prim, sizes: &[Nat], functions: &[Lambda], args: &[Expr]) {
        let Some(pattern) = table::pattern(table::name_of(prim).unwrap_or_default()) else {
            unreachable!("every call without syntax of its own stands in the table of patterns")
        };
        self.push(pattern.name);
        let (mut sizes, mut functions, mut values) = (sizes.iter(), functions.iter(), args.iter());
        let mut open = false;
        let between = |p: &mut Printer, open: &mut bool| {
            p.push(if *open { ", " } else { "(" });
            *open = true;
        };
        for slot in pattern.slots {
            match slot {
                Slot::Dimension => {
                    if let Prim::Map(kind) = prim {
                        self.push(&format!("({})", kind.dimension().unwrap_or(0)));
                    }
                }
                Slot::Size => {
                    if let Some(size) = sizes.next() {
                        between(self, &mut open);
                        self.size(size);
                    }
                }
                Slot::Function(_) => {
                    if let Some(function) = functions.next() {
                        between(self, &mut open);
                        self.lambda(function);
                    }
                }
                Slot::Permutation => {
                    if let Prim::Gather(p) | Prim::Scatter(p) = prim {
                        between(self, &mut open);
                        self.permutation(p);
                    }
                }
                Slot::Boundary => {
                    if let Prim::Pad(boundary) = prim {
                        between(self, &mut open);
                        self.boundary(boundary);
                    }
                }
                Slot::Value => {
                    if let Some(value) = values.next() {
                        between(self, &mut open);
                        self.fold_start(prim, value, args);
                    }
                }
                Slot::Values => {
                    for value in values.by_ref() {
                        between(self, &mut open);
                        self.expr(value, ANY);
                    }
                }
                Slot::FunctionArguments => {
                    if !args.is_empty() {
                        self.push(if open { ")" } else { "" });
                        open = false;
                        for value in values.by_ref() {
                            between(self, &mut open);
                            self.expr(value, ANY);
                        }
                    }
                }
            }
        }
        if open {
            self.push(")");
        }
    }

    /// Prints an argument; the start of a sequential fold says its type in full, because it is
    /// found by trying otherwise.
    fn fold_start(&mut self, prim: &Prim, value: &Expr, args: &[Expr]) {
        let sequential = matches!(
            prim,
            Prim::Reduce(FoldKind::Seq | FoldKind::SeqUnroll)
                | Prim::Scan(FoldKind::Seq)
                | Prim::ReduceByIndex(FoldKind::Seq | FoldKind::Glb)
        );
        let is_start = args.first().is_some_and(|first| first.same_node(value));
        let suffixed = self.suffixed || (sequential && is_start);
        let before = std::mem::replace(&mut self.suffixed, suffixed);
        self.expr(value, ANY);
        self.suffixed = before;
    }

    fn lambda(&mut self, lambda: &Lambda) {
        if self.as_section(lambda) || self.as_partial(lambda) {
            return;
        }
        self.push("\\");
        for (i, param) in lambda.params.iter().enumerate() {
            let name = self.names.choose(param.name());
            self.push(if i > 0 { " " } else { "" });
            self.push(&name);
            self.names.bind(param, name);
        }
        if let (Some(size), Some(param)) = (&lambda.size, lambda.params.first()) {
            self.names.bind_length(size, param);
        }
        self.push(" -> ");
        self.expr(&lambda.body, ANY);
        lambda.params.iter().for_each(|p| self.names.unbind(p));
    }

    /// `[ e | k in low .. high ]`
    fn over_range(&mut self, element: &Lambda, low: &Expr, high: &Expr) {
        let before = (self.suffixed, self.bar);
        (self.suffixed, self.bar) = (true, true);
        let names: Vec<_> =
            element.params.iter().map(|p| (p, self.names.choose(p.name()))).collect();
        self.push("[ ");
        for (param, name) in &names {
            self.names.bind(param, name.clone());
        }
        self.expr(&element.body, ANY);
        element.params.iter().for_each(|p| self.names.unbind(p));
        self.push(" | ");
        names.iter().for_each(|(_, name)| self.push(name));
        self.push(" in ");
        self.expr(low, ANY);
        self.push(" .. ");
        self.expr(high, ANY);
        (self.suffixed, self.bar) = before;
        self.push(" ]");
    }

    /// `\a b -> a + b` is `(+)`.
    fn as_section(&mut self, lambda: &Lambda) -> bool {
        let Some(Call { prim: Prim::Binary(op), args, .. }) = lambda.body.as_call() else {
            return false;
        };
        if !are_exactly(args, lambda) {
            return false;
        }
        self.push(&format!("({})", op.symbol()));
        true
    }

    /// `\x -> map(f, x)` is `map(f)`.
    fn as_partial(&mut self, lambda: &Lambda) -> bool {
        let Some(call) = lambda.body.as_call() else { return false };
        let Some(pattern) = table::name_of(&call.prim).and_then(table::pattern) else {
            return false;
        };
        let count = lambda.params.len();
        if lambda.size.is_some() || call.args.len() < count || pattern.slots == [Slot::Values] {
            return false;
        }
        let (first, last) = call.args.split_at(call.args.len() - count);
        let captured = first
            .iter()
            .chain(call.functions.iter().map(|f| &f.body))
            .any(|e| lambda.params.iter().any(|p| e.mentions(p)));
        // A value in front of a function would have to be given together with it.
        let values_first = !first.is_empty() && pattern.slots.contains(&Slot::FunctionArguments);
        // What is left out has to stand at the end, behind all functions.
        let is_value = |slot: &&Slot| matches!(slot, Slot::Value);
        let open = pattern.slots.contains(&Slot::Values)
            || pattern.slots.contains(&Slot::FunctionArguments);
        let at_end = open || pattern.slots.iter().rev().take_while(is_value).count() >= count;
        if captured || values_first || !at_end || !are_exactly(last, lambda) {
            return false;
        }
        self.partial(&call.prim, &call.sizes, &call.functions, first);
        true
    }

    fn permutation(&mut self, permutation: &Permutation) {
        match permutation {
            Permutation::Reverse => self.push("reverse"),
            Permutation::Stride(s) => self.sized("stride", s),
            Permutation::Shift(k) => self.sized("shift", k),
            Permutation::Index(var, body) => self.index_function(var, "", body),
        }
    }

    fn boundary(&mut self, boundary: &Boundary) {
        match boundary {
            Boundary::Clamp => self.push("clamp"),
            Boundary::Mirror => self.push("mirror"),
            Boundary::Wrap => self.push("wrap"),
            Boundary::Index(var, body) => self.index_function(var, " _", body),
        }
    }

    fn sized(&mut self, name: &str, size: &Nat) {
        self.push(&format!("{name}("));
        self.size(size);
        self.push(")");
    }

    fn index_function(&mut self, var: &Var, rest: &str, body: &Nat) {
        let name = self.names.choose(var.name());
        self.push(&format!("\\{name}{rest} -> "));
        let named = Nat::var(&Var::named(&name));
        let body = body.substitute(&|v| (v == var).then(|| named.clone()));
        self.size(&body);
    }

    /// `extern "opencl,c" fn f(x: f32) -> f32 = "return x;";`
    fn external(&mut self, function: &Extern) {
        let quoted = |text: &str| {
            text.replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
                .replace('\t', "\\t")
        };
        let targets = function.targets.join(",");
        self.push(&format!("extern \"{targets}\" fn {}(", function.name));
        self.list(&function.params, |p, (name, ty)| p.push(&format!("{name}: {ty}")));
        self.push(&format!(") -> {} = \"{}\";\n", function.ret, quoted(&function.code)));
    }

    fn def(&mut self, def: &Def) {
        def.externs().into_iter().for_each(|function| self.external(function));
        self.push(&format!("def {}", def.name));
        if !def.sizes.is_empty() || !def.parameters.is_empty() {
            self.push("[");
            self.list(&def.sizes, |p, v| p.push(&v.to_string()));
            if !def.parameters.is_empty() {
                self.push("; ");
                self.list(&def.parameters, |p, parameter| {
                    p.push(&parameter.var.to_string());
                    if let Some(default) = &parameter.default {
                        p.push(" = ");
                        p.size(default);
                    }
                });
            }
            self.push("]");
        }
        self.push("(");
        for (i, param) in def.params.iter().enumerate() {
            let name = self.names.choose(param.name());
            self.push(if i > 0 { ", " } else { "" });
            self.push(&format!("{name}: "));
            self.ty(param.ty());
            self.names.bind(param, name);
        }
        self.push(") -> ");
        self.ty(&def.ret);
        if !def.wheres.is_empty() {
            self.push(" where ");
            self.list(&def.wheres, |p, clause| p.pred(&clause.pred));
        }
        for launch in &def.launches {
            self.push(" launch");
            for (clause, sizes) in launch.clauses() {
                self.push(&format!(" {}(", clause.name()));
                self.list(sizes, |p, n| p.size(n));
                self.push(")");
            }
        }
        self.push(" = ");
        self.expr(&def.body, ANY);
        self.push(";");
    }
}

/// Arithmetic on sizes and numbers that was too large to be a size: without their types it would be
/// read as one.
fn reads_as_size(args: &[Expr]) -> bool {
    args.iter().all(|e| matches!(e.kind(), Kind::Literal(Literal::Int(..)) | Kind::Size(..)))
}

/// Patterns are chained by `|>` when what they work on is itself more than a name.
fn reads_piped(prim: &Prim, last: &Expr) -> bool {
    let takes_array = !matches!(prim, Prim::Math(_) | Prim::Zip | Prim::Concat | Prim::Repeat);
    let chain = last.as_call().is_some_and(|c| table::name_of(&c.prim).is_some());
    takes_array && chain
}

/// The values are the lambda's own parameters, in order.
fn are_exactly(values: &[Expr], lambda: &Lambda) -> bool {
    values.len() == lambda.params.len()
        && values.iter().zip(&lambda.params).all(|(value, p)| value.as_var() == Some(p))
}
