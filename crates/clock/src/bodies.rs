//! Random bodies over the points of a matrix, to try predictions on: the document's unrestricted and restricted sets.

use fastrand::Rng;

/// Which programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// Two to fifty nodes, with divisions and indices of any size.
    A,
    /// Two to six nodes, no division, indices of at most two nodes.
    B,
    /// The one that was predicted worst.
    D,
}

/// Heights and widths, a factor of two apart.
pub const SIZES: [(i128, i128); 17] = [
    (32, 32),
    (32, 64),
    (64, 64),
    (64, 128),
    (128, 128),
    (128, 256),
    (256, 256),
    (256, 512),
    (512, 512),
    (512, 1024),
    (1024, 1024),
    (1024, 2048),
    (2048, 2048),
    (2048, 4096),
    (4096, 4096),
    (4096, 8192),
    (8192, 8192),
];

/// The longest side of a matrix, and the greatest number that an index may take on the way: larger ones do not fit in 64 bits, and the
/// program would be refused.
const LONGEST_SIDE: f64 = 8192.0;
const GREATEST_INDEX: f64 = (1u64 << 62) as f64;

/// So many programs of a set; the same for the same seed.
pub fn programs(set: Set, count: usize, seed: u64) -> Vec<String> {
    if set == Set::D {
        return vec![program(BAD)];
    }
    let mut rng = Rng::with_seed(seed);
    (0..count).map(|_| program(&body(set, &mut rng))).collect()
}

/// The example of the document that was predicted three times too slow.
const BAD: &str = "m[x][y] * ((y as f32) * (((0.585229 + (((x as f32) - m[x % H][y % W]) - m[492 % H][958 % W])) * \
                   (m[x][y] / 767.6984)) * 661.48236))";

fn program(body: &str) -> String {
    format!(
        "def body[H, W](m: [[f32; W]; H], t: [f32; 128]) -> [[f32; W]; H] =\n  \
         generate(H, \\x -> generate(W, \\y -> {body}));\n"
    )
}

/// A body with as many nodes as its set has; others are drawn again.
fn body(set: Set, rng: &mut Rng) -> String {
    let most = if set == Set::A { 50 } else { 6 };
    loop {
        let mut tree = Tree { set, rng, nodes: 0, most };
        if let Some(text) = tree.value()
            && (2..=most).contains(&tree.nodes)
        {
            return text;
        }
    }
}

struct Tree<'r> {
    set: Set,
    rng: &'r mut Rng,
    nodes: usize,
    most: usize,
}

impl Tree<'_> {
    fn value(&mut self) -> Option<String> {
        self.nodes += 1;
        if self.nodes > self.most {
            return None;
        }
        Some(match self.rng.usize(0..10) {
            0..=4 => {
                let operators: &[&str] = match self.set {
                    Set::A => &["+", "-", "*", "/"],
                    Set::B | Set::D => &["+", "-", "*"],
                };
                let op = operators[self.rng.usize(0..operators.len())];
                format!("({} {op} {})", self.value()?, self.value()?)
            }
            5 => format!("{:.3}", f64::from(self.rng.u32(1..1_000_000)) / 1000.0),
            6 => if self.rng.bool() { "(x as f32)" } else { "(y as f32)" }.to_string(),
            7 => "m[x][y]".to_string(),
            8 => format!("m[{} % H][{} % W]", self.non_negative()?, self.non_negative()?),
            _ => format!("t[{} & 127]", self.index()?),
        })
    }

    /// An index whose products, which may wrap, lose their sign.
    fn non_negative(&mut self) -> Option<String> {
        let index = self.index()?;
        Some(if index.contains('*') { format!("({index} & 2147483647)") } else { index })
    }

    fn index(&mut self) -> Option<String> {
        let most = if self.set == Set::A { 12 } else { 2 };
        // A tree of two nodes does not exist: a sum has three.
        for _ in 0..100 {
            let mut nodes = 0;
            match self.index_node(&mut nodes, most) {
                Some((text, greatest)) if greatest <= GREATEST_INDEX => return Some(text),
                _ => {}
            }
        }
        None
    }

    /// An index, and a number that it does not exceed at any size.
    fn index_node(&mut self, nodes: &mut usize, most: usize) -> Option<(String, f64)> {
        *nodes += 1;
        if *nodes > most {
            return None;
        }
        Some(match self.rng.usize(0..10) {
            0..=4 => {
                let is_sum = self.rng.bool();
                let (left, a) = self.index_node(nodes, most)?;
                let (right, b) = self.index_node(nodes, most)?;
                match is_sum {
                    true => (format!("({left} + {right})"), a + b),
                    false => (format!("({left} * {right})"), a * b),
                }
            }
            5..=7 => (if self.rng.bool() { "x" } else { "y" }.to_string(), LONGEST_SIDE),
            _ => {
                let number = self.rng.u32(1..=1000);
                (number.to_string(), number.into())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The eighth of these took the fifth power of an index.
    #[test]
    fn no_program_is_refused_at_the_largest_size() {
        let sizes = ["H", "W"].map(|name| (name.to_string(), LONGEST_SIDE as i128));
        let options = lift_lower::Options { sizes: sizes.into(), ..Default::default() };
        for text in programs(Set::A, 12, 1_796_710_105) {
            let checked = lift_syntax::check_text("body", &text);
            let [def] = checked.program.defs.as_slice() else { panic!("{text}") };
            assert!(lift_lower::lower(def, &options).is_ok(), "{text}");
        }
    }

    #[test]
    fn programs_are_programs_and_the_same_for_a_seed() {
        for set in [Set::A, Set::B, Set::D] {
            for text in programs(set, 30, 7) {
                let checked = lift_syntax::check_text("body", &text);
                assert!(!checked.has_errors(), "{text}{}", checked.render(false));
                assert!(set != Set::B || !text.contains(" / "), "{text}");
            }
        }
        // None reads outside of its arrays: the interpreter would refuse.
        for text in programs(Set::A, 15, 11) {
            let checked = lift_syntax::check_text("body", &text);
            let def = checked.program.defs.last().expect("a body");
            let mut sizes = lift_interp::Sizes::new();
            sizes.set("H", 3);
            sizes.set("W", 9000);
            let fill = lift_interp::inputs::Fill::Random { seed: 1 };
            let args = def.params.iter().map(|p| {
                let ty = lift_interp::concrete_type(p.ty(), &sizes).expect("sizes are known");
                lift_interp::inputs::generate(fill, &ty).expect("inputs")
            });
            let args: Vec<_> = args.collect();
            assert!(lift_interp::run(def, &args, &sizes).is_ok(), "{text}");
        }
        assert_eq!(programs(Set::A, 5, 3), programs(Set::A, 5, 3));
        assert_ne!(programs(Set::A, 5, 3), programs(Set::A, 5, 4));
    }
}
