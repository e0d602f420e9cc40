//! Matrix multiplication: a program compiled and run on arrays of the `ndarray` crate. README.md shows this.

use lift::ndarray::{Array2, array};
use lift::{Compiled, Options, Sizes};

const MM: &str = r"
def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\row -> transpose(B) |> map(\col ->
    zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+))));
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = lift::parse("mm.lift", MM)?;
    let def = program.entry().ok_or("no definition")?;
    let mut device = lift::open("cpu")?;
    let mut mm = Compiled::new(def, &Options::default(), &mut *device)?;

    let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let b = Array2::from_elem((3, 4), 0.5f32);
    let args = [lift::value_of(&a), lift::value_of(&b)];
    let run = mm.run(&mut *device, &args, &Sizes::new())?;
    let c: Array2<f32> = lift::array_of(&run.result)?;
    assert_eq!(c, a.dot(&b));
    println!("{c}");
    Ok(())
}
