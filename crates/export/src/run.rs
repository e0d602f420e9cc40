//! The function that runs a form: what its plan says, in C.

use std::collections::BTreeSet;
use std::fmt::Write;

use lift_execute::Error;
use lift_ir::{Nat, Var};
use lift_kernel::{Arg, BufferId, Kernel};
use lift_lower::{Condition, Role, Step};
use lift_runtime::Language;

use crate::codes::Codes;
use crate::expressions::Names;
use crate::form::{Form, Text};
use crate::host::{Host, Launch, Passed, of};
use crate::interface::{Interface, Kind};

/// `first` is the number of the form's first kernel in the library.
pub fn function(
    interface: &Interface,
    form: &Form,
    first: usize,
    language: Language,
    codes: &mut Codes,
) -> Result<String, Error> {
    let names = Names::new(interface, form);
    let writer = Writer { interface, form, first, host: of(language), names, language };
    writer.function(codes)
}

struct Writer<'a> {
    interface: &'a Interface,
    form: &'a Form,
    first: usize,
    host: &'static dyn Host,
    names: Names<'a>,
    language: Language,
}

impl Writer<'_> {
    fn function(&self, codes: &mut Codes) -> Result<String, Error> {
        let interface = self.interface;
        let mut parameters = self.host.context(interface);
        parameters.extend(interface.sizes.iter().map(|(_, name)| format!("lift_wide {name}")));
        parameters.extend(interface.arguments.iter().map(|a| self.host.parameter(a)));
        let parameters =
            if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        let name = self.form.function(&interface.name);
        let mut out = format!("static int {name}({parameters}) {{\n");
        let unused = self.host.context_names().into_iter().map(str::to_string);
        let unused = unused.chain(interface.sizes.iter().map(|(_, name)| name.clone()));
        for name in unused.chain(interface.arguments.iter().map(|a| a.name.clone())) {
            let _ = writeln!(out, "  (void){name};");
        }
        let _ = writeln!(out, "  int lift_code = {}_OK;", interface.prefix());
        self.requirements(&mut out, codes)?;
        self.declarations(&mut out);
        self.memory(&mut out)?;
        self.steps(&self.form.plan.steps, "  ", &mut out)?;
        self.status(&mut out, codes);
        // A label that nobody goes to is a warning.
        if out.contains("goto lift_end") {
            out.push_str("lift_end:\n");
        }
        for slot in 0..self.form.memory.bytes.len() {
            let _ = writeln!(out, "  {}", self.host.free(&format!("lift_s{slot}")));
        }
        if let (Some(status), true) = (self.status_buffer(), self.language != Language::C) {
            let _ = writeln!(out, "  {}", self.host.free(&buffer_name(status)));
        }
        out.push_str("  return lift_code;\n}\n");
        Ok(self.names.functions()? + &out)
    }

    fn requirements(&self, out: &mut String, codes: &mut Codes) -> Result<(), Error> {
        for requirement in &self.form.plan.requirements {
            let code = codes.number(&requirement.reason);
            match &requirement.condition {
                Condition::Holds(pred) => {
                    let condition = self.names.condition(pred)?;
                    let _ = writeln!(out, "  if (!({condition})) return {code};");
                }
                // Where all sizes are known, so is this.
                Condition::Permutes { .. } if !self.form.is_open => {}
                Condition::Permutes { by, length } => {
                    let to = by.apply(&Nat::var(&Var::named("lift_index")), length);
                    let (to, length) = (self.names.size(&to)?, self.names.size(length)?);
                    let memory = format!("{}_ERROR_MEMORY", self.interface.prefix());
                    let _ = writeln!(
                        out,
                        "  {{
    lift_wide lift_length = {length};
    unsigned char *lift_seen = calloc((size_t)lift_length, 1);
    if (!lift_seen) return {memory};
    int lift_once = 1;
    for (lift_wide lift_index = 0; lift_once && lift_index < lift_length; ++lift_index) {{
      lift_wide lift_to = {to};
      lift_once = 0 <= lift_to && lift_to < lift_length && !lift_seen[lift_to];
      if (lift_once) lift_seen[lift_to] = 1;
    }}
    free(lift_seen);
    if (!lift_once) return {code};
  }}"
                    );
                }
            }
        }
        Ok(())
    }

    /// Variables for the buffers that kernels and steps use, for slots, and for what loops count.
    fn declarations(&self, out: &mut String) {
        for slot in 0..self.form.memory.bytes.len() {
            let _ = writeln!(out, "  {}", self.host.buffer(&format!("lift_s{slot}")));
        }
        let used = self.used();
        for planned in self.form.plan.buffers.iter().filter(|b| used.contains(&b.buffer.id)) {
            let variable = buffer_name(planned.buffer.id);
            let kind = match planned.role {
                Role::Input { param, leaf } => Kind::Input { param, leaf },
                Role::Output { leaf } => Kind::Output { leaf },
                Role::Temporary => {
                    let _ = writeln!(out, "  {}", self.host.buffer(&variable));
                    continue;
                }
                Role::Status => {
                    let started = self.host.start_status(self.interface, &variable);
                    let _ = writeln!(out, "  {started}");
                    continue;
                }
            };
            if let Some(argument) = self.interface.find(kind) {
                let _ = writeln!(out, "  {}", self.host.buffer(&variable));
                let _ = writeln!(out, "  {variable} = {};", self.host.given(argument));
            }
        }
        for var in taken(&self.form.plan.steps) {
            let _ = writeln!(out, "  lift_wide {} = 0;", self.names.var(var));
        }
    }

    fn memory(&self, out: &mut String) -> Result<(), Error> {
        for (slot, bytes) in self.form.memory.bytes.iter().enumerate() {
            let (variable, bytes) = (format!("lift_s{slot}"), self.names.size(bytes)?);
            let _ = writeln!(out, "  {}", self.host.allocate(self.interface, &variable, &bytes));
        }
        let used = self.used();
        for planned in self.form.plan.buffers.iter().filter(|b| used.contains(&b.buffer.id)) {
            if let (Role::Temporary, Some(slot)) =
                (planned.role, self.form.memory.slot(planned.buffer.id))
            {
                let _ = writeln!(out, "  {} = lift_s{slot};", buffer_name(planned.buffer.id));
            }
        }
        Ok(())
    }

    fn steps(&self, steps: &[Step], indent: &str, out: &mut String) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch(index) => self.launch(*index, indent, out)?,
                Step::Stop(flag) => {
                    let read = self.host.read_flag(self.interface, &buffer_name(*flag));
                    let _ = writeln!(out, "{indent}{read}\n{indent}if (lift_flag) break;");
                }
                Step::Loop { count, counter, body, swap, taken } => {
                    let (count, i) = (self.names.size(count)?, self.names.var(counter));
                    let _ =
                        writeln!(out, "{indent}for (lift_wide {i} = 0; {i} < ({count}); ++{i}) {{");
                    self.steps(body, &format!("{indent}  "), out)?;
                    if let Some(taken) = taken {
                        let _ = writeln!(out, "{indent}  {} = {i} + 1;", self.names.var(taken));
                    }
                    for (a, b) in swap {
                        let (a, b) = (buffer_name(*a), buffer_name(*b));
                        let hold = self.host.buffer("lift_held");
                        let _ = writeln!(
                            out,
                            "{indent}  {{ {hold} lift_held = {a}; {a} = {b}; {b} = lift_held; }}"
                        );
                    }
                    let _ = writeln!(out, "{indent}}}");
                }
            }
        }
        Ok(())
    }

    fn launch(&self, index: usize, indent: &str, out: &mut String) -> Result<(), Error> {
        let missing = || Error::Kernel("a plan launches a kernel that it does not have".into());
        let kernel = self.form.plan.kernels.get(index).ok_or_else(missing)?;
        let text = self.form.texts.get(index).ok_or_else(missing)?;
        let args: Result<Vec<Passed<'_>>, Error> =
            kernel.args.iter().map(|arg| self.passed(arg)).collect();
        let shared_bytes = match text {
            Text::Source(_, Some(bytes)) => Some(self.names.size(bytes)?),
            Text::Source(_, None) | Text::Function(_) => None,
        };
        let launch = Launch {
            kernel: &kernel.name,
            number: self.first + index,
            args: args?,
            global: self.three(kernel, |global, local| {
                if global.rem(local) == Nat::ZERO {
                    global.clone()
                } else {
                    global.ceil_div(local) * local
                }
            })?,
            local: self.three(kernel, |_, local| local.clone())?,
            shared_bytes,
            wide: kernel.wide_indices,
        };
        let statement =
            self.host.launch(self.interface, &launch).replace('\n', &format!("\n{indent}"));
        // Drivers refuse to start nothing.
        let empty = kernel.launch.global.iter().filter(|n| n.as_int().is_none_or(|n| n < 1));
        let conditions: Result<Vec<String>, Error> =
            empty.map(|n| Ok(format!("({}) > 0", self.names.size(n)?))).collect();
        let conditions = conditions?;
        let _ = match conditions.is_empty() {
            true => writeln!(out, "{indent}{statement}"),
            false => writeln!(out, "{indent}if ({}) {{ {statement} }}", conditions.join(" && ")),
        };
        Ok(())
    }

    /// Something of a launch in each dimension.
    fn three(&self, kernel: &Kernel, of: impl Fn(&Nat, &Nat) -> Nat) -> Result<[String; 3], Error> {
        let one = Nat::int(1);
        let mut all = [const { String::new() }; 3];
        for (d, slot) in all.iter_mut().enumerate() {
            let global = kernel.launch.global.get(d).unwrap_or(&one);
            let local = kernel.launch.local.get(d).unwrap_or(&one);
            *slot = self.names.size(&of(global, local))?;
        }
        Ok(all)
    }

    fn passed(&self, arg: &Arg) -> Result<Passed<'_>, Error> {
        Ok(match arg {
            Arg::Buffer(buffer, _) => Passed::Buffer(buffer_name(buffer.id)),
            Arg::Scalar(var) => {
                let scalars = &self.form.plan.scalars;
                let param = scalars.iter().find(|(_, v)| v == var).map(|(index, _)| *index);
                let given = param.and_then(|param| self.interface.find(Kind::Scalar { param }));
                let missing = || Error::Kernel("a kernel takes a scalar nobody gives".into());
                Passed::Scalar(given.ok_or_else(missing)?)
            }
            Arg::Size(var) => Passed::Size(self.names.size(&Nat::var(var))?),
        })
    }

    /// Says which check of a kernel failed.
    fn status(&self, out: &mut String, codes: &mut Codes) {
        let Some(status) = self.status_buffer() else { return };
        let read = self.host.read_status(self.interface, &buffer_name(status));
        let _ = writeln!(out, "  {read}\n  switch (lift_status) {{\n    case 0: break;");
        for (index, check) in self.form.plan.checks.iter().enumerate() {
            let message = check.fault.message(ToString::to_string, &[]);
            let (case, code) = (index + 1, codes.number(&message));
            let _ = writeln!(out, "    case {case}: lift_code = {code}; break;");
        }
        let device = format!("{}_ERROR_DEVICE", self.interface.prefix());
        let _ = writeln!(out, "    default: lift_code = {device};\n  }}");
    }

    fn status_buffer(&self) -> Option<BufferId> {
        let mut buffers = self.form.plan.buffers.iter();
        let status = buffers.find(|b| b.role == Role::Status)?.buffer.id;
        self.used().contains(&status).then_some(status)
    }

    /// Buffers that kernels take, change places, or end loops.
    fn used(&self) -> BTreeSet<BufferId> {
        fn of_steps(steps: &[Step], used: &mut BTreeSet<BufferId>) {
            for step in steps {
                match step {
                    Step::Launch(_) => {}
                    Step::Stop(flag) => used.extend([*flag]),
                    Step::Loop { body, swap, .. } => {
                        used.extend(swap.iter().flat_map(|(a, b)| [*a, *b]));
                        of_steps(body, used);
                    }
                }
            }
        }
        let mut used = BTreeSet::new();
        of_steps(&self.form.plan.steps, &mut used);
        for arg in self.form.plan.kernels.iter().flat_map(|kernel| &kernel.args) {
            if let Arg::Buffer(buffer, _) = arg {
                used.insert(buffer.id);
            }
        }
        used
    }
}

fn buffer_name(id: BufferId) -> String {
    format!("lift_b{}", id.0)
}

/// What loops count to the end of each time.
fn taken(steps: &[Step]) -> Vec<&Var> {
    let mut all = Vec::new();
    for step in steps {
        if let Step::Loop { body, taken: own, .. } = step {
            all.extend(own);
            all.extend(taken(body));
        }
    }
    all
}
