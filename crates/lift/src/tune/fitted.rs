//! A stored program in place of the program that it was found for, whose names may be others by now.

use lift_interp::Sizes;
use lift_ir::{Clause, Context, Def, Nat, Parameter, Pred, Var};

/// The stored definition with the sizes of `def`, by position, and its own parameters replaced by their values:
/// where a parameter of `def` has been chosen, that value, and the default otherwise.
///
/// Whoever gives sizes and parameters of `def` is understood, and none of the stored values changes by it. Nothing
/// where the two do not belong together.
pub(super) fn fitted(stored: &Def, def: &Def, sizes: &Sizes) -> Option<Def> {
    if stored.sizes.len() != def.sizes.len() || stored.params.len() != def.params.len() {
        return None;
    }
    let mut values: Vec<(Var, Nat)> =
        stored.sizes.iter().cloned().zip(def.sizes.iter().map(Nat::var)).collect();
    for (index, parameter) in stored.parameters.iter().enumerate() {
        let own = def.parameters.get(index).filter(|own| is_chosen(def, own, sizes));
        let chosen = own.and_then(|own| sizes.get(own.var.name()));
        let value = match chosen {
            Some(value) => Nat::int(value),
            None => parameter.default.as_ref()?.substitute(&|v| find(&values, v)),
        };
        values.push((parameter.var.clone(), value));
    }
    let replace = |v: &Var| find(&values, v);
    let pred = |p: &Pred| p.substitute(&replace);
    let wheres = stored.wheres.iter().map(|c| Clause { pred: pred(&c.pred), span: None });
    let mut new = Def {
        name: def.name.clone(),
        sizes: def.sizes.clone(),
        parameters: def.parameters.clone(),
        wheres: wheres.collect(),
        implied: stored.implied.iter().map(pred).collect(),
        ..stored.clone()
    };
    let cx = Context::starting_at(new.facts(), stored.next_number);
    let size = |n: &Nat| cx.simplify(&n.substitute(&replace));
    new.params = stored.params.iter().map(|p| cx.substitute_param(p, &replace)).collect();
    new.ret = stored.ret.map_sizes(&size);
    new.launches = stored.launches.iter().map(|launch| launch.map_sizes(size)).collect();
    new.body = cx.substitute_sizes(&stored.body, &replace);
    new.next_number = cx.next_number();
    Some(new)
}

/// Whether sizes give a parameter a value that it does not have anyway.
pub(super) fn is_chosen(def: &Def, parameter: &Parameter, sizes: &Sizes) -> bool {
    let default = || {
        let value = |v: &Var| {
            let known = def.sizes.contains(v) || def.parameters.iter().any(|p| p.var == *v);
            sizes.get(v.name()).filter(|_| known)
        };
        parameter.default.as_ref()?.eval(&value).ok()
    };
    let given = sizes.get(parameter.var.name());
    given.is_some() && given != default()
}

fn find(values: &[(Var, Nat)], var: &Var) -> Option<Nat> {
    values.iter().find(|(known, _)| known == var).map(|(_, value)| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def(text: &str) -> Def {
        let checked = lift_syntax::check_text("program", text);
        assert!(!checked.has_errors(), "{}", checked.render(false));
        checked.program.entry().cloned().expect("a definition")
    }

    fn fit(stored: &str, program: &str, sizes: &[(&str, i128)]) -> Option<String> {
        let sizes = sizes.iter().map(|(name, value)| (*name, *value)).collect();
        fitted(&def(stored), &def(program), &sizes).map(|def| def.to_string())
    }

    const STORED: &str = "def f[N; C = 2, T = 8](xs: [f32; N]) -> [f32; N]
        where N % T == 0, N % C == 0
        launch local(T) global(N / C) =
        xs |> split(T) |> mapWrg(0)(mapLcl(0)(\\x -> x + x)) |> join;";

    #[test]
    fn sizes_have_the_names_of_the_program_and_parameters_their_values() {
        let program = "def g[L](v: [f32; L]) -> [f32; L] = v |> map(\\e -> e + e);";
        let expected = def("def g[L](xs: [f32; L]) -> [f32; L]
            where L % 8 == 0, L % 2 == 0
            launch local(8) global(L / 2) =
            xs |> split(8) |> mapWrg(0)(mapLcl(0)(\\x -> x + x)) |> join;");
        assert_eq!(fit(STORED, program, &[("L", 64)]), Some(expected.to_string()));
    }

    #[test]
    fn parameters_of_the_program_may_be_given_and_change_nothing_unless_chosen() {
        let program = "def g[L; C = 4](v: [f32; L]) -> [f32; L] = v |> map(\\e -> e + e);";
        let expected = |c: u32| {
            let text = format!(
                "def g[L; C = 4](xs: [f32; L]) -> [f32; L]
                where L % 8 == 0, L % {c} == 0
                launch local(8) global(L / {c}) =
                xs |> split(8) |> mapWrg(0)(mapLcl(0)(\\x -> x + x)) |> join;"
            );
            Some(def(&text).to_string())
        };
        assert_eq!(fit(STORED, program, &[("L", 64)]), expected(2));
        assert_eq!(fit(STORED, program, &[("L", 64), ("C", 4)]), expected(2));
        assert_eq!(fit(STORED, program, &[("L", 64), ("C", 16)]), expected(16));
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let two = "def g[L, M](v: [[f32; L]; M]) -> [[f32; L]; M] = v;";
        assert_eq!(fit(STORED, two, &[]), None);
        let open =
            "def f[N; T](xs: [f32; N]) -> [f32; N] where N % T == 0 = xs |> split(T) |> join;";
        assert_eq!(fit(open, "def g[L](v: [f32; L]) -> [f32; L] = v;", &[]), None);
    }
}
