//! Sums over a range that no formula says: `f(0) + f(1) + … + f(end - 1)`, added up one by one.
//!
//! What is added, a [`Summand`], is a function of the index and of parameters, so that no variable of the program is bound in
//! it: substitution and simplification see the end and the arguments alone.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

use crate::term::Atom;
use crate::{EvalError, Nat, Pred, Var};

/// Arguments whose sums are kept, and how many of each.
const MOST_TABLES: usize = 16;
const LONGEST_TABLE: usize = 1 << 20;

/// More is never added up, as that would take minutes; of sums of sums, the rows of a square, of a cube and so on.
const MOST: [usize; 3] = [1 << 24, 1 << 13, 1 << 9];

/// Rows of which a function in C has a table, and the numbers in it: one for each row, or for each few.
const MOST_ROWS: i128 = 1 << 13;
const MOST_STARTS: i128 = 1 << 9;

/// A sum of [`Summand`]s: `f(0) + … + f(end - 1)`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Over {
    pub(crate) summand: Arc<Summand>,
    pub(crate) end: Nat,
    /// The greatest end that is asked for.
    pub(crate) most: Nat,
    /// What the parameters of the summand are: variables, each once and in order.
    pub(crate) args: Vec<Nat>,
}

impl Over {
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Nat> {
        [&self.end, &self.most].into_iter().chain(&self.args)
    }

    /// Whether the arguments are as they have to be, so that sums that are written the same are the same.
    fn is_canonical(&self) -> bool {
        let vars: Option<Vec<&Var>> = self.args.iter().map(Nat::as_var).collect();
        vars.is_some_and(|vars| vars.windows(2).all(|two| two[0] < two[1]))
    }

    /// Where each few rows start, and how many these are: where only the end is open.
    fn starts(&self) -> Option<(Vec<i128>, i128)> {
        let most = self.most.as_int().filter(|most| (1..=MOST_ROWS).contains(most))?;
        if !self.args.is_empty() {
            return None;
        }
        let step = (most - 1) / MOST_STARTS + 1;
        let start = |at: i128| self.summand.sum(at * step, &[]).ok();
        let starts: Option<Vec<i128>> = (0..=most / step).map(start).collect();
        Some((starts?, step))
    }

    /// The name of the function in C, the same for each sum with the same summand, and the same greatest end where it has a table.
    pub(crate) fn name(&self) -> String {
        let name = self.summand.name();
        match self.starts() {
            Some(_) => format!("{name}_{}", self.most),
            None => name.to_owned(),
        }
    }

    /// What that function is called with.
    pub(crate) fn called_with(&self) -> impl Iterator<Item = &Nat> {
        [&self.end].into_iter().chain(&self.args)
    }

    /// That function, for indices of a type: it adds up row by row, from where a table says that some start if there is one.
    /// Functions begin with `head`, arrays that nobody changes with `constant`.
    pub fn to_c(&self, head: &str, constant: &str, index: &str, one: &str) -> String {
        let (name, t) = (self.name(), Summand::index());
        let of = |of: &Nat| of.to_c_of(&|v| v.to_string(), one);
        let Some((starts, step)) = self.starts() else {
            let all = (0..self.args.len()).map(|k| format!(", {index} {}", Summand::parameter(k)));
            let (all, of) = (all.collect::<String>(), of(&self.summand.of));
            return format!(
                "{head}{index} {name}({index} end{all}) {{\n  {index} sum = 0;\n  \
                 for ({index} {t} = 0; {t} < end; ++{t}) sum += {of};\n  return sum;\n}}"
            );
        };
        let texts: Vec<String> = starts.iter().map(i128::to_string).collect();
        let texts = texts.join(", ");
        let most = &self.most;
        let from = format!("end < 0 ? 0 : (end < {most} ? end : {most})");
        let body = match step {
            1 => format!("  return {name}_starts[{from}];\n"),
            _ => {
                let of = of(&self.summand.of);
                format!(
                    "  {index} {t} = ({from}) / {step} * {step}, sum = {name}_starts[{t} / {step}];\n  \
                     for (; {t} < end; ++{t}) sum += {of};\n  return sum;\n"
                )
            }
        };
        format!(
            "{constant}{index} {name}_starts[] = {{{texts}}};\n\n{head}{index} {name}({index} end) {{\n{body}}}"
        )
    }

    /// What is added, and a name for the index that no argument has.
    pub(crate) fn applied(&self) -> (Var, Nat) {
        let is_free = |v: &Var| !self.args.iter().any(|arg| arg.mentions(v));
        let mut index = Summand::index();
        let mut longer = index.name().to_owned();
        while !is_free(&index) {
            longer.push('t');
            index = Var::named(&longer);
        }
        let given = |v: &Var| (0..self.args.len()).find(|k| Summand::parameter(*k) == *v);
        let of = self.summand.of.substitute(&|v| match *v == Summand::index() {
            true => Some(Nat::var(&index)),
            false => given(v).and_then(|k| self.args.get(k).cloned()),
        });
        (index, of)
    }
}

/// The hash of Fowler, Noll and Vo, which is the same everywhere.
fn hash(text: &str) -> u32 {
    let byte = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, byte)
}

/// What is added up: an expression in terms of [`Summand::index`] and [`Summand::parameter`].
pub struct Summand {
    of: Nat,
    index: Var,
    parameters: Vec<Var>,
    /// How deep sums are in it.
    depth: usize,
    name: OnceLock<String>,
    /// The sums up to each end that were asked for, of the last arguments: a table of where each row starts.
    tables: Mutex<BTreeMap<Vec<i128>, Vec<i128>>>,
}

impl Summand {
    pub(crate) fn index() -> Var {
        Var::named("t")
    }

    pub(crate) fn parameter(at: usize) -> Var {
        Var::named(&format!("x{at}"))
    }

    pub(crate) fn of(&self) -> &Nat {
        &self.of
    }

    /// The name of the function that adds up, the same wherever the summand is.
    pub(crate) fn name(&self) -> &str {
        self.name.get_or_init(|| format!("lift_sum_{:08x}", hash(&self.of.to_string())))
    }

    /// The value for an index, given arguments.
    fn at(&self, index: i128, args: &[i128]) -> Result<i128, EvalError> {
        self.of.eval(&|v| match *v == self.index {
            true => Some(index),
            false => {
                self.parameters.iter().zip(args).find(|(p, _)| *p == v).map(|(_, value)| *value)
            }
        })
    }

    /// `f(0) + … + f(end - 1)`; of an end below 0, nothing.
    pub(crate) fn sum(&self, end: i128, args: &[i128]) -> Result<i128, EvalError> {
        if end <= 0 {
            return Ok(0);
        }
        let most = MOST[self.depth.min(MOST.len() - 1)];
        let end = usize::try_from(end).ok().filter(|n| *n <= most).ok_or(EvalError::Overflow)?;
        // What another thread left in the middle of it is begun anew.
        let mut tables = self.tables.lock().unwrap_or_else(|broken| {
            let mut tables = broken.into_inner();
            tables.clear();
            tables
        });
        if tables.len() >= MOST_TABLES && !tables.contains_key(args) {
            tables.clear();
        }
        let table = tables.entry(args.to_vec()).or_insert_with(|| vec![0]);
        let mut sum = table.last().copied().unwrap_or(0);
        let known = table.len().saturating_sub(1);
        for index in known..end {
            let value = self.at(index as i128, args)?;
            sum = sum.checked_add(value).ok_or(EvalError::Overflow)?;
            if table.len() <= LONGEST_TABLE {
                table.push(sum);
            }
        }
        Ok(if end <= known { table.get(end).copied().unwrap_or(sum) } else { sum })
    }
}

impl Nat {
    /// The sum of `of` for every `index` from 0 to `end - 1`; of an end below 0, nothing.
    ///
    /// Requires: the end is never greater than `most`.
    pub fn sum_over(index: &Var, end: &Nat, most: &Nat, of: &Nat) -> Nat {
        let others: Vec<Var> = of.vars().into_iter().filter(|v| v != index).collect();
        let of = of.substitute(&|v| match v == index {
            true => Some(Nat::var(&Summand::index())),
            false => others.iter().position(|w| w == v).map(|k| Nat::var(&Summand::parameter(k))),
        });
        let parameters = (0..others.len()).map(Summand::parameter).collect();
        let mut depth = 0;
        of.each_sum(&mut |inner| depth = depth.max(inner.summand.depth + 1));
        let (index, name, tables) = (Summand::index(), OnceLock::new(), Mutex::default());
        let summand = Arc::new(Summand { of, index, parameters, depth, name, tables });
        let args = others.iter().map(Nat::var).collect();
        Nat::sum(Over { summand, end: end.clone(), most: most.clone(), args })
    }

    pub(crate) fn sum(sum: Over) -> Nat {
        if sum.summand.of.is_overflow() || sum.parts().any(Nat::is_overflow) {
            return Nat::overflow();
        }
        if sum.end.as_int().is_some_and(|end| end <= 0) || sum.summand.of == Nat::ZERO {
            return Nat::ZERO;
        }
        if !sum.is_canonical() {
            let (index, of) = sum.applied();
            return Nat::sum_over(&index, &sum.end, &sum.most, &of);
        }
        if let (Some(end), []) = (sum.end.as_int(), sum.args.as_slice())
            && let Ok(sum) = sum.summand.sum(end, &[])
        {
            return Nat::int(sum);
        }
        Nat::atom(Atom::Sum(Arc::new(sum)))
    }

    /// Calls `f` on every sum at any depth, those inside of others first.
    pub fn each_sum(&self, f: &mut dyn FnMut(&Over)) {
        for atom in self.atoms() {
            atom.each_part(&mut |part| part.each_sum(f));
            if let Atom::Sum(sum) = atom {
                sum.summand.of.each_sum(f);
                f(sum);
            }
        }
    }
}

impl Pred {
    /// As [`Nat::each_sum`], of what is compared.
    pub fn each_sum(&self, f: &mut dyn FnMut(&Over)) {
        self.each_part(&mut |part| part.each_sum(f));
    }
}

impl PartialEq for Summand {
    fn eq(&self, other: &Summand) -> bool {
        self.of == other.of
    }
}

impl Eq for Summand {}

impl PartialOrd for Summand {
    fn partial_cmp(&self, other: &Summand) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Summand {
    fn cmp(&self, other: &Summand) -> std::cmp::Ordering {
        self.of.cmp(&other.of)
    }
}

impl Hash for Summand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of.hash(state);
    }
}

impl fmt::Debug for Summand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.of)
    }
}
