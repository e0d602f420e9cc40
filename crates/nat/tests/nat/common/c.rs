//! The C expressions that sizes become, read by C's own rules.

/// A tree by precedence; `?:` and `&&` evaluate what they need.
pub enum C {
    Int(i128),
    Name(String),
    Negative(Box<C>),
    Binary(&'static str, Box<C>, Box<C>),
    Choice(Box<C>, Box<C>, Box<C>),
    Call(String, Vec<C>),
}

/// Loosest first; each level associates to the left.
const LEVELS: [&[&str]; 6] =
    [&["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["<<"], &["+", "-"], &["*", "/", "%"]];

struct Reader<'t> {
    rest: &'t str,
}

/// Panics where the text is not an expression.
pub fn read(text: &str) -> C {
    let mut reader = Reader { rest: text };
    let tree = reader.choice();
    assert!(reader.rest.trim().is_empty(), "`{}` is left of `{text}`", reader.rest);
    tree
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        // `<` is not the beginning of `<<`.
        let longer = token == "<" && rest.starts_with("<<");
        match rest.strip_prefix(token).filter(|_| !longer) {
            Some(rest) => self.rest = rest,
            None => return false,
        }
        true
    }

    fn choice(&mut self) -> C {
        let condition = self.level(0);
        if !self.eat("?") {
            return condition;
        }
        let yes = self.choice();
        assert!(self.eat(":"), "no `:` before `{}`", self.rest);
        C::Choice(Box::new(condition), Box::new(yes), Box::new(self.choice()))
    }

    fn level(&mut self, level: usize) -> C {
        let Some(operators) = LEVELS.get(level) else { return self.primary() };
        let mut left = self.level(level + 1);
        while let Some(operator) = operators.iter().find(|op| self.eat(op)) {
            left = C::Binary(operator, Box::new(left), Box::new(self.level(level + 1)));
        }
        left
    }

    fn primary(&mut self) -> C {
        if self.eat("-") {
            return C::Negative(Box::new(self.primary()));
        }
        if self.eat("(") {
            let inside = self.choice();
            assert!(self.eat(")"), "no `)` before `{}`", self.rest);
            return inside;
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        assert!(!word.is_empty(), "no operand before `{rest}`");
        if let Ok(value) = word.parse() {
            return C::Int(value);
        }
        if !self.eat("(") {
            return C::Name(word.to_string());
        }
        let mut arguments = vec![self.choice()];
        while self.eat(",") {
            arguments.push(self.choice());
        }
        assert!(self.eat(")"), "no `)` before `{}`", self.rest);
        C::Call(word.to_string(), arguments)
    }
}

impl C {
    /// The value, where it is defined.
    pub fn value(&self, name: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        match self {
            C::Int(i) => Some(*i),
            C::Name(n) => name(n),
            C::Negative(a) => a.value(name)?.checked_neg(),
            C::Choice(c, a, b) => if c.value(name)? != 0 { a } else { b }.value(name),
            C::Binary("&&", a, b) => match a.value(name)? {
                0 => Some(0),
                _ => Some((b.value(name)? != 0).into()),
            },
            C::Binary(operator, a, b) => {
                let (a, b) = (a.value(name)?, b.value(name)?);
                match *operator {
                    "==" => Some((a == b).into()),
                    "!=" => Some((a != b).into()),
                    "<" => Some((a < b).into()),
                    "<=" => Some((a <= b).into()),
                    ">" => Some((a > b).into()),
                    ">=" => Some((a >= b).into()),
                    "<<" => a.checked_mul(1_i128.checked_shl(u32::try_from(b).ok()?)?),
                    "+" => a.checked_add(b),
                    "-" => a.checked_sub(b),
                    "*" => a.checked_mul(b),
                    "/" => a.checked_div(b),
                    "%" => a.checked_rem(b),
                    other => panic!("`{other}` is no operator"),
                }
            }
            C::Call(function, arguments) => {
                let values: Option<Vec<i128>> = arguments.iter().map(|a| a.value(name)).collect();
                match (function.as_str(), values?.as_slice()) {
                    ("lift_log2", [a]) => a.checked_ilog2().map(i128::from),
                    ("lift_pow", [a, b]) => a.checked_pow(u32::try_from(*b).ok()?),
                    (other, all) => panic!("`{other}` of {} values is no function", all.len()),
                }
            }
        }
    }
}
