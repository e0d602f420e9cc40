#!/usr/bin/env python3
"""Programs of the kind users write, in Lift, against numpy and torch.

    python3 users.py --lift PATH --device cpu --small        against numpy, result compared in float64
    python3 users.py --lift PATH --device cpu --small --jax  against the better of numpy and jax.jit
    python3 users.py --lift PATH --device cuda:0             against torch eager and torch.compile (no TF32)
    python3 users.py --device cuda:0 --peers                 only the extra peers (sparse, syrk, f16, bf16)
    python3 users.py --lift PATH --device cpu --check        only whether they are right, at small sizes

Programs are programs/users/NAME.lift, with inputs and numpy in programs/users_expected.py, torch in users_torch.py and
sizes in suites/users.json, of which --small takes the first and others the last.
Lift's time is `kernel_ms` of `lift run --untuned --json`; torch's is by CUDA events, numpy's by the clock; medians, on cpu
the best of --rounds turns.
`ratio` is the best peer's time over Lift's: above 1, Lift is faster. Exits 1 where a program is wrong or fails.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import users_jax
from users_torch import TORCH, USERS, has_arrays, parts

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "programs" / "users"
# By program: the sizes of its definition, small ones first.
SIZES = {
    program.partition(":")[2]: problem["sizes"]
    for problem in json.loads((ROOT / "bench" / "suites" / "users.json").read_text())["problems"]
    for program in problem["programs"]
}


def written(name, value, folder):
    if isinstance(value, tuple):
        path = folder / f"{name}.npz"
        np.savez(path, **{str(i): part for i, part in enumerate(value)})
        return str(path)
    if isinstance(value, np.ndarray):
        path = folder / f"{name}.npy"
        np.save(path, value)
        return str(path)
    return repr(value)


def lift(options, p, name, sizes, files, repeat, output=None):
    """(json, None) or (None, why)."""
    command = [options.lift, "run", str(PROGRAMS / f"{name}.lift"), "--device", options.device, "--untuned", "--json"]
    command += ["--repeat", str(repeat)]
    for k in p.params:
        command += ["--size", f"{k}={sizes[k]}"]
    command += [f"{k}={v}" for k, v in files.items()]
    if output:
        command += ["-o", str(output)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None, f"not done after {options.timeout} s"
    if done.returncode:
        return None, f"exit {done.returncode}: " + " ".join(done.stderr.decode(errors="replace").split())[:300]
    try:
        return json.loads(done.stdout), None
    except ValueError:
        return None, "no JSON: " + done.stdout.decode(errors="replace")[:200]


def loaded(path, count):
    got = np.load(path)
    return tuple(got[str(i)] for i in range(count)) if count else got


def error(got, want, exact):
    """The largest difference, relative to the element or the mean size of elements; for exact ones how many differ."""
    if isinstance(want, tuple):
        return max(error(g, w, exact) for g, w in zip(got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return math.inf
    if exact:
        return float((got.astype(np.int64) != want.astype(np.int64)).sum())
    want = want.astype(np.float64)
    e = np.abs(got.astype(np.float64) - want) / np.maximum(np.abs(want), np.abs(want).mean())
    return float(e.max()) if np.isfinite(e).all() else math.inf


def clock(f, seconds):
    f()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
        if times[-1] > seconds:
            break
    return float(np.median(times)) * 1e3


def events(torch, f, graphs=True, seconds=0.4):
    """The device's time for f: the device sleeps until all calls are queued, or replays a graph of f; the shorter."""
    for _ in range(2):
        f()
    torch.cuda.synchronize()
    start = time.perf_counter()
    f()
    host = time.perf_counter() - start
    torch.cuda.synchronize()
    once = time.perf_counter() - start
    n = int(min(50, max(3, seconds / max(once, 1e-6))))

    def median(call):
        marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(n)]
        torch.cuda._sleep(int(min(0.5, 2 * n * host + 0.002) * 2e9))
        for a, b in marks:
            a.record()
            call()
            b.record()
        torch.cuda.synchronize()
        return float(np.median([a.elapsed_time(b) for a, b in marks]))

    times = [median(f)]
    if not graphs:
        return times[0]
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            f()
        for _ in range(2):
            graph.replay()
        times.append(median(graph.replay))
    except Exception:  # what waits for the device cannot be a graph
        torch.cuda.synchronize()
    return min(times)


def lift_row(options, p, name, sizes, inputs, folder, want, row):
    files = {k: written(k, v, folder) for k, v in inputs.items()}
    count = len(want) if isinstance(want, tuple) else 0
    out = folder / ("out.npz" if count else "out.npy")
    start = time.perf_counter()
    result, why = lift(options, p, name, sizes, files, 1, out)
    row["lift_wall_s"] = round(time.perf_counter() - start, 2)
    if why:
        row["failed"] = why
        return
    row["lift_ms"], row["kernels"] = result["kernel_ms"], len(result["kernels"])
    got = loaded(out, count)
    row["error"] = error(got, want, p.exact)
    row["right"] = row["error"] == 0 if p.exact else row["error"] <= p.tolerance
    if row["lift_ms"] < 500 and not options.check:
        result, why = lift(options, p, name, sizes, files, 3 if row["lift_ms"] > 50 else 20)
        if not why:
            row["lift_ms"] = result["kernel_ms"]
            row["each"] = sorted((round(k["ms"], 4), k["name"]) for k in result["kernels"])[::-1][:4]


def on_paper(p, sizes, folder):
    """Inputs, the folder they go to, and the result in double precision."""
    inputs = p.inputs(np.random.default_rng(7), **sizes)
    return inputs, folder, p.expected(**inputs)


def on_cpu(options, p, name, sizes, folder, row):
    inputs, folder, want = on_paper(p, sizes, folder)
    if options.check:
        return lift_row(options, p, name, sizes, inputs, folder, want, row)
    ready = p.numpy_prepare(**inputs)
    best = {}
    compiled = None
    if options.jax and not p.variant:
        try:
            compiled = users_jax.step(name, p, ready)
        except Exception as problem:  # what jax cannot do is part of the table
            row["jax_failed"] = type(problem).__name__
    for _ in range(options.rounds):  # in turns; the round that others disturbed least counts
        best["numpy_ms"] = min(clock(lambda: p.numpy(**ready), 0.15), best.get("numpy_ms", math.inf))
        if compiled:
            best["jax_ms"] = min(clock(compiled, 0.15), best.get("jax_ms", math.inf))
        lift_row(options, p, name, sizes, inputs, folder, want, row)
        if "failed" in row:
            break
        best["lift_ms"] = min(row["lift_ms"], best.get("lift_ms", math.inf))
    row.update(best)


def on_gpu(options, p, name, sizes, folder, row):
    import torch

    inputs = p.inputs(np.random.default_rng(7), **sizes)

    def sent(v):
        if isinstance(v, tuple):
            return tuple(sent(x) for x in v)
        return torch.from_numpy(v).cuda() if isinstance(v, np.ndarray) else v

    def doubled(v):
        if isinstance(v, tuple):
            return tuple(doubled(x) for x in v)
        if not isinstance(v, torch.Tensor):
            return v
        return v.to(torch.complex128 if v.is_complex() else torch.float64) if v.is_floating_point() or v.is_complex() else v

    torch._dynamo.reset()  # else one function's programs share its limit of compilations
    torch.backends.cudnn.benchmark = True
    peer = TORCH[name]
    x = peer.prepare(torch, {k: sent(v) for k, v in inputs.items()})
    double = None
    with torch.no_grad():
        for kind in ("eager", "compile"):
            if p.variant or (kind == "compile" and not (peer.compiled and options.compile)):
                continue
            try:
                start = time.perf_counter()
                f = peer.steps(torch, x, kind == "compile")
                row[f"{kind}_ms"] = events(torch, f, peer.graphs)
                row[f"{kind}_wall_s"] = round(time.perf_counter() - start, 2)
            except Exception as problem:  # what torch cannot do is part of the table
                row[f"{kind}_failed"] = str(problem)[:200]
        get = lambda v: tuple(get(a) for a in v) if isinstance(v, tuple) else parts(v.cpu().numpy())  # noqa: E731
        try:
            double = {k: doubled(v) for k, v in x.items()}
            want = get(peer.steps(torch, double, False)()) if has_arrays(inputs) else p.expected(**inputs)
        except Exception as problem:
            row["reference"] = "float32: " + str(problem)[:100]
            want = get(peer.steps(torch, x, False)())
    del x, double
    torch.cuda.empty_cache()
    lift_row(options, p, name, sizes, inputs, folder, want, row)
    if "failed" in row and not options.small:  # whether it is right at all
        small = {}
        lift_row(options, p, name, SIZES[name][0], *on_paper(p, SIZES[name][0], folder), small)
        row["at_small"] = small


def extra_peers(save):
    """What torch does for problems that have no program yet."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    rows = []

    def note(name, ms, **more):
        rows.append(dict(program=name, eager_ms=ms, **more))
        print(rows[-1], flush=True)
        save(rows)

    r = np.random.default_rng(3)
    n = 1_000_000
    for kind in ("uniform", "power-law"):
        if kind == "uniform":
            counts = np.full(n, 10)
        else:
            counts = np.minimum((r.pareto(1.2, n) + 1) * 2.2, 200_000).astype(np.int64)
            counts = np.maximum((counts * (1e7 / counts.sum())).astype(np.int64), 1)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        nnz = int(ptr[-1])
        cols = r.integers(0, n, nnz)
        rows_of = np.repeat(np.arange(n), counts)
        order = np.lexsort((cols, rows_of))
        values = torch.rand(nnz, device="cuda")
        for index in (torch.int32, torch.int64):
            a = torch.sparse_csr_tensor(
                torch.from_numpy(ptr).to(index).cuda(), torch.from_numpy(cols[order]).to(index).cuda(), values, (n, n)
            )
            v = torch.rand(n, device="cuda")
            try:
                ms = events(torch, lambda: a @ v)
                note(f"spmv {kind} {index}", ms, nnz=nnz, longest=int(counts.max()), gb_per_s=nnz * 8 / ms / 1e6)
            except Exception as problem:
                print("spmv", kind, index, str(problem)[:200], flush=True)
    a = torch.rand(8192, 1024, device="cuda")
    ms = events(torch, lambda: a @ a.T)
    note("syrk as full A A^T 8192x1024 f32", ms, tflops=2 * 8192 * 8192 * 1024 / ms / 1e9)
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        a, b = (torch.randn(4096, 4096, device="cuda").to(kind) for _ in range(2))
        ms = events(torch, lambda: a @ b)
        note(f"mm 4096^3 {kind}", ms, tflops=2 * 4096**3 / ms / 1e9)
    a = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    ms = events(torch, lambda: b.copy_(a))
    note("copy 1 GiB", ms, gb_per_s=2 * 2**30 / ms / 1e6)


def best(row):
    return min((row[k] for k in ("numpy_ms", "jax_ms", "eager_ms", "compile_ms") if k in row), default=None)


def shown(row):
    text = f"{row['program']:12} {row['size']:32}"
    for key in ("numpy_ms", "jax_ms", "eager_ms", "compile_ms", "lift_ms"):
        text += f" {key[:-3]} {row[key]:.4g}" if key in row else ""
    if "lift_ms" in row:
        text += f" kernels {row['kernels']} ratio {row.get('ratio', math.nan):.3g}"
        text += f" {'right' if row['right'] else 'WRONG'} ({row['error']:.1e})"
    return text + f" [{row.get('lift_wall_s', 0)} s]" + ("  " + row["failed"] if "failed" in row else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=1, help="on cpu, turns of numpy and Lift")
    parser.add_argument("--jax", action="store_true", help="on cpu, jax.jit as a peer, too")
    parser.add_argument("--lift", default=shutil.which("lift") or "lift")
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--peers", action="store_true", help="only torch, for problems without a program")
    parser.add_argument("--check", action="store_true", help="small sizes, no times")
    parser.add_argument("--scratch", help="where inputs and results are put")
    options = parser.parse_args()
    rows = []

    def save(rows):
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))

    if options.peers:
        return extra_peers(save)
    options.small |= options.check
    gpu = options.device != "cpu" and not options.check
    if gpu:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
    only = [w for o in options.only for w in o.split(",")]
    skip = [w for o in options.skip for w in o.split(",")]
    for name, p in USERS.items():
        if (only and name not in only) or name in skip:
            continue
        sizes = SIZES[name][0 if options.small else -1]
        row = dict(program=name, size=",".join(f"{k}={v}" for k, v in sizes.items()), device=options.device)
        folder = pathlib.Path(tempfile.mkdtemp(dir=options.scratch))
        try:
            (on_gpu if gpu else on_cpu)(options, p, name, sizes, folder, row)
        except Exception as problem:
            row["failed"] = row.get("failed", "") + f" {type(problem).__name__}: {problem}"[:300]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        peer = best(row)
        if peer and row.get("lift_ms"):
            row["ratio"] = peer / row["lift_ms"]
        rows.append(row)
        print(shown(row), flush=True)
        save(rows)
    counts = lambda p: not p.variant and not p.extra  # noqa: E731
    good = [r["ratio"] for r in rows if r.get("right") and r.get("ratio") and counts(USERS[r["program"]])]
    if good:
        print(f"geometric mean of {len(good)} right ones of {len(rows)}: {math.exp(np.mean(np.log(good))):.4g}")
    wrong = [r["program"] for r in rows if not r.get("right")]
    if not rows or wrong:
        return f"of {len(rows)} programs {len(wrong)} are wrong or failed: {', '.join(wrong)}"
    print(f"{len(rows)} programs are right")


if __name__ == "__main__":
    sys.exit(main())
