//! What a program is stored under: its text with names of our own.

use lift_ir::{Context, Def, Expr, Nat, Param, Var};
use lift_rewrite::inline::renamed_by;

/// The definition as text in which every name is replaced, so that programs that differ in names alone have the
/// same one.
pub fn canonical_text(def: &Def) -> String {
    let sizes = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    let named: Vec<(Var, Var)> = sizes
        .enumerate()
        .map(|(index, var)| (var.clone(), Var::named(&canonical_size(index))))
        .collect();
    let renamed = |var: &Var| named.iter().find(|(old, _)| old == var).map(|(_, new)| new.clone());
    let size = |var: &Var| renamed(var).map(|new| Nat::var(&new));
    let cx = Context::starting_at(def.facts(), def.next_number);
    let mut new = def.clone();
    new.name = "program".to_string();
    let rename = |var: &mut Var| *var = renamed(var).unwrap_or_else(|| var.clone());
    new.sizes.iter_mut().for_each(rename);
    new.parameters.iter_mut().for_each(|p| rename(&mut p.var));
    for parameter in &mut new.parameters {
        parameter.default = parameter.default.take().map(|n| n.substitute(&size));
    }
    new.ret = def.ret.map_sizes(&|n| n.substitute(&size));
    new.wheres.iter_mut().for_each(|clause| clause.pred = clause.pred.substitute(&size));
    for launch in &mut new.launches {
        *launch = launch.map_sizes(|n| n.substitute(&size));
    }
    let body = cx.substitute_sizes(&def.body, &size);
    let old: Vec<Param> = def.params.iter().map(|p| cx.substitute_param(p, &size)).collect();
    let fresh: Vec<Param> =
        old.iter().enumerate().map(|(i, p)| cx.fresh(&format!("x{i}"), p.ty().clone())).collect();
    let values: Vec<(Param, Expr)> =
        old.iter().cloned().zip(fresh.iter().map(|p| cx.var(p))).collect();
    let body = cx.substitute(&body, &values);
    // Every expression can be made again with other names.
    new.body = renamed_by(&cx, &body, &|_| "v").unwrap_or(body);
    new.params = fresh;
    new.to_string()
}

/// The name that a size of the definition has in that text, by its position; parameters follow the sizes.
pub fn canonical_size(index: usize) -> String {
    format!("N{index}")
}

#[cfg(test)]
mod tests {
    use super::canonical_text;

    fn text(program: &str) -> String {
        let checked = lift_syntax::check_text("program", program);
        assert!(!checked.has_errors(), "{}", checked.render(false));
        checked.program.entry().map(canonical_text).unwrap_or_default()
    }

    #[test]
    fn names_do_not_matter() {
        let one = text("def f[N](a: f32, xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> a * x);");
        let two = text("def scale[L](s: f32, v: [f32; L]) -> [f32; L] = v |> map(\\e -> s * e);");
        assert_eq!(one, two);
        let other = text("def f[N](a: f32, xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> a + x);");
        assert_ne!(one, other);
    }

    #[test]
    fn the_text_is_a_program() {
        let one = text(
            "def f[N; T = 4](xs: [f32; N]) -> [[f32; T]; N / T] where N % T == 0 = split(T, xs);",
        );
        assert_eq!(text(&one), one);
    }
}
