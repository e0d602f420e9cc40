//! How fast kernel texts are made: every variant of a space with every value of its parameters.
//!
//! cargo run --release -p lift-explore --example texts -- PROGRAM ENTRY SPACE.strategy M=1024,K=1024,N=1024 [LIMIT]

use std::collections::HashSet;
use std::error::Error;
use std::time::Instant;

use lift_explore::parameters::{Bounds, Values, assignments, local_counts};
use lift_explore::space::space;
use lift_kernel::{opencl, validate};
use lift_lower::{Options, lower};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [program, entry, script, sizes, rest @ ..] = args.as_slice() else {
        return Err("expected PROGRAM ENTRY SPACE SIZES [LIMIT]".into());
    };
    let limit: usize = rest.first().map_or(Ok(usize::MAX), |n| n.parse())?;
    let checked = lift_syntax::check_file(program.as_ref())?;
    let def = checked.program.def(entry).ok_or("no such definition")?;
    let script = lift_rewrite::read_script(0, &std::fs::read_to_string(script)?);
    let script = script.map_err(|mistakes| format!("{mistakes:?}"))?;
    let sizes: Values = sizes
        .split(',')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| Ok((name.to_string(), value.parse()?)))
        .collect::<Result<_, std::num::ParseIntError>>()?;
    let started = Instant::now();
    let space = space(def, &script)?;
    println!(
        "{} programs from {} decisions in {:?}",
        space.variants.len(),
        space.decisions,
        started.elapsed()
    );
    let started = Instant::now();
    let (mut texts, mut refused, mut tried) = (HashSet::new(), 0, 0);
    let all: Vec<_> = space
        .variants
        .iter()
        .flat_map(|variant| {
            let found = assignments(&variant.def, &sizes, &Bounds::default(), 1000);
            found.into_iter().map(move |values| (variant, values))
        })
        .collect();
    println!("{} with values for their parameters in {:?}", all.len(), started.elapsed());
    let started = Instant::now();
    let step = (all.len() / limit.clamp(1, all.len().max(1))).max(1);
    for (variant, values) in all.iter().step_by(step) {
        tried += 1;
        let known: Values = sizes.iter().chain(values).map(|(n, v)| (n.clone(), *v)).collect();
        let local = local_counts(&variant.def, &known);
        let local = local.map(|l| l.iter().filter_map(|n| u64::try_from(*n).ok()).collect());
        let options = Options { sizes: known, local, ..Options::default() };
        let made = lower(&variant.def, &options).ok().and_then(|plan| {
            let texts = plan.kernels.iter().map(|k| validate(k).map(|v| opencl(&v)));
            texts.collect::<Result<Vec<String>, _>>().ok()
        });
        match made {
            Some(kernels) => drop(texts.insert(kernels)),
            None => refused += 1,
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{tried} compiled: {} different texts, {refused} refused, {:.2} ms each",
        texts.len(),
        seconds * 1e3 / f64::from(tried.max(1))
    );
    Ok(())
}
