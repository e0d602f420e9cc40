//! Statements: one a line, blocks in braces.

use lift_ir::{AtomicOp, Range};

use super::cursor::Cursor;
use super::{Lines, Named, Read, Reader};
use crate::{Barrier, Fence, Loop, LoopKind, Mark, Scope, Sharing, Stmt};

/// Blocks inside of each other.
const DEEPEST: usize = 500;

impl Reader {
    /// The statements of a block, and the line that ends it. What they declare is known in it alone.
    pub(super) fn block(&mut self, lines: &mut Lines<'_>) -> Read<(Vec<Stmt>, String)> {
        let outside = self.names.clone();
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return Err("blocks are nested too deep".to_string());
        }
        let mut block = Vec::new();
        let end = loop {
            let line = lines.take()?;
            if line.starts_with('}') {
                break line.to_string();
            }
            block.push(self.stmt(line, lines)?);
        };
        self.nesting -= 1;
        self.names = outside;
        Ok((block, end))
    }

    fn stmt(&mut self, line: &str, lines: &mut Lines<'_>) -> Read<Stmt> {
        if let Some(comment) = line.strip_prefix("//") {
            return Ok(Stmt::Comment(comment.strip_prefix(' ').unwrap_or(comment).to_string()));
        }
        let mut cursor = Cursor::new(line);
        match keyword(&cursor) {
            Some("var") => {
                cursor.expect("var")?;
                let name = cursor.name()?.to_string();
                cursor.expect(":")?;
                // A value does not mention the variable that it is given to.
                let mut ty = cursor.clone();
                ty.ty()?;
                let value = match ty.eat("=") {
                    true => Some(self.last_expr(&mut ty)?),
                    false => None,
                };
                ty.end()?;
                let var = self.register(&name, &mut cursor)?;
                Ok(Stmt::Declare { var, value })
            }
            Some("index") => {
                cursor.expect("index")?;
                let name = cursor.name()?.to_string();
                cursor.expect("=")?;
                let value = self.last_expr(&mut cursor)?;
                Ok(Stmt::Index { var: self.index(&name), value })
            }
            Some("thread") => {
                cursor.expect("thread")?;
                let name = cursor.name()?.to_string();
                cursor.expect("=")?;
                let kind = kind(&mut cursor)?;
                cursor.expect("below")?;
                let extent = self.host_nat(cursor.rest())?;
                Ok(Stmt::ThreadId { var: self.index(&name), kind, extent })
            }
            Some("for") => self.a_loop(&mut cursor, lines, Mark::None),
            Some("shared") => {
                cursor.expect("shared")?;
                let inside = cursor.inside('(', ')')?;
                let inside =
                    inside.parse().map_err(|_| format!("`{inside}` is no number of loops"))?;
                let sharing = match cursor.eat("dynamic") {
                    true => Sharing::Dynamic,
                    false => Sharing::Static,
                };
                self.a_loop(&mut cursor, lines, Mark::Shared { inside, sharing })
            }
            Some("independent") => {
                cursor.expect("independent")?;
                self.a_loop(&mut cursor, lines, Mark::Independent)
            }
            Some("lanes") => {
                cursor.expect("lanes")?;
                self.a_loop(&mut cursor, lines, Mark::Lanes)
            }
            Some("if") => {
                cursor.expect("if")?;
                let condition = self.expr(&mut cursor)?;
                cursor.expect("{")?;
                cursor.end()?;
                let (then, end) = self.block(lines)?;
                let otherwise = match end.as_str() {
                    "}" => Vec::new(),
                    "} else {" => match self.block(lines)? {
                        (block, end) if end == "}" => block,
                        (_, end) => return Err(format!("`}}` is expected, not `{end}`")),
                    },
                    end => return Err(format!("`}}` is expected, not `{end}`")),
                };
                Ok(Stmt::If { condition, then, otherwise })
            }
            Some("barrier") => {
                cursor.expect("barrier")?;
                let scope = match cursor.name()? {
                    "group" => Scope::Group,
                    "warp" => Scope::Warp,
                    other => return Err(format!("`group` or `warp` waits, not `{other}`")),
                };
                let fence = match cursor.name()? {
                    "local" => Fence::Local,
                    "global" => Fence::Global,
                    "both" => Fence::Both,
                    other => return Err(format!("`{other}` is no memory to wait for")),
                };
                cursor.end()?;
                Ok(Stmt::Barrier(Barrier { fence, scope }))
            }
            Some("atomic") => {
                cursor.expect("atomic")?;
                let word = cursor.name()?;
                let op = AtomicOp::ALL.into_iter().find(|op| op.name() == word);
                let op = op.ok_or_else(|| format!("`{word}` changes no element as one step"))?;
                let name = cursor.name()?;
                let (access, _) = self.access(name, &mut cursor)?;
                cursor.expect("=")?;
                Ok(Stmt::Atomic { op, access, value: self.last_expr(&mut cursor)? })
            }
            Some("stop") => {
                cursor.expect("stop")?;
                Ok(Stmt::Stop(self.last_expr(&mut cursor)?))
            }
            _ => self.given(&mut cursor),
        }
    }

    /// `x = e` or `xs[i] = e`
    fn given(&mut self, cursor: &mut Cursor<'_>) -> Read<Stmt> {
        let name = cursor.name()?;
        if cursor.rest().starts_with('[') {
            let (access, _) = self.access(name, cursor)?;
            cursor.expect("=")?;
            return Ok(Stmt::Store { access, value: self.last_expr(cursor)? });
        }
        cursor.expect("=")?;
        match self.names.get(name).cloned() {
            Some(Named::Register(var)) => Ok(Stmt::Assign { var, value: self.last_expr(cursor)? }),
            Some(Named::Index(_)) => Err(format!("`{name}` is an index and has one value")),
            None => Err(format!("there is no variable `{name}` here")),
        }
    }

    /// `for i < N seq {`
    fn a_loop(&mut self, cursor: &mut Cursor<'_>, lines: &mut Lines<'_>, mark: Mark) -> Read<Stmt> {
        cursor.expect("for")?;
        let name = cursor.name()?.to_string();
        cursor.expect("<")?;
        let head = cursor.rest().strip_suffix('{').ok_or("`{` ends the head of a loop")?.trim();
        let (extent, on) = head.rsplit_once(' ').ok_or("a loop says who runs it")?;
        let extent = self.nat(extent)?;
        let mut on = Cursor::new(on);
        let kind = kind(&mut on)?;
        on.end()?;
        let outside = self.names.clone();
        let var = self.index(&name);
        self.facts.declare_inside(&var, Range::below(extent.clone()));
        let (body, end) = self.block(lines)?;
        self.names = outside;
        match end.as_str() {
            "}" => Ok(Stmt::Loop(Loop { var, kind, extent, body, mark })),
            end => Err(format!("`}}` is expected, not `{end}`")),
        }
    }

    fn index(&mut self, name: &str) -> lift_ir::Var {
        let var = self.ids.fresh(&super::wanted(name));
        self.names.insert(name.to_string(), Named::Index(var.clone()));
        var
    }
}

/// The word that a statement begins with, where it is not what is given a value: `stop x`, not `stop = x` or
/// `stop[0] = x`.
fn keyword<'t>(cursor: &Cursor<'t>) -> Option<&'t str> {
    let mut ahead = cursor.clone();
    let word = ahead.name().ok()?;
    let is_given = ahead.rest().starts_with('=') || ahead.rest().starts_with('[');
    (!is_given).then_some(word)
}

/// `global(0)`, `seq`
fn kind(cursor: &mut Cursor<'_>) -> Read<LoopKind> {
    let word = cursor.name()?;
    let mut dimension = || -> Read<u8> {
        let text = cursor.inside('(', ')')?;
        text.trim().parse().map_err(|_| format!("`{text}` is no dimension"))
    };
    match word {
        "seq" => Ok(LoopKind::Seq),
        "unroll" => Ok(LoopKind::Unroll),
        "global" => dimension().map(LoopKind::Global),
        "group" => dimension().map(LoopKind::Group),
        "local" => dimension().map(LoopKind::Local),
        other => {
            Err(format!("`{other}` runs no loop: `seq`, `unroll`, `global`, `group`, `local`"))
        }
    }
}
