//! Reads what [`text`](crate::text()) writes.
//!
//! Law: the text of what is read is the text that was read, up to space and empty lines. An exact quotient is read as
//! a quotient, and of facts there are those that the kernel itself says: sizes are at least 1, and the variable of a loop
//! stays below its extent.

mod cursor;
mod exprs;
mod stmts;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use lift_ir::{Extern, Facts, LaunchClause, Nat, Scalar, Space, Type, Var};

use crate::names::target_name;
use crate::{
    Arg, Buffer, BufferId, Ids, Kernel, Launch, Runs, Schedule, Usage, ValueType, Variable,
};
use cursor::Cursor;

/// What is wrong with a text, and in which line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// What is wrong, in a line that the caller knows.
type Read<T> = Result<T, String>;

/// The kernels of a text.
pub fn read(text: &str) -> Result<Vec<Kernel>, ReadError> {
    let mut lines = Lines { lines: text.lines().map(str::trim).collect(), at: 0 };
    let mut kernels = Vec::new();
    while lines.next_line().is_some() {
        let kernel = Reader::kernel(&mut lines);
        kernels.push(kernel.map_err(|message| ReadError { line: lines.at.max(1), message })?);
    }
    Ok(kernels)
}

struct Lines<'t> {
    lines: Vec<&'t str>,
    /// How many were taken.
    at: usize,
}

impl<'t> Lines<'t> {
    /// The next line that is not empty, not taken.
    fn next_line(&mut self) -> Option<&'t str> {
        while self.lines.get(self.at).is_some_and(|line| line.is_empty()) {
            self.at += 1;
        }
        self.lines.get(self.at).copied()
    }

    fn take(&mut self) -> Read<&'t str> {
        let line = self.next_line().ok_or("the kernel ends before its closing `}`")?;
        self.at += 1;
        Ok(line)
    }
}

/// What a name stands for.
#[derive(Clone)]
enum Named {
    Register(Variable),
    Index(Var),
}

struct Reader {
    ids: Ids,
    facts: Facts,
    names: HashMap<String, Named>,
    buffers: HashMap<String, (BufferId, Scalar)>,
    functions: HashMap<String, Arc<Extern>>,
    /// Expressions around the one that is read.
    nesting: usize,
}

impl Reader {
    fn kernel(lines: &mut Lines<'_>) -> Read<Kernel> {
        let mut reader = Reader {
            ids: Ids::default(),
            facts: Facts::new(),
            names: HashMap::new(),
            buffers: HashMap::new(),
            functions: HashMap::new(),
            nesting: 0,
        };
        let mut head = Cursor::new(lines.take()?);
        head.expect("kernel")?;
        let name = head.name()?.to_string();
        let args = reader.args(&head.parts('(', ')', ',')?)?;
        head.end()?;
        let mut line = Cursor::new(lines.take()?);
        line.expect("launch")?;
        line.expect("local")?;
        let local = reader.host_nats(&line.parts('(', ')', ',')?)?;
        line.expect("global")?;
        let global = reader.host_nats(&line.parts('(', ')', ',')?)?;
        let mut schedule = Schedule::default();
        let runs = loop {
            match line.name()? {
                "loops" => break Runs::Loops,
                "threads" => break Runs::Threads,
                other => schedule_clause(&mut schedule, other, &mut line)?,
            }
        };
        let wide_indices = line.eat("wide");
        line.end()?;
        let (mut locals, mut privates) = (Vec::new(), Vec::new());
        loop {
            let line = lines.take()?;
            if line == "{" {
                break;
            }
            let mut line = Cursor::new(line);
            if line.eat("extern") {
                reader.function(&mut line)?;
                continue;
            }
            let buffer = reader.buffer(&mut line)?;
            line.end()?;
            match buffer.space {
                Space::Local => locals.push(buffer),
                Space::Private => privates.push(buffer),
                Space::Global => {
                    return Err("arrays in global memory are arguments".to_string());
                }
            }
        }
        let (body, end) = reader.block(lines)?;
        if end != "}" {
            return Err(format!("`}}` is expected, not `{end}`"));
        }
        let launch = Launch { global, local };
        let Reader { ids, facts, .. } = reader;
        Ok(Kernel {
            name,
            args,
            locals,
            privates,
            body,
            launch,
            schedule,
            wide_indices,
            facts,
            runs,
            ids,
        })
    }

    /// Lengths of buffers are made of sizes, which stand after them.
    fn args(&mut self, parts: &[&str]) -> Read<Vec<Arg>> {
        let mut found: Vec<Option<Arg>> = vec![None; parts.len()];
        for (arg, part) in found.iter_mut().zip(parts) {
            let mut cursor = Cursor::new(part);
            if usage(&mut cursor).is_some() {
                continue;
            }
            let name = cursor.name()?.to_string();
            cursor.expect(":")?;
            *arg = Some(if cursor.eat("size") {
                let var = Var::named(&wanted(&name));
                self.facts.size(&var);
                self.names.insert(name, Named::Index(var.clone()));
                Arg::Size(var)
            } else {
                Arg::Scalar(self.register(&name, &mut cursor)?)
            });
            cursor.end()?;
        }
        let mut args = Vec::new();
        for (arg, part) in found.into_iter().zip(parts) {
            args.push(match arg {
                Some(arg) => arg,
                None => {
                    let mut cursor = Cursor::new(part);
                    let usage = usage(&mut cursor).ok_or("an argument says how it is used")?;
                    let buffer = self.buffer(&mut cursor)?;
                    cursor.end()?;
                    Arg::Buffer(buffer, usage)
                }
            });
        }
        Ok(args)
    }

    /// `local tile: f32[64] stages 2 items (4, 4) align 16 heap`
    fn buffer(&mut self, cursor: &mut Cursor<'_>) -> Read<Buffer> {
        let space = match cursor.name()? {
            "global" => Space::Global,
            "local" => Space::Local,
            "private" => Space::Private,
            other => return Err(format!("`{other}` is no memory: `global`, `local` or `private`")),
        };
        let name = cursor.name()?.to_string();
        cursor.expect(":")?;
        let scalar = cursor.scalar()?;
        let length = self.host_nat(cursor.inside('[', ']')?)?;
        let stages = if cursor.eat("stages") { cursor.number()? } else { 1 };
        let items = match cursor.eat("items") {
            true => self.host_nats(&cursor.parts('(', ')', ',')?)?,
            false => Vec::new(),
        };
        cursor.expect("align")?;
        let align = cursor.number()?;
        let heap = cursor.eat("heap");
        let id = BufferId(self.buffers.len() as u32);
        if self.buffers.insert(name.clone(), (id, scalar)).is_some() {
            return Err(format!("there are two arrays `{name}`"));
        }
        let name = wanted(&name);
        Ok(Buffer { id, name, scalar, length, stages, space, items, align, heap })
    }

    /// `half(a: f32) -> f32 for "c,opencl" = "return a / 2;"`
    fn function(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let name = cursor.name()?.to_string();
        let mut params = Vec::new();
        for part in cursor.parts('(', ')', ',')? {
            let mut part = Cursor::new(part);
            let name = part.name()?.to_string();
            part.expect(":")?;
            params.push((name, type_of(part.ty()?)));
            part.end()?;
        }
        cursor.expect("->")?;
        let ret = type_of(cursor.ty()?);
        cursor.expect("for")?;
        let targets = cursor.quoted()?.split(',').map(str::to_string).collect();
        cursor.expect("=")?;
        let code = cursor.quoted()?;
        cursor.end()?;
        let function = Extern { name: wanted(&name), targets, params, ret, code };
        self.functions.insert(name, Arc::new(function));
        Ok(())
    }

    /// A variable of the type that comes next.
    fn register(&mut self, name: &str, cursor: &mut Cursor<'_>) -> Read<Variable> {
        let var = Variable { id: self.ids.fresh(&wanted(name)), ty: cursor.ty()? };
        self.names.insert(name.to_string(), Named::Register(var.clone()));
        Ok(var)
    }

    fn host_nats(&self, parts: &[&str]) -> Read<Vec<Nat>> {
        parts.iter().map(|part| self.host_nat(part)).collect()
    }
}

/// The name that is written like this: targets take some names with a `_` behind them, before which a number may
/// stand.
fn wanted(name: &str) -> String {
    let unnumbered = name
        .strip_suffix('_')
        .and_then(|name| name.rsplit_once('_'))
        .filter(|(_, number)| number.parse::<u32>().is_ok())
        .map(|(stem, _)| format!("{stem}_"));
    let bases = [Some(name.to_string()), unnumbered];
    for base in bases.into_iter().flatten() {
        let plain = base.strip_suffix('_').unwrap_or(&base);
        for own in [&base, plain] {
            if target_name(own) == base {
                return own.to_string();
            }
        }
    }
    name.to_string()
}

fn type_of(ty: ValueType) -> Type {
    match ty.width {
        1 => Type::Scalar(ty.scalar),
        width => Type::vector(ty.scalar, width),
    }
}

fn usage(cursor: &mut Cursor<'_>) -> Option<Usage> {
    [("read_write", Usage::ReadWrite), ("read", Usage::Read), ("write", Usage::Write)]
        .into_iter()
        .find_map(|(word, usage)| cursor.eat_before(word, "global").then_some(usage))
}

/// `rows(4)`, of which the name is read.
fn schedule_clause(schedule: &mut Schedule, name: &str, line: &mut Cursor<'_>) -> Read<()> {
    let expected = || format!("`loops`, `threads` or a schedule is expected, not `{name}`");
    let clause = LaunchClause::named(name).ok_or_else(expected)?;
    let number = |part: &str| {
        let number = part.trim().parse().ok().filter(|n| *n > 0);
        number.ok_or_else(|| format!("`{name}` takes numbers of at least 1, not `{part}`"))
    };
    let numbers: Vec<u32> =
        line.parts('(', ')', ',')?.into_iter().map(number).collect::<Read<_>>()?;
    match schedule.set(clause, &numbers) {
        true => Ok(()),
        false => Err(format!("`{name}` says nothing with {} numbers here", numbers.len())),
    }
}
