#!/usr/bin/env python3
"""How much do domains save, and how do rows from data compare with a library?

    bench/domains.py --lift target/release/lift --device cuda:0 [--scale 1] [--peer none|torch] [--tune S] [--only rows] [--seed N]
    bench/domains.py --lift target/release/lift --balance 16

A packed triangle is compared with the full square by the same device in the same run, a product of a sparse matrix with
cuSPARSE through torch (`--peer torch`). `--limits` ends with an error where a triangle takes more than 0.6 (`syrk`) or 0.8 (`skew`) of the square's
time, or a sparse product is below 0.8 of the peer. Results are compared with numpy in float64. Times are medians of kernel times; of
a peer, of device events. With `--tune` triangles and squares are tuned first, so many seconds each.

`--balance` runs triangles on the processor with one thread and with so many, and asks the system how long each of these was at work: a triangle
is shared evenly where the busiest is at most a tenth above their mean. Other work on the machine makes runs longer, not a thread's own time.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "programs"))

SQUARES = """
def skew[N](a: [[f32; N]; N]) -> [[f32; N]; N] = [ 0.5 * (a[i, j] - a[j, i]) | (i, j) in grid[N, N] ];

def syrk[N, K](a: [[f32; K]; N]) -> [[f32; N]; N] =
  [ reduce(0.0, (+), [ a[i, k] * a[j, k] | k in line[K] ]) | (i, j) in grid[N, N] ];
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lift", default="lift", help="the command, or a path to it")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--scale", type=float, default=1, help="of the sizes of the largest device")
    parser.add_argument("--peer", choices=["none", "torch"], default="none")
    parser.add_argument("--tune", type=float, default=0, help="seconds for each triangle and square")
    parser.add_argument("--balance", type=int, default=0, help="threads that share triangles on the processor")
    parser.add_argument("--seed", type=int, default=20261117, help="of all arrays")
    parser.add_argument("--only", choices=["halves", "rows", "front"], help="a part of the table")
    parser.add_argument("--limits", action="store_true", help="fail where something is slower than it should be")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, pathlib.Path(folder))
        if args.balance:
            return bench.balance()
        print("| program | size | ms | compared with | ms | of it |\n|---|---|---|---|---|---|")
        for part in ("halves", "rows", "front"):
            if args.only in (None, part):
                getattr(bench, part)()
    if args.limits and bench.slow:
        sys.exit("too slow: " + "; ".join(bench.slow))


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder, self.slow = args, folder, []
        self.random = np.random.default_rng(args.seed)
        self.squares = folder / "squares.lift"
        self.squares.write_text(SQUARES)

    def size(self, n):
        return max(int(n * self.args.scale) // 64 * 64, 64)

    def tuned(self, path, entry, sizes):
        if self.args.tune:
            sizes = ",".join(f"{name}={n}" for name, n in sizes.items())
            command = [self.args.lift, "tune", str(path), "--entry", entry, "--device", self.args.device]
            command += ["--size", sizes, "--time", str(self.args.tune)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            if done.returncode != 0:
                sys.exit(f"{entry}: {done.stderr.strip().splitlines()[0]}")

    def command(self, path, entry, inputs, repeat):
        command = [self.args.lift, "run", str(path), "--entry", entry, "--device", self.args.device]
        for name, array in inputs.items():
            file = self.folder / f"{name}.npy"
            np.save(file, array)
            command.append(f"{name}={file}")
        return command + ["--repeat", str(repeat), "--json", "-o", str(self.folder / "out.npy")]

    def run(self, path, entry, inputs, repeat=5, threads=0):
        env = {**os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {})}
        command = self.command(path, entry, inputs, repeat)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
        if done.returncode != 0:
            sys.exit(f"{entry}: {done.stderr.strip().splitlines()[0]}")
        return np.load(self.folder / "out.npy"), json.loads(done.stdout)["kernel_ms"]

    def busy(self, path, entry, inputs, repeat, threads):
        """How long each thread was at work while all of them had some, in seconds. Threads that wait sleep."""
        env = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        command = self.command(path, entry, inputs, repeat)
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
        samples = []
        while running.poll() is None:
            samples.append(times_of_threads(running.pid))
            time.sleep(0.05)
        if running.returncode != 0:
            sys.exit(f"{entry}: {running.stderr.read().strip().splitlines()[0]}")
        steps = [{task: ns - before[task] for task, ns in now.items() if ns > before.get(task, ns)}
                 for before, now in zip(samples, samples[1:])]
        # Before the first of them and behind the last, one thread reads or writes files.
        steps = [step for step in steps if len(step) >= threads][1:-1]
        tasks = {task for step in steps for task in step}
        found = sorted((sum(step.get(task, 0) for step in steps) / 1e9 for task in tasks), reverse=True)
        return found[:threads]

    def row(self, name, size, ms, peer, other, least=0):
        """One line; at least so much faster than the other it should be."""
        if other and other / ms < least:
            self.slow.append(f"{name}, {size}: {other / ms:.2f} of {peer}, not {least:.2f}")
        share = f"{other / ms:.2f}" if other else ""
        print(f"| `{name}` | {size} | {ms:.4g} | {peer} | {f'{other:.4g}' if other else ''} | {share} |", flush=True)

    def halves(self):
        n, k = self.size(8192), self.size(1024)
        triangles = ROOT / "programs" / "domain" / "triangles.lift"
        for path in (triangles, self.squares):
            self.tuned(path, "skew", {"N": n})
            self.tuned(path, "syrk", {"N": n, "K": k})
        a = self.random.standard_normal((n, n), dtype=np.float32)
        half, ms = self.run(triangles, "skew", {"a": a})
        close(half, (0.5 * (a - a.T))[np.triu_indices(n, 1)], 1e-6)
        _, full = self.run(self.squares, "skew", {"a": a})
        self.row("skew", f"N={n}", ms, "the full square", full, least=1 / 0.8)
        a = self.random.standard_normal((n, k), dtype=np.float32)
        half, ms = self.run(triangles, "syrk", {"a": a})
        some = self.random.integers(0, len(half), 1000)
        i, j = (index[some] for index in np.tril_indices(n))
        close(half[some], np.einsum("nk,nk->n", a[i].astype(float), a[j].astype(float)), 1e-4 * np.sqrt(k))
        _, full = self.run(self.squares, "syrk", {"a": a})
        self.row("syrk", f"N={n}, K={k}", ms, "the full square", full, least=1 / 0.6)

    def balance(self):
        threads = self.args.balance
        triangles = ROOT / "programs" / "domain" / "triangles.lift"
        pairs = ROOT / "programs" / "domain" / "pairs.lift"
        n, k = self.size(4096), 64
        square = self.random.standard_normal((n, n), dtype=np.float32)
        points = self.random.standard_normal((n, 4), dtype=np.float32)
        print(f"| program | 1 thread, ms | {threads} threads, ms | busiest thread, s | mean of threads, s | of the busiest |\n"
              "|---|---|---|---|---|---|")
        uneven = []
        for path, entry, name, array in (
            (triangles, "skew", "a", square),
            (triangles, "syrk", "a", square[:, :k].copy()),
            (pairs, "energy", "p", points),
            (pairs, "tetra_sum", "v", points[:400, 0].copy()),
        ):
            one, many = (self.run(path, entry, {name: array}, 15, count)[1] for count in (1, threads))
            busy = self.busy(path, entry, {name: array}, min(int(4000 / many) + 20, 20000), threads)
            if len(busy) < threads:
                sys.exit(f"{entry}: not seen at work on {threads} threads")
            mean = statistics.mean(busy)
            print(f"| `{entry}`, N={len(array)} | {one:.4g} | {many:.4g} | {busy[0]:.4g} | {mean:.4g} | {mean / busy[0]:.2f} |", flush=True)
            if mean < busy[0] / 1.1:
                uneven.append(f"{entry}: {mean / busy[0]:.2f}")
        if uneven:
            sys.exit("threads are not busy for equally long: " + "; ".join(uneven))

    def rows(self):
        rows = columns = self.size(1_000_000)
        entries = 10 * rows
        for name, weights in (("uniform", np.ones(rows)), ("power law", 1 / np.arange(1, rows + 1) ** 0.8)):
            lengths = self.random.multinomial(entries, weights / weights.sum())
            self.random.shuffle(lengths)
            starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
            cols = self.random.integers(0, columns, entries, dtype=np.int32)
            vals = self.random.standard_normal(entries, dtype=np.float32)
            x = self.random.standard_normal(columns, dtype=np.float32)
            inputs = {"starts": starts, "cols": cols, "vals": vals, "x": x}
            found, ms = self.run(ROOT / "programs" / "domain" / "rows.lift", "spmv", inputs, repeat=20)
            sums = np.concatenate([[0], np.cumsum(vals.astype(float) * x[cols])])
            close(found, sums[starts[1:]] - sums[starts[:-1]], 1e-2)
            other = sparse_in_torch(starts, cols, vals, x) if self.args.peer == "torch" else None
            size = f"{entries} entries, {name}, longest row {lengths.max()}"
            self.row("spmv", size, ms, "cuSPARSE", other, least=0.8)

    def front(self):
        n = self.size(8192)
        letters = {name: self.random.integers(0, 4, n, dtype=np.uint8) for name in "ab"}
        _, ms = self.run(ROOT / "programs" / "domain" / "recurrences.lift", "smith_waterman", letters, repeat=3)
        self.row("smith_waterman", f"{n}²", ms, "", None)


def times_of_threads(process):
    """How long each thread of a process has run, in nanoseconds."""
    found = {}
    for task in pathlib.Path(f"/proc/{process}/task").glob("*"):
        try:
            found[task.name] = int((task / "schedstat").read_text().split()[0])
        except (OSError, IndexError):
            pass  # a thread that has ended
    return found


def close(found, wanted, tolerance):
    worst = np.abs(found - wanted).max()
    if not worst <= tolerance:
        sys.exit(f"wrong by {worst}")


def sparse_in_torch(starts, cols, vals, x):
    import torch

    starts, cols, vals, x = (torch.from_numpy(array).cuda() for array in (starts, cols, vals, x))
    matrix = torch.sparse_csr_tensor(starts, cols, vals, (len(starts) - 1, len(x)))
    times = []
    for _ in range(15):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        matrix @ x
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[5:])


if __name__ == "__main__":
    main()
