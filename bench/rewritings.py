#!/usr/bin/env python3
"""Programs of the suite `users` in other words: whether what is said otherwise is as fast, by the clock's word.

    python3 rewritings.py --lift PATH                 the table, on both machines
    python3 rewritings.py --lift PATH softmax mm_nt   of some programs
    python3 rewritings.py --lift PATH --values        only whether they compute the same, on the processor
    python3 rewritings.py --lift PATH --device D      the table as measured on a device

rewritings/NAME.lift, behind the text of programs/users/NAME.lift, says that program again:

    zipped       with operands in another order
    named        with other parts of it named by `let`
    generated    by `generate` and indices
    transposed   of operands that lie transposed, its result likewise where it has the operand's shape
    batched      in a `map` over four of everything; written here

No device is needed: times are those that `lift predict` says for a machine's description, at the suite's large sizes, and
a ratio is that of the rewriting over that of the program (a fourth of it for `batched`, which is not asked of processors:
four times as much may leave their caches). It may be 1.2. rewritings/slower.txt has those that are slower, with the cause; one
that no longer is must be struck there, which --strike does. Exits 1 where a ratio is not as said, or a value wrong.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from users import PROGRAMS, ROOT, SIZES, error, loaded, written
from users_torch import USERS

FOLDER = ROOT / "bench" / "rewritings"
MACHINES = {"gpu": "h200-cuda", "cpu": "xeon-16"}
KINDS = ("zipped", "named", "generated", "transposed", "batched")
LIMIT = 1.2
BATCH = 4
SECONDS = 120

# A line for what is planned worse than the program that it says again: MACHINE PROGRAM KIND: CAUSE
SLOWER = FOLDER / "slower.txt"


class Failed(Exception):
    pass


def asked(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {SECONDS} s") from None
    if done.returncode:
        raise Failed(" ".join(done.stderr.split())[:300])
    return done.stdout


def signature(lift, path, name):
    return next(d for d in json.loads(asked([lift, "check", "--json", str(path)])) if d["name"] == name)


def text_of(lift, name, folder):
    """A file with the program and all of its rewritings; the names of these."""
    path = folder / f"{name}.lift"
    own = FOLDER / f"{name}.lift"
    path.write_text((PROGRAMS / f"{name}.lift").read_text() + (own.read_text() if own.exists() else ""))
    found = signature(lift, path, name)
    if not found["parameters"]:
        path.write_text(path.read_text() + batched(name, found))
    kinds = re.findall(r"^def (\w+)", path.read_text(), re.M)
    return path, [kind for kind in KINDS if kind in kinds]


def batched(name, found):
    arrays = [p["name"] for p in found["params"] if p["type"].startswith("[")]
    of = lambda p: f"[{p['type']}; Batch]" if p["name"] in arrays else p["type"]
    params = ", ".join(f"{p['name']}: {of(p)}" for p in found["params"])
    call = f"{name}({', '.join(p['name'] for p in found['params'])})"
    given = f"zip({', '.join(arrays)})" if len(arrays) > 1 else arrays[0]
    taken = f"({', '.join(arrays)})" if len(arrays) > 1 else arrays[0]
    where = f" where {' && '.join(found['where'])}" if found["where"] else ""
    sizes = ", ".join(["Batch", *found["sizes"]])
    return f"\ndef batched[{sizes}]({params}) -> [{found['result']}; Batch]{where} = {given} |> map(\\{taken} -> {call});\n"


# ---------------------------------------------------------------------------------------------
# Times


def predicted(lift, path, entry, sizes, machine):
    command = [lift, "predict", str(path), "--entry", entry, "--json"]
    command += ["--size", ",".join(f"{k}={v}" for k, v in sizes.items())]
    command += ["--machine", str(ROOT / "data" / "machines" / f"{MACHINES[machine]}.json")]
    return json.loads(asked(command))["kernel_ms"]


def ratios(lift, name, path, kinds, machine):
    """{kind: ratio}, and the program's own time."""
    sizes = SIZES[name][-1]
    own = predicted(lift, path, name, sizes, machine)
    found = {}
    for kind in kinds:
        if kind != "batched":
            found[kind] = predicted(lift, path, kind, sizes, machine) / own
        elif machine == "gpu":
            found[kind] = predicted(lift, path, kind, {**sizes, "Batch": BATCH}, machine) / (BATCH * own)
    return own, found


def measured(options, chosen, folder):
    """The number of rewritings that take longer on a device, at the sizes of the suite for it. A batch of four is not run there."""
    print(f"{options.device:14} {'ms':>9} " + " ".join(f"{kind:>10}" for kind in KINDS[:-1]))
    slower = 0
    for name in chosen:
        path, kinds = text_of(options.lift, name, folder)
        sizes = SIZES[name][0 if options.device == "cpu" else -1]
        inputs = USERS[name].inputs(np.random.default_rng(1), **sizes)
        times = {}
        for kind in [name, *kinds]:
            if kind == "batched":
                continue
            here = folder / "inputs"
            here.mkdir()
            own = as_taken(options.lift, name, path, kind, inputs)
            command = [options.lift, "run", str(path), "--entry", kind, "--untuned", "--device", options.device, "--json", "--repeat", "20"]
            for k in USERS[name].params:
                command += ["--size", f"{k}={sizes[k]}"]
            command += [f"{k}={written(k, v, here)}" for k, v in own.items()]
            try:
                times[kind] = json.loads(asked(command))["kernel_ms"]
            except Failed as failure:
                print(f"{name}, {kind}: {failure}")
                slower += 1
            shutil.rmtree(here)
        if name in times:
            cells = {kind: times[kind] / times[name] for kind in KINDS if kind in times}
            slower += sum(ratio > LIMIT for ratio in cells.values())
            print(f"{name:14} {times[name]:9.4g} " + " ".join(f"{cells[k]:10.2f}" if k in cells else f"{'-':>10}" for k in KINDS[:-1]), flush=True)
    return slower


def timed(options, chosen, folder):
    """The number of ratios that are not as said."""
    causes = [line.partition(": ")[::2] for line in SLOWER.read_text().splitlines()]
    causes = {tuple(what.split()): cause for what, cause in causes}
    wrong, struck = 0, set()
    for machine in MACHINES:
        print(f"{MACHINES[machine]:14} {'ms':>9} " + " ".join(f"{kind:>10}" for kind in KINDS))
        work = lambda name, machine=machine: (name, *ratios(options.lift, name, *text_of(options.lift, name, folder), machine))
        with ThreadPoolExecutor(options.jobs) as pool:
            for name, own, found in pool.map(work, chosen):
                cells, notes = [], []
                for kind in KINDS:
                    ratio, cause = found.get(kind), causes.get((machine, name, kind))
                    cells.append("-" if ratio is None else f"{ratio:.2f}")
                    if ratio is None:
                        continue
                    if ratio > LIMIT and not cause:
                        notes.append(f"{kind} is slower")
                    if ratio <= LIMIT and cause and options.strike:
                        struck.add((machine, name, kind))
                    elif ratio <= LIMIT and cause:
                        notes.append(f"{kind} is no longer slower: strike it from {SLOWER.name}")
                wrong += len(notes)
                line = f"{name:14} {own:9.4g} " + " ".join(f"{cell:>10}" for cell in cells)
                print(line + "".join(f"\n  WRONG: {note}" for note in notes), flush=True)
    if struck:
        left = {what: cause for what, cause in causes.items() if what not in struck}
        SLOWER.write_text("".join(f"{' '.join(what)}: {cause}\n" for what, cause in left.items()))
    return wrong


# ---------------------------------------------------------------------------------------------
# Values


def extents(type_):
    """[[f32; N]; M] has M, N."""
    found = []
    while type_.startswith("["):
        inner, size = type_[1:-1].rsplit("; ", 1)
        found.append(size)
        type_ = inner
    return found


def turned(value, from_, to):
    """An array whose extents have these names, with them in another order."""
    if isinstance(value, tuple):
        return tuple(turned(part, from_, to) for part in value)
    if extents(from_) == extents(to):
        return value
    order = [extents(from_).index(size) for size in extents(to)]
    return np.ascontiguousarray(np.transpose(value, order))


def stacked(values):
    """A batch of some."""
    if isinstance(values[0], tuple):
        return tuple(stacked(parts) for parts in zip(*values))
    return np.stack(values) if np.ndim(values[0]) or isinstance(values[0], np.generic) else values[0]


def sizes_of(name, kind):
    """A batch is of small ones: loops inside of a work-item are written out where their lengths are known."""
    return USERS[name].small if kind == "batched" else USERS[name].larger()


def problem_of(lift, name, path, kind):
    """Arguments and the expected result of a rewriting."""
    program, sizes = USERS[name], sizes_of(name, kind)
    if kind == "batched":
        several = [program.inputs(np.random.default_rng(seed), **sizes) for seed in range(BATCH)]
        inputs = {k: stacked([one[k] for one in several]) for k in several[0]}
        # A number is the same for all.
        several = [one | {k: v for k, v in inputs.items() if not np.ndim(v) and not isinstance(v, tuple)} for one in several]
        return inputs, stacked([program.expected(**one) for one in several])
    inputs = program.inputs(np.random.default_rng(1), **sizes)
    want = program.expected(**inputs)
    said, again = (signature(lift, path, entry) for entry in (name, kind))
    return as_taken(lift, name, path, kind, inputs), turned(want, said["result"], again["result"])


def as_taken(lift, name, path, kind, inputs):
    """Arguments of a program as a rewriting takes them."""
    said, again = (signature(lift, path, entry)["params"] for entry in (name, kind))
    types = {a["name"]: (a["type"], b["type"]) for a, b in zip(said, again)}
    return {k: turned(v, *types[k]) for k, v in inputs.items()}


def wrong_value(lift, name, path, kind, folder):
    """What is wrong with a rewriting's result, if anything is."""
    inputs, want = problem_of(lift, name, path, kind)
    here = folder / f"{name}_{kind}"
    here.mkdir()
    count = len(want) if isinstance(want, tuple) else 0
    out = here / ("out.npz" if count else "out.npy")
    command = [lift, "run", str(path), "--entry", kind, "--untuned", "--device", "cpu", "-o", str(out)]
    for k in USERS[name].params:
        command += ["--size", f"{k}={sizes_of(name, kind)[k]}"]
    try:
        asked(command + [f"{k}={written(k, v, here)}" for k, v in inputs.items()])
    except Failed as failure:
        return str(failure)
    found = error(loaded(out, count), want, USERS[name].exact)
    return None if found <= (0 if USERS[name].exact else USERS[name].tolerance) else f"an error of {found}"


def compared(options, chosen, folder):
    """The number of rewritings that do not compute what the program does."""
    wrong = total = 0
    for name in chosen:
        path, kinds = text_of(options.lift, name, folder)
        total += len(kinds)
        for kind in kinds:
            if why := wrong_value(options.lift, name, path, kind, folder):
                wrong += 1
                print(f"WRONG: {name}, {kind}: {why}", flush=True)
    print(f"{total - wrong} rewritings compute the same")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lift", default=shutil.which("lift") or "lift")
    parser.add_argument("--values", action="store_true", help="compute at small sizes, no times")
    parser.add_argument("--device", help="measure on it, in place of predicting")
    parser.add_argument("--strike", action="store_true", help="take what is no longer slower out of the list")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    known = [name for name, program in USERS.items() if not program.variant]
    if unknown := set(options.programs) - set(known):
        parser.error(f"no program {', '.join(sorted(unknown))}")
    chosen = options.programs or known
    with tempfile.TemporaryDirectory() as folder:
        table = compared if options.values else measured if options.device else timed
        wrong = table(options, chosen, pathlib.Path(folder))
    return f"{wrong} are not as they should be" if wrong else None


if __name__ == "__main__":
    sys.exit(main())
