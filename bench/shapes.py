#!/usr/bin/env python3
"""Programs in shapes that no suite has: rows of a few numbers, rows that are columns, and few points whose folds are long.

    bench/shapes.py --lift target/release/lift --device cuda:0 --peer torch [--scale 1] [--only softmax,product]

Every program runs as it is, not tuned, on random inputs, and its result is compared with the peer's in double precision, or numpy's without one.
A ratio is the time of the faster of torch eager and compiled over Lift's. Exits with 1 where a result is wrong.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import unseen

# What is computed: its name, the program, the same in Python with the names of unseen.py, and by which sizes.
ROWS = "def program[R, C](x: [[f32; C]; R]) -> "
BETTER = "fn better(a: (f32, i32), b: (f32, i32)) -> (f32, i32) = if b.0 > a.0 || b.0 == a.0 && b.1 < a.1 then b else a;\n"
SHORT = [
    ("row sums", ROWS + "[f32; R] = x |> map(reduce(0.0, (+)));", "fold_sum(x)"),
    ("place of the largest", BETTER + ROWS + """[i32; R] =
  x |> map(\\row -> zip(row, generate(C, \\i -> i)) |> reduce((-inf, i32::max), better) |> \\(_, index) -> index);""", "argmax(x)"),
    ("sums so far", ROWS + "[[f32; C]; R] = x |> map(scan(0.0, (+)));", "scan_sum(x)"),
    ("softmax", ROWS + """[[f32; C]; R] =
  x |> map(\\row ->
    let top = row |> reduce(-inf, max);
    let powers = row |> map(\\v -> exp(v - top));
    let total = powers |> reduce(0.0, (+));
    powers |> map(\\p -> p / total));""", "(lambda p: p / fold_sum(p)[..., None])(exp(x - fold_max(x)[..., None]))"),
    ("layer normalisation", ROWS + """[[f32; C]; R] =
  x |> map(\\row ->
    let mean = (row |> reduce(0.0, (+))) / (C as f32);
    let var = (row |> map(\\v -> (v - mean) * (v - mean)) |> reduce(0.0, (+))) / (C as f32);
    row |> map(\\v -> (v - mean) * rsqrt(var + 1e-5)));""",
     "(lambda d: d / sqrt(fold_mean(d * d) + 1e-5)[..., None])(x - fold_mean(x)[..., None])"),
]
COLUMNS = [(f"{name} of columns", text.replace("program", "rows") + """
def program[R, C](x: [[f32; R]; C]) -> [[f32; R]; C] = transpose(rows(transpose(x)));""", f"(lambda x: {python})(x.T).T") for name, text, python in SHORT[3:]]
FACTORS = ("numbers at points, by factors",
           "def program[R, C](x: [[f32; C]; R], f: [f32; C]) -> [[f32; C]; R] = x |> map(\\row -> zip(row, f) |> map(\\(a, b) -> a * b));", "x * f")
SMALL_MATRIX = ("small matrix times vectors",
                "def program[R, C](m: [[f32; C]; C], x: [[f32; C]; R]) -> [[f32; C]; R] =\n"
                "  x |> map(\\v -> m |> map(\\row -> zip(row, v) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));", "x @ m.T")
PRODUCT = ("product", "def program[M, K, N](a: [[f32; K]; M], b: [[f32; N]; K]) -> [[f32; N]; M] =\n"
           "  a |> map(\\r -> b |> transpose |> map(\\c -> zip(r, c) |> map(\\(p, q) -> p * q) |> reduce(0.0, (+))));", "a @ b")
GRAM = ("columns times columns", "def program[M, N](a: [[f32; N]; M]) -> [[f32; N]; N] =\n"
        "  a |> transpose |> map(\\r -> a |> transpose |> map(\\c -> zip(r, c) |> map(\\(p, q) -> p * q) |> reduce(0.0, (+))));", "a.T @ a")
VARIANCE = ("variance", """def program[N](x: [f32; N]) -> f32 =
  let mean = (x |> reduce(0.0, (+))) / (N as f32);
  (x |> map(\\v -> (v - mean) * (v - mean)) |> reduce(0.0, (+))) / (N as f32);""",
            "fold_mean((lambda d: d * d)(x - fold_mean(x)))")
NUMBERS = 1 << 26
CASES = [
    *((*case, dict(R=NUMBERS // c, C=c)) for case in SHORT for c in (8, 16, 32, 64, 100)),
    *((*FACTORS, dict(R=NUMBERS // c, C=c)) for c in (3, 8, 24)),
    (*SMALL_MATRIX, dict(R=NUMBERS // 4, C=3)),
    *((*case, dict(R=r, C=NUMBERS // r)) for case in (*SHORT[3:], *COLUMNS) for r in (8192, 16384)),
    (*VARIANCE, dict(N=NUMBERS)),
    *((*PRODUCT, dict(M=m, K=k, N=n)) for m, k, n in ((64, 65536, 64), (256, 65536, 256), (128, 8192, 128), (8, 1048576, 8))),
    *((*GRAM, dict(M=m, N=n)) for m, n in ((65536, 64), (1000000, 32))),
]


def inputs(text, sizes, random):
    """An array for each parameter of a program."""
    header = text[text.index("def program"):].partition(") ->")[0]
    found = {}
    for part in header[header.index("(") + 1:].split(", "):
        name, kind = part.split(": ")
        extents = [sizes[extent.strip(" ]")] for extent in kind.split(";")[1:]][::-1]
        found[name] = random.standard_normal(extents, dtype=np.float32)
    return found


def in_double(text, data, peer):
    if peer != "torch":
        wide = {k: v.astype(np.float64) for k, v in data.items()}
        return np.asarray(unseen.compiled(text, unseen.numpy_names(np.float64))(**wide))
    import torch

    wide = {k: torch.from_numpy(v).cuda().double() for k, v in data.items()}
    return unseen.compiled(text, unseen.torch_names(torch))(**wide).cpu().numpy()


def error(got, want):
    """The largest difference, relative to the element or, where that is larger, to the mean size of elements."""
    if want.dtype == np.int32:
        return float((got != want).mean())
    return float((np.abs(got - want) / np.maximum(np.abs(want), np.sqrt(np.mean(np.square(want))))).max())


def measured(options, case, random):
    name, text, python, sizes = case
    data = inputs(text, sizes, random)
    python = f"def program({', '.join(data)}):\n    return {python}\n"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.lift").write_text(text)
        words = []
        for array, value in data.items():
            np.save(folder / f"{array}.npy", value)
            words.append(f"{array}={folder / array}.npy")
        command = [options.lift, "run", str(folder / "program.lift"), *words, "--device", options.device, "--untuned"]
        command += ["--repeat", "20", "--json", "-o", str(folder / "out.npy")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return name, sizes, None, None, f"FAILED {' '.join(done.stderr.split())[:200]}"
        ms = json.loads(done.stdout)["kernel_ms"]
        wrong = error(np.load(folder / "out.npy"), in_double(python, data, options.peer))
    times = unseen.torch_ms(python, data, 20, options.device) if options.peer == "torch" else {}
    peer = min((t for t in times.values() if not isinstance(t, str)), default=None)
    return name, sizes, ms, peer, "right" if wrong <= 1e-3 else f"WRONG, an error of {wrong:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lift", default="lift")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--peer", choices=["none", "torch"], default="none")
    parser.add_argument("--scale", type=float, default=1, help="of rows and of lengths of folds")
    parser.add_argument("--only", help="programs whose names hold one of these, by commas")
    options = parser.parse_args()
    words = options.only.split(",") if options.only else [""]
    random = np.random.default_rng(20261119)
    ratios, wrong = [], 0
    print("| program | size | torch, ms | Lift, ms | ratio | |\n|---|---|---|---|---|---|")
    for *case, sizes in CASES:
        if not any(word in case[0] for word in words):
            continue
        sizes = {k: max(int(v * options.scale), 1) if v > 1024 else v for k, v in sizes.items()}
        name, sizes, ms, peer, verdict = measured(options, (*case, sizes), random)
        wrong += verdict != "right"
        ratio = peer / ms if ms and peer else None
        ratios += [ratio] if ratio else []
        shown = [f"{value:.4g}" if value else "" for value in (peer, ms, ratio)]
        print(f"| {name} | {', '.join(f'{k}={v}' for k, v in sizes.items())} | {' | '.join(shown)} | {verdict} |", flush=True)
    if ratios:
        print(f"\ngeometric mean of {len(ratios)}: {math.exp(np.mean(np.log(ratios))):.3g}")
    return f"{wrong} are wrong or failed" if wrong else None


if __name__ == "__main__":
    sys.exit(main())
