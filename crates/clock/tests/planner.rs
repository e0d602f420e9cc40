//! Programs are planned by what the clock says of the ways to lower them.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::scaled;
use lift_clock::{Description, Planned, like, planned};
use lift_lower::Options;
use lift_runtime::Language;

const PRODUCT: &str = "
def product[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  a |> map(\\row ->
    transpose(b) |> map(\\col -> zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));";

/// Windows of what takes some steps, but no more than memory does.
const WINDOWS: &str = "
def windows[N](x: [f32; N]) -> [f32; N] =
  let smooth = x |> map(\\v -> ((v * 2.0 + 1.0) * v + 3.0) * v);
  smooth |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(-inf, max));";

fn gpu() -> Description {
    like(Language::Cuda, 100_000).unwrap()
}

fn plan(text: &str, n: i128, machine: &Description) -> Planned {
    let checked = lift_syntax::check_text("f.lift", text);
    let def = checked.program.defs.last().unwrap();
    let options = Options { sizes: [("N".to_string(), n)].into(), ..Options::default() };
    planned(def, &options, Language::Cuda, machine).unwrap()
}

fn taken(planned: &Planned) -> Vec<&str> {
    let otherwise = planned.plan.choices.iter().filter_map(|choice| choice.otherwise());
    otherwise.map(|(taken, _)| taken).collect()
}

#[test]
fn no_plan_is_predicted_to_be_slower_than_the_usual_one() {
    for (text, n) in [(PRODUCT, 40), (PRODUCT, 1000), (WINDOWS, 100), (WINDOWS, 1 << 24)] {
        let planned = plan(text, n, &gpu());
        assert!(planned.ms <= planned.usual_ms, "{text} at {n}");
        assert!(!planned.plan.choices.is_empty(), "{text} at {n}");
        assert_eq!(planned.told().is_empty(), taken(&planned).is_empty());
    }
}

/// Where local memory is slow, nothing is brought there.
#[test]
fn the_machine_decides() {
    assert!(!taken(&plan(PRODUCT, 1024, &gpu())).contains(&"product: no tile"));
    let slow = scaled(&gpu(), "local.rate", 0.001);
    assert_eq!(taken(&plan(PRODUCT, 1024, &slow)), ["product: no tile"]);
}

/// What is stored goes through memory twice, which is more than computing it again, unless it is arithmetic that takes long.
#[test]
fn what_is_cheap_is_computed_again() {
    let n = 1 << 26;
    let again = "`smooth` computed again";
    assert_eq!(taken(&plan(WINDOWS, n, &gpu())), [again]);
    let slow = scaled(&gpu(), "pipe.rate", 0.001);
    assert!(!taken(&plan(WINDOWS, n, &slow)).contains(&again));
}

/// A vector that is read for its mean and again for what is around it is read once, unless arithmetic takes
/// longer than memory. One of a length that leaves a rest is read twice.
#[test]
fn a_mean_and_squares_around_it_take_one_reading() {
    let text = "def variance[N](x: [f32; N]) -> f32 =
      let mean = (x |> reduce(0.0, (+))) / (N as f32);
      (x |> map(\\v -> (v - mean) * (v - mean)) |> reduce(0.0, (+))) / (N as f32);";
    let at_once = "a sum and squares at once";
    let (n, slow) = (1 << 26, scaled(&gpu(), "pipe.rate", 0.001));
    let planned = plan(text, n, &gpu());
    assert_eq!(taken(&planned), [at_once]);
    assert_eq!(planned.plan.kernels.len(), 2);
    assert!(!taken(&plan(text, n, &slow)).contains(&at_once));
    assert!(!taken(&plan(text, n + 1, &gpu())).contains(&at_once));
}

/// Columns that are scanned into rows are stored as rows first; those that stay columns are scanned as they lie.
#[test]
fn columns_are_stored_as_rows_where_results_lie_along_them() {
    let rows = "def rows[N](x: [[f32; 4096]; N]) -> [[f32; N]; 4096] = transpose(x) |> map(scan(0.0, (+)));";
    let columns = "def columns[N](x: [[f32; 4096]; N]) -> [[f32; 4096]; N] =
      transpose(x) |> map(scan(0.0, (+))) |> transpose;";
    let stored = "columns are stored as rows first";
    assert_eq!(taken(&plan(rows, 8192, &gpu())), [stored]);
    assert!(!taken(&plan(columns, 8192, &gpu())).contains(&stored));
}

/// A work-item that takes several numbers of a column loads what they share once, and does not wait for each. Where nothing is
/// shared there is nothing to choose.
#[test]
fn columns_that_share_numbers_take_several_a_work_item() {
    let text = "def even[N](x: [[f32; N]; 4096], top: [f32; N], sum: [f32; N]) -> [[f32; N]; 4096] =
      zip(transpose(x), top, sum) |> map(\\(column, t, s) -> column |> map(\\v -> exp(v - t) / s)) |> transpose;";
    let several = "a work-item 4 numbers";
    assert_eq!(taken(&plan(text, 8192, &gpu())), [several]);
    let alone = text.replace("exp(v - t) / s", "exp(v) / 3.0");
    let ways = |planned: &Planned| {
        planned.plan.choices.iter().any(|c| c.ways.iter().any(|w| w == several))
    };
    assert!(!ways(&plan(&alone, 8192, &gpu())));
}

#[test]
fn whoever_says_the_threads_has_said_the_plan() {
    let checked = lift_syntax::check_text("f.lift", WINDOWS);
    let def = checked.program.defs.last().unwrap();
    let sizes = [("N".to_string(), 1 << 26)].into();
    let options = Options { sizes, local: Some(vec![64]), ..Options::default() };
    let planned = planned(def, &options, Language::Cuda, &gpu()).unwrap();
    assert_eq!(taken(&planned), Vec::<&str>::new());
}

#[test]
fn a_program_is_planned_the_same_each_time() {
    let plans = [0, 1].map(|_| plan(PRODUCT, 777, &gpu()));
    assert_eq!(plans[0].plan.choices, plans[1].plan.choices);
    assert_eq!(plans[0].ms, plans[1].ms);
}
