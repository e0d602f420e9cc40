#!/usr/bin/env python3
"""Judges the programs of this folder on random inputs of several shapes.

    python judge.py --lift PATH            every program
    python judge.py --lift PATH gemv mm    those whose file or def contains one of the words
    python judge.py --device opencl:0      on a device
    python judge.py --sizes 1-70,997 skew  at these sizes, programs of one size

Runs each def by `lift eval`, or on a device by `lift run`, on the inputs of trials.py and compares
its result with that of expected.py in float64, under the tolerance stated in trials.py. Types and
shapes must be the same.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import expected
from trials import PROGRAMS, Random, result, shape, widened

ROOT = pathlib.Path(__file__).resolve().parent
UNIT = 2.0**-24
SECONDS = 60


class Failure(Exception):
    """What went wrong in one run."""


def run(command, path, entry, at, inputs, want, folder):
    """What a verb of `lift` gives: an array, or a tuple of as many as are wanted."""
    output = folder / ("out.npz" if isinstance(want, tuple) else "out.npy")
    words = [*command, str(ROOT / path), "--entry", entry, "-o", str(output)]
    words += [w for name, value in at.parameters.items() for w in ("--size", f"{name}={value}")]
    for name, value in inputs.items():
        words.append(f"{name}={written(value, folder / name)}")
    try:
        done = subprocess.run(words, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"not done after {SECONDS} s") from None
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise Failure(f"exit status {done.returncode}\n{message}")
    if not output.exists():
        raise Failure("no result was written")
    try:
        return loaded(output, want)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as problem:
        raise Failure(f"the result cannot be read: {problem}") from None


def loaded(output, want):
    if not isinstance(want, tuple):
        return np.load(output)
    names = [str(i) for i in range(len(want))]
    with np.load(output) as got:
        if sorted(got.files) != names:
            raise Failure(f"entries {got.files}, expected {names}")
        return tuple(got[name] for name in names)


def written(value, path):
    """The text of an argument: a literal, or the file that it has been written to."""
    if isinstance(value, tuple):
        path = path.with_suffix(".npz")
        np.savez(path, **{str(i): part for i, part in enumerate(value)})
        return path
    if np.ndim(value) == 0:
        return repr(value if isinstance(value, int) else float(value))
    path = path.with_suffix(".npy")
    np.save(path, value)
    return path


def error(got, want, tolerance, compared):
    """The largest difference as a share of the tolerance; raises where it is too large."""
    kinds = {"i": np.int32, "u": np.asarray(want).dtype}
    dtype = np.dtype(kinds.get(np.asarray(want).dtype.kind, np.float32))
    if got.dtype != dtype or got.shape != np.shape(want):
        found, sought = f"{got.dtype}{got.shape}", f"{dtype}{np.shape(want)}"
        raise Failure(f"result is {found}, expected {sought}")
    difference = np.where(compared, np.abs(widened(got) - want), 0)
    wrong = ~(difference <= tolerance)
    if wrong.any():
        place = np.unravel_index(np.argmax(np.where(wrong, difference, -1)), np.shape(want))
        place = tuple(int(i) for i in place)
        allowed = np.broadcast_to(tolerance, np.shape(want))[place]
        text = f"{got[place]}, expected {np.asarray(want)[place]}, tolerance {allowed:.2g}"
        raise Failure(f"{wrong.sum()} of {wrong.size} wrong, at {place}: {text}")
    shares = np.divide(difference, tolerance, where=difference > 0, out=np.zeros(np.shape(want)))
    return shares.max(initial=0)


def judged(command, seed, path, entry, at, function):
    """The worst error of one run as a share of the tolerance, or its failure."""
    random = Random(seed, zlib.crc32(f"{path} {entry} {at}".encode()))
    trial = function(random, *at.sizes, **at.parameters)
    expect = trial.expect or getattr(expected, entry)
    want = result(expect, trial.inputs)
    magnitude = trial.magnitude
    if magnitude is None:
        magnitude = result(expect, trial.inputs, np.abs) if trial.roundings else 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            got = run(command, path, entry, at, trial.inputs, want, pathlib.Path(folder))
        if not isinstance(want, tuple):
            got, want = (got,), (want,)
        if not isinstance(magnitude, tuple):
            magnitude = (magnitude,) * len(want)
        tolerances = [trial.roundings * UNIT * np.asarray(m) for m in magnitude]
        return max(error(g, w, t, trial.compared) for g, w, t in zip(got, want, tolerances))
    except Failure as failure:
        return failure


def sizes_of(text):
    """The sizes of a list of numbers and ranges, `1-70,997`."""
    ranges = [part.partition("-") for part in text.split(",")]
    return [n for first, _, last in ranges for n in range(int(first), int(last or first) + 1)]


def one_size(shapes):
    return all(len(at.sizes) == 1 and not at.parameters for at in shapes)


def resized(shapes, sizes):
    """Shapes of these sizes, from the least on that the program is judged at."""
    least = min(at.sizes[0] for at in shapes)
    return [shape(n) for n in sizes if n >= least]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lift", default="lift", metavar="PATH", help="the command to judge")
    parser.add_argument("--device", help="where to run instead of the reference interpreter")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--sizes", type=sizes_of, help="in place of their own for programs of one size, others are left out: 1-70,997")
    parser.add_argument("words", nargs="*", help="only files and defs that contain one of these")
    args = parser.parse_args()
    command = shutil.which(args.lift)
    if command is None:
        parser.error(f"no command {args.lift}")
    command = [command, "run", "--device", args.device] if args.device else [command, "eval"]
    missing = {p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.lift")}
    missing -= {path for path, _ in PROGRAMS}
    chosen = {
        key: value for key, value in sorted(PROGRAMS.items())
        if not args.words or any(word in name for word in args.words for name in key)
    }
    if args.sizes:
        chosen = {key: (resized(shapes, args.sizes), function) for key, (shapes, function) in chosen.items() if one_size(shapes)}
    if not chosen:
        parser.error("no program of that name, or none of one size")
    passed = failed = 0
    for path in sorted(missing):
        print(f"FAIL  {path}: no judge")
        failed += 1
    with ThreadPoolExecutor(args.jobs) as pool:
        pending = {
            key: [pool.submit(judged, command, args.seed, *key, at, function) for at in shapes]
            for key, (shapes, function) in chosen.items()
        }
        for (path, entry), futures in pending.items():
            shapes, _ = chosen[path, entry]
            outcomes = [f.result() for f in futures]
            failures = [(s, o) for s, o in zip(shapes, outcomes) if isinstance(o, Failure)]
            listed = ", ".join(map(str, shapes)) if args.sizes is None else f"{len(shapes)} sizes"
            line = f"{path} {entry} ({listed})"
            if failures:
                failed += 1
                print(f"FAIL  {line}")
                for at, failure in failures:
                    print(f"      {at}: " + str(failure).replace("\n", "\n        "))
            else:
                passed += 1
                worst = max(outcomes)
                close = f"error at most {worst:.0%} of the tolerance" if worst else "exact"
                print(f"ok    {line}: {close}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
