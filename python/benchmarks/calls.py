"""What a call costs on arrays so small that nothing else counts: twice the numbers of an array of four.

    python3 python/benchmarks/calls.py

prints the median of many rounds, taken by turns, for Lift, for the same kernel called by ctypes, for numpy, and for numba and JAX
where they are installed.
"""

import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import lift

TEXT = r"def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\x -> x + x);"
CALLS, ROUNDS = 2000, 30


def by_ctypes(folder):
    """The exported program, called as ctypes users do: arrays made by numpy, addresses by `ctypes.data`."""
    (folder / "twice.lift").write_text(TEXT)
    subprocess.run([sys.executable, "-m", "lift", "export", "twice.lift", "--target", "c", "--at", "N=4", "--name", "twice", "-o", "."],
                   cwd=folder, check=True, capture_output=True)
    subprocess.run(["cc", "-O3", "-march=native", "-fopenmp", "-fwrapv", "-fPIC", "-shared", "twice.c", "-o", "twice.so"],
                   cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "twice.so")).twice
    function.argtypes = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]

    def call(xs):
        result = np.empty(xs.shape, xs.dtype)
        if function(xs.size, xs.ctypes.data, result.ctypes.data):
            raise RuntimeError
        return result

    return call


def rivals(folder):
    yield "Lift", lift.program(TEXT).twice
    yield "ctypes, the same kernel", by_ctypes(folder)
    yield "numpy, `xs + xs`", lambda xs: xs + xs
    try:
        import numba

        yield "numba, `@njit`", numba.njit(lambda xs: xs + xs)
    except ImportError:
        pass
    try:
        import jax

        yield "JAX, `jit`, a numpy array in", jax.jit(lambda xs: xs + xs)
    except ImportError:
        pass


def main():
    xs = np.arange(4, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        calls = list(rivals(pathlib.Path(folder)))
        for _, call in calls:
            assert np.array_equal(call(xs), xs + xs)
        times = {name: [] for name, _ in calls}
        for _ in range(ROUNDS):
            for name, call in calls:
                start = time.perf_counter()
                for _ in range(CALLS):
                    call(xs)
                times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    print("| call | µs |\n|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {statistics.median(taken):.2f} |")


main()
