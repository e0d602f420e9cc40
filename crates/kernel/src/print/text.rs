//! Expressions as text that knows where it needs parentheses.

/// How tightly an expression holds together, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Choice,
    Or,
    And,
    Bits,
    Comparison,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    pub text: String,
    pub level: Level,
}

impl Text {
    pub fn new(level: Level, text: impl Into<String>) -> Text {
        Text { text: text.into(), level }
    }

    /// A name, a call, a subscript.
    pub fn primary(text: impl Into<String>) -> Text {
        Text::new(Level::Primary, text)
    }

    pub fn call(function: &str, args: &[Text]) -> Text {
        let args: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Text::primary(format!("{function}({})", args.join(", ")))
    }

    pub fn cast(ty: &str, value: &Text) -> Text {
        Text::new(Level::Unary, format!("({ty}){}", value.at(Level::Unary)))
    }

    /// `a op b` of an operator that associates to the left.
    pub fn infix(level: Level, a: &Text, op: &str, b: &Text) -> Text {
        let (left, right) = match level {
            // Compilers ask for parentheses around these inside one another.
            Level::Or => (or_operand(a), or_operand(b)),
            Level::And => (a.at(Level::And), b.at(Level::And)),
            Level::Bits => (a.at(Level::Product), b.at(Level::Product)),
            Level::Shift => (a.at(Level::Unary), b.at(Level::Unary)),
            Level::Comparison => (a.at(Level::Sum), b.at(Level::Sum)),
            Level::Sum => (a.at(Level::Sum), b.at(Level::Product)),
            Level::Choice | Level::Product | Level::Unary | Level::Primary => {
                (a.at(level), b.at(Level::Unary))
            }
        };
        Text::new(level, format!("{left} {op} {right}"))
    }

    pub fn prefix(op: &str, value: &Text) -> Text {
        let inner = value.at(Level::Unary);
        let inner = if inner.starts_with(op) { format!("({inner})") } else { inner };
        Text::new(Level::Unary, format!("{op}{inner}"))
    }

    pub fn choice(condition: &Text, then: &Text, otherwise: &Text) -> Text {
        let (c, a) = (condition.at(Level::Or), then.at(Level::Or));
        Text::new(Level::Choice, format!("{c} ? {a} : {}", otherwise.at(Level::Or)))
    }

    /// In parentheses if it holds together less than `least`.
    pub fn at(&self, least: Level) -> String {
        if self.level >= least { self.text.clone() } else { format!("({})", self.text) }
    }
}

fn or_operand(text: &Text) -> String {
    if text.level == Level::Or { text.text.clone() } else { text.at(Level::Bits) }
}
