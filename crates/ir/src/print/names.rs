//! The names that variables are printed with: the user's own, made distinct where they clash.

use std::collections::{HashMap, HashSet};

use lift_nat::{Nat, Var};

use crate::{Call, Def, Expr, Kind, Param, Prim, Type, table};

const RESERVED: &[&str] = &[
    "let", "if", "then", "else", "fn", "def", "const", "import", "test", "extern", "where",
    "launch", "as", "true", "false", "inf", "nan", "len", "ceil_div", "_",
];

pub(super) struct Names {
    /// Names no variable may have here: sizes, extern functions, and those in scope.
    taken: HashSet<String>,
    /// The names of variables in scope; the innermost binding of a number is last.
    bound: HashMap<u32, Vec<String>>,
    lengths: HashMap<Var, Nat>,
}

impl Names {
    pub(super) fn of_expr(expr: &Expr) -> Names {
        let mut names =
            Names { taken: HashSet::new(), bound: HashMap::new(), lengths: HashMap::new() };
        names.collect(expr);
        names
    }

    pub(super) fn of_def(def: &Def) -> Names {
        let mut names = Names::of_expr(&def.body);
        names.taken.insert(def.name.clone());
        for var in def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var)) {
            names.taken.insert(var.to_string());
        }
        names
    }

    /// Takes the names that the text of the expression uses otherwise: of sizes and externs, and of
    /// variables that stay free.
    fn collect(&mut self, expr: &Expr) {
        self.collect_type(expr.ty());
        match expr.kind() {
            Kind::Size(size, _) => self.collect_size(size),
            Kind::Call(Call { prim, sizes, .. }) => {
                sizes.iter().for_each(|n| self.collect_size(n));
                if let Prim::Extern(function) = prim {
                    self.taken.insert(function.name.clone());
                }
            }
            Kind::Var(_) | Kind::Literal(_) | Kind::Let { .. } => {}
        }
        expr.children().into_iter().for_each(|c| self.collect(c));
    }

    fn collect_type(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(_) => {}
            Type::Vector(_, n) => self.collect_size(n),
            Type::Tuple(components) => components.iter().for_each(|c| self.collect_type(c)),
            Type::Array(element, n) => {
                self.collect_size(n);
                self.collect_type(element);
            }
        }
    }

    fn collect_size(&mut self, size: &Nat) {
        for var in size.vars() {
            self.taken.insert(var.to_string());
        }
    }

    /// `wanted`, or `wanted1`, `wanted2`, …: the first that means nothing else here.
    pub(super) fn choose(&self, wanted: &str) -> String {
        let free = |name: &str| {
            !self.taken.contains(name)
                && !RESERVED.contains(&name)
                && table::pattern(name).is_none()
        };
        if free(wanted) {
            return wanted.to_string();
        }
        let stem = if wanted == "_" { "unused" } else { wanted };
        let numbered = (1u32..).map(|i| format!("{stem}{i}")).find(|name| free(name));
        numbered.unwrap_or_else(|| stem.to_string())
    }

    pub(super) fn bind(&mut self, param: &Param, name: String) {
        self.taken.insert(name.clone());
        self.bound.entry(param.id()).or_default().push(name);
    }

    /// The size variable of an `iterate` is printed as the length of the function's parameter.
    pub(super) fn bind_length(&mut self, size: &Var, param: &Param) {
        let length = Var::named(&format!("len({})", self.of(param)));
        self.lengths.insert(size.clone(), Nat::var(&length));
    }

    pub(super) fn unbind(&mut self, param: &Param) {
        if let Some(name) = self.bound.get_mut(&param.id()).and_then(Vec::pop) {
            self.taken.remove(&name);
        }
    }

    pub(super) fn of(&self, param: &Param) -> String {
        let bound = self.bound.get(&param.id()).and_then(|names| names.last());
        bound.cloned().unwrap_or_else(|| param.name().to_string())
    }

    pub(super) fn size(&self, var: &Var) -> Option<Nat> {
        self.lengths.get(var).cloned()
    }
}
