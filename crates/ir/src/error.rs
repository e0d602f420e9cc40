//! What a checked constructor says when a program is not well typed.

use std::fmt;

/// The part of a call that is at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Whole,
    Size(usize),
    Function(usize),
    Argument(usize),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeError {
    pub message: String,
    pub part: Part,
    pub notes: Vec<String>,
    /// What would mend it.
    pub help: Option<String>,
}

impl TypeError {
    pub fn new(part: Part, message: impl Into<String>) -> TypeError {
        TypeError { message: message.into(), part, notes: Vec::new(), help: None }
    }

    pub fn note(mut self, note: impl Into<String>) -> TypeError {
        self.notes.push(note.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> TypeError {
        self.help = Some(help.into());
        self
    }

    pub fn help_if(self, help: Option<String>) -> TypeError {
        TypeError { help: help.or(self.help), ..self }
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "; {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for TypeError {}
