//! What programs are made of.

/// Bounds and choices for one generator.
#[derive(Clone, Debug)]
pub struct Config {
    /// About how many patterns an expression has.
    pub fuel: u32,
    /// No array has more scalars than this.
    pub elements: i128,
    /// How many inputs may be added where a value is needed and none in scope fits.
    pub inputs: usize,
    pub floats: Floats,
    /// Whether parallel maps, memories and loops that say how they run are used.
    pub low_level: bool,
}

/// What is computed with floats, so that results can be compared whatever the order of rounding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Floats {
    /// Small multiples of one half and operations that are exact on them; so results can be
    /// compared, rounded and converted.
    Exact,
    /// Any numbers, and functions that are smooth; floats decide nothing.
    Smooth,
}

impl Default for Config {
    fn default() -> Config {
        Config { fuel: 12, elements: 256, inputs: 4, floats: Floats::Exact, low_level: true }
    }
}
