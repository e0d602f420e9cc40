//! Writes the programs of each family, at the lengths given, to files of a folder: FAMILY-LENGTH.lift.
//!
//!     cargo run -p lift-lang-lower --example families -- FOLDER 8 16 32

#[path = "../tests/common/families.rs"]
mod families;

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("a folder and lengths are needed")?;
    let lengths: Result<Vec<usize>, _> = arguments.map(|n| n.parse()).collect();
    std::fs::create_dir_all(&folder)?;
    for length in lengths? {
        for (name, program) in families::FAMILIES {
            std::fs::write(
                Path::new(&folder).join(format!("{name}-{length}.lift")),
                program(length),
            )?;
        }
    }
    Ok(())
}
