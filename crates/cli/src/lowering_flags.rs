//! What kernels look like, where the verbs that make them are told.

use lift_lower::Simplify;

/// A simplification that can be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Simplification {
    /// Indices become shorter by what is known of their parts
    Accesses,
    /// Barriers stand only where memory is shared
    Barriers,
    /// Loops with threads enough become branches or straight code
    Control,
}

#[derive(clap::Args)]
pub struct LoweringFlags {
    /// Do not check indices at run time: one that is out of range reads any memory
    #[arg(long)]
    unchecked: bool,
    /// Leave simplifications of kernels out, to see what they are worth
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    no_simplify: Vec<Simplification>,
    /// Elements to add to the rows of arrays of several dimensions in local memory
    #[arg(long, value_name = "K", default_value_t = 0)]
    pad_local: u32,
    /// Wait for what fills local memory, rather than fetch the next tile while working on this one
    #[arg(long)]
    no_pipeline: bool,
    /// Work-items of a warp, 32 otherwise; where the device has smaller warps, results are wrong
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=1024))]
    warp: Option<u32>,
}

impl LoweringFlags {
    pub fn options(&self) -> lift::Options {
        let keep = |part| !self.no_simplify.contains(&part);
        let usual = lift::Options::default();
        lift::Options {
            unchecked: self.unchecked,
            local_padding: self.pad_local,
            pipeline: !self.no_pipeline,
            simplify: Simplify {
                accesses: keep(Simplification::Accesses),
                barriers: keep(Simplification::Barriers),
                control: keep(Simplification::Control),
            },
            warp: self.warp.unwrap_or(usual.warp),
            ..usual
        }
    }
}

/// The names of what was left out.
pub fn left_out(simplify: Simplify) -> Vec<&'static str> {
    let parts = [
        ("accesses", simplify.accesses),
        ("barriers", simplify.barriers),
        ("control", simplify.control),
    ];
    parts.into_iter().filter(|(_, done)| !done).map(|(name, _)| name).collect()
}

/// A line about each choice that is not the usual one.
pub fn remarks(options: &lift::Options) -> Vec<String> {
    let mut lines = Vec::new();
    if options.unchecked {
        lines.push("indices were not checked".to_string());
    }
    let left_out = left_out(options.simplify);
    if !left_out.is_empty() {
        lines.push(format!("not simplified: {}", left_out.join(", ")));
    }
    if options.local_padding > 0 {
        let padding = options.local_padding;
        lines.push(format!("rows in local memory are padded by {padding}"));
    }
    if !options.pipeline {
        lines.push("local memory was filled without a pipeline".to_string());
    }
    if options.warp != lift::Options::default().warp {
        lines.push(format!("warps have {} work-items", options.warp));
    }
    lines
}
