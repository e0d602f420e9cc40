fn main() {
    for p in std::env::args().skip(1) {
        match lift_syntax::check_file(std::path::Path::new(&p)) {
            Ok(c) => {
                eprint!("{}", c.render(false));
                for d in &c.program.defs {
                    if std::env::var("P").is_ok() {
                        println!("{d}");
                    }
                }
                println!("{p}: {} defs {} tests", c.program.defs.len(), c.program.tests.len());
            }
            Err(e) => println!("{e}"),
        }
    }
}
