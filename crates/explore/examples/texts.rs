//! How fast kernel texts are made: the programs of a space with values for their parameters, on all cores.
//!
//! cargo run --release -p lift-lang-explore --example texts -- programs/mm.lift mm M=1024,K=1024,N=1024 46000

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::time::Instant;

use lift_execute::compile_text;
use lift_explore::candidate::hash;
use lift_explore::parameters::{Bounds, Choices, Values, local_counts};
use lift_explore::space::{Variant, everything};
use lift_lower::{Options, Target};
use lift_runtime::Language;
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [program, entry, sizes, wanted] = args.as_slice() else {
        return Err("expected PROGRAM ENTRY SIZES COUNT".into());
    };
    let wanted: usize = wanted.parse()?;
    let checked = lift_syntax::check_file(program.as_ref())?;
    let def = checked.program.def(entry).ok_or("no such definition")?;
    let sizes: Values = sizes
        .split(',')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| Ok((name.to_string(), value.parse()?)))
        .collect::<Result<_, std::num::ParseIntError>>()?;
    let started = Instant::now();
    let space = everything(def, &sizes, Target::Threads, &Default::default())?;
    for (phase, count) in &space.counts {
        println!("{count:>8}  {}", phase.name());
    }
    println!("in {:.1} s", started.elapsed().as_secs_f64());
    // As in the literature, a work-item makes up to 8 x 8 results.
    let bounds = Bounds { most_copies: 64, ..Bounds::default() };
    let choices: Vec<Choices> =
        space.variants.par_iter().map(|v| Choices::new(&v.def, &sizes, &bounds)).collect();
    let counts: Vec<usize> = choices.par_iter().map(|c| c.count(1_000_000)).collect();
    println!("{:>8}  with values for their parameters", counts.iter().sum::<usize>());
    println!("in {:.1} s", started.elapsed().as_secs_f64());
    let picked = picked(&choices, &counts, wanted);
    let hashes: Vec<Option<String>> = picked
        .par_iter()
        .map(|(variant, values)| text(&space.variants[*variant], values, &sizes))
        .collect();
    let refused = hashes.iter().filter(|h| h.is_none()).count();
    let different: HashSet<&String> = hashes.iter().flatten().collect();
    println!("{:>8}  compiled, {refused} of them refused", picked.len());
    println!("{:>8}  different texts", different.len());
    let seconds = started.elapsed().as_secs_f64();
    println!("in {seconds:.1} s on {} cores", rayon::current_num_threads());
    Ok(())
}

/// About so many combinations, as many of each program as there are, up to a share that all get.
fn picked(choices: &[Choices], counts: &[usize], wanted: usize) -> Vec<(usize, Values)> {
    // The largest share with which not more than wanted are picked, and half as many more for texts that are the same.
    let goal = wanted + wanted / 2;
    let with = |share: usize| counts.iter().map(|count| (*count).min(share)).sum::<usize>();
    let share = (1..=goal).rev().find(|share| with(*share) <= goal).unwrap_or(1);
    let pick = |(variant, (choices, count)): (usize, (&Choices, &usize))| {
        let step = (count / share).max(1);
        let (mut all, mut index) = (BTreeMap::new(), 0);
        choices.each(&mut |values| {
            if index % step == 0 {
                all.insert(index, values);
            }
            index += 1;
            all.len() < share
        });
        all.into_values().map(move |values| (variant, values)).collect::<Vec<_>>()
    };
    let numbered: Vec<_> = choices.iter().zip(counts).enumerate().collect();
    numbered.into_par_iter().flat_map_iter(pick).collect()
}

/// The hash of the kernels of a program with these values.
fn text(variant: &Variant, values: &Values, sizes: &Values) -> Option<String> {
    let known: Values = sizes.iter().chain(values).map(|(n, v)| (n.clone(), *v)).collect();
    let local = local_counts(&variant.def, &known);
    let local = local.map(|l| l.iter().filter_map(|n| u64::try_from(*n).ok()).collect());
    let options = Options { sizes: known, local, ..Options::default() };
    let (_, kernels) = compile_text(&variant.def, &options, Language::OpenCl).ok()?;
    let texts: Vec<&str> = kernels.iter().map(|k| k.text.as_str()).collect();
    Some(hash(&texts.join("\n")))
}
