//! Intermediate arrays that do not fit into memory are made in batches, with the results of the interpreter.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Compiled, Device, Error, Options, Sizes, Value};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{compare, concrete_type};
use lift_ir::{Def, Nat};
use lift_lower::{Role, Step};

const DEVICES: [&str; 2] = ["cpu", "opencl:pocl"];

/// Scores of all pairs, normalised, times a matrix: a head after the other, and each query for itself.
const ATTENTION: &str = "
def dot[n](x: [f32; n], y: [f32; n]) -> f32 = zip(x, y) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+));

def softmax[n](row: [f32; n]) -> [f32; n] =
  let top = row |> reduce(-inf, max);
  let powers = row |> map(\\x -> exp(x - top));
  let total = powers |> reduce(0.0, (+));
  powers |> map(\\p -> p / total);

def attention[H, N, D](q: [[[f32; D]; N]; H], k: [[[f32; D]; N]; H], v: [[[f32; D]; N]; H]) -> [[[f32; D]; N]; H] =
  zip(q, k, v) |> map(\\(qs, ks, vs) ->
    qs |> map(\\query ->
      let weights = ks |> map(\\key -> dot(query, key) * rsqrt(D as f32)) |> softmax;
      transpose(vs) |> map(\\column -> dot(weights, column))));";

/// Two products for each of some matrices.
const CHAIN: &str = "
def mm[m, k, n](a: [[f32; k]; m], b: [[f32; n]; k]) -> [[f32; n]; m] =
  a |> map(\\row ->
    transpose(b) |> map(\\col -> zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));

def chain[B, N](a: [[[f32; N]; N]; B], b: [[f32; N]; N]) -> [[[f32; N]; N]; B] =
  a |> map(\\x -> mm(mm(x, b), b));";

/// What one row makes, all others read.
const MIXED: &str = "
def mixed[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
  let p = x |> map(scan(0.0, (+)));
  transpose(p) |> map(scan(0.0, (+)));";

struct Ran {
    value: Value,
    /// Bytes of all arrays on the device, and those that are no temporaries.
    bytes: u64,
    given: u64,
    /// The most launches of one kernel.
    batches: i128,
    /// Loops of the host inside each other.
    depth: usize,
}

fn depth(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Loop { body, .. } => 1 + depth(body),
        Step::Launch(_) | Step::Stop(_) => 0,
    };
    steps.iter().map(of).max().unwrap_or(0)
}

fn arguments(def: &Def, sizes: &Sizes) -> Vec<Value> {
    let of = |(k, param): (u64, &lift_ir::Param)| {
        let ty = concrete_type(param.ty(), sizes).unwrap();
        generate(Fill::Random { seed: 7 + k }, &ty).unwrap()
    };
    (0..).zip(&def.params).map(of).collect()
}

fn run(
    text: &str,
    sizes: &[(&str, i128)],
    device: &mut dyn Device,
    limit: Option<u64>,
) -> Result<Ran, Error> {
    let program = lift::parse("f.lift", text)?;
    let def = program.entry().unwrap();
    let known: Sizes = sizes.iter().copied().collect();
    let args = arguments(def, &known);
    let sizes: BTreeMap<String, i128> = sizes.iter().map(|(k, n)| (k.to_string(), *n)).collect();
    let options = Options { sizes, memory_bytes: limit, ..Options::default() };
    let mut compiled = Compiled::new(def, &options, device)?;
    let value = compiled.run(device, &args, &Sizes::new())?.result;
    let wanted = lift_interp::run(def, &args, &Sizes::new())?;
    compare(&value, &wanted, true).unwrap_or_else(|e| panic!("within {limit:?}: {e:?}"));
    let number = |n: &Nat| u64::try_from(n.as_int().unwrap()).unwrap();
    let others = compiled.plan.buffers.iter().filter(|b| b.role != Role::Temporary);
    let given: u64 =
        others.map(|b| number(&b.buffer.total()) * b.buffer.scalar.bytes() as u64).sum();
    let bytes = given + compiled.memory.bytes.iter().map(number).sum::<u64>();
    let batches = compiled.plan.batches.values().copied().max().unwrap_or(1);
    Ok(Ran { value, bytes, given, batches, depth: depth(&compiled.plan.steps) })
}

/// With less and less memory there are more and more batches, with the same result, until no batch fits.
#[test]
fn what_does_not_fit_is_made_in_batches() {
    let attention: (&str, &[(&str, i128)]) = (ATTENTION, &[("H", 6), ("N", 160), ("D", 4)]);
    let chain: (&str, &[(&str, i128)]) = (CHAIN, &[("B", 6), ("N", 40)]);
    for (text, sizes) in [attention, chain] {
        for id in DEVICES {
            let mut device = lift::open(id).unwrap();
            let whole = run(text, sizes, &mut *device, None).unwrap();
            assert_eq!((whole.batches, whole.depth), (1, 0), "{id}: {text}");
            let temporary = whole.bytes - whole.given;
            assert!(temporary > 0, "{id}: {text}");
            let mut before = 1;
            for part in [2, 10, 40] {
                let limit = whole.given + temporary / part;
                let ran = run(text, sizes, &mut *device, Some(limit)).unwrap();
                assert!(ran.bytes <= limit, "{id}, a part of {part}: {} of {limit}", ran.bytes);
                assert!(ran.batches > before, "{id}, a part of {part}: {} batches", ran.batches);
                assert_eq!(ran.value.ty(), whole.value.ty());
                before = ran.batches;
            }
            // A row of its own for each batch is the least there can be.
            let error = run(text, sizes, &mut *device, Some(whole.given + 8)).err().unwrap();
            let message = error.to_string();
            assert!(message.contains("the size of all buffers in bytes"), "{id}: {message}");
        }
    }
}

/// Where one head alone is too much, its queries are cut too.
#[test]
fn batches_are_cut_again() {
    let sizes = [("H", 3), ("N", 160), ("D", 4)];
    for id in DEVICES {
        let mut device = lift::open(id).unwrap();
        let whole = run(ATTENTION, &sizes, &mut *device, None).unwrap();
        let limit = whole.given + (whole.bytes - whole.given) / 20;
        let ran = run(ATTENTION, &sizes, &mut *device, Some(limit)).unwrap();
        assert_eq!(ran.depth, 2, "{id}");
        assert!(ran.bytes <= limit, "{id}");
    }
}

/// No point has a part to itself of what others read.
#[test]
fn what_all_points_read_is_not_cut() {
    let mut device = lift::open("cpu").unwrap();
    let whole = run(MIXED, &[("N", 32)], &mut *device, None).unwrap();
    let error = run(MIXED, &[("N", 32)], &mut *device, Some(whole.bytes - 1)).err().unwrap();
    assert!(error.to_string().contains("allowed is"), "{error}");
}

/// `--explain` says so.
#[test]
fn plans_say_that_there_are_batches() {
    let mut device = lift::open("cpu").unwrap();
    let sizes = [("H", 4), ("N", 160), ("D", 4)];
    let whole = run(ATTENTION, &sizes, &mut *device, None).unwrap();
    let program = lift::parse("f.lift", ATTENTION).unwrap();
    let limit = whole.given + (whole.bytes - whole.given) / 3;
    let sizes = sizes.iter().map(|(k, n)| (k.to_string(), *n)).collect();
    let options = Options { sizes, memory_bytes: Some(limit), ..Options::default() };
    let compiled = Compiled::new(program.entry().unwrap(), &options, &mut *device).unwrap();
    let told = compiled.explained(lift::Language::C).unwrap();
    let said = |k: &lift::KernelPlan| k.why.iter().any(|why| why.contains(" batches, one after"));
    assert!(told.len() > 2 && told.iter().all(said), "{told:#?}");
}
