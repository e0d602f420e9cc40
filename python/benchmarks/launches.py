"""What it costs the host to start a kernel on an NVIDIA GPU: twice the numbers of an array of four that lies there.

    python3 python/benchmarks/launches.py

prints the median of many rounds, taken by turns, for Lift on arrays of torch, CuPy and JAX, for the same kernel exported and called by
ctypes, for CuPy's RawKernel, torch.compile and others. What the device does afterwards is not counted, and waited for between rounds.
"""

import ctypes
import os
import pathlib
import statistics
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import cupy
import jax
import torch

import lift
import lift.torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

TEXT = r"def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\x -> x + x);"
KERNEL = 'extern "C" __global__ void twice(const float *xs, float *out, int n) { int i = threadIdx.x; if (i < n) out[i] = xs[i] + xs[i]; }'
CALLS, ROUNDS = 200, 50


def exported(folder, with_result):
    """The exported program, called by ctypes in torch's stream."""
    from gpu_check import built

    library, handle = built(folder, TEXT, "twice", "N=4"), ctypes.c_void_p()
    library.twice.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64]
    assert library.twice_create(ctypes.byref(handle)) == 0
    out = torch.empty(4, device="cuda")

    def call(xs):
        result = torch.empty_like(xs) if with_result else out
        if library.twice(handle, torch.cuda.current_stream().cuda_stream, 4, xs.data_ptr(), result.data_ptr()):
            raise RuntimeError
        return result

    return call


def raw_kernel(xs, kernel=[]):
    if not kernel:
        kernel.append(cupy.RawKernel(KERNEL, "twice"))
    out = cupy.empty_like(xs)
    kernel[0]((1,), (32,), (xs, out, 4))
    return out


def rivals(folder):
    tensor, array, traced = torch.arange(4.0, device="cuda"), cupy.arange(4, dtype=cupy.float32), jax.numpy.arange(4.0)
    twice = lift.program(TEXT).twice
    yield "Lift, a tensor of torch", twice, tensor
    yield "Lift, an array of CuPy", twice, array
    yield "Lift, an array of JAX (waits for the result)", twice, traced
    yield "Lift, `lift.torch.function`", lift.torch.function(twice), tensor
    yield "the same kernel exported, by ctypes, into a new tensor", exported(folder, True), tensor
    yield "the same kernel exported, by ctypes, into the same tensor", exported(folder, False), tensor
    yield "CuPy, `RawKernel`", raw_kernel, array
    yield "CuPy, `xs + xs`", lambda xs: xs + xs, array
    yield "torch, `xs + xs`", lambda xs: xs + xs, tensor
    yield "torch, `torch.compile`", torch.compile(lambda xs: xs + xs), tensor
    yield "JAX, `jit`", jax.jit(lambda xs: xs + xs), traced


def main():
    with tempfile.TemporaryDirectory() as folder:
        calls = list(rivals(pathlib.Path(folder)))
        for name, call, xs in calls:
            assert [float(x) for x in call(xs)] == [0, 2, 4, 6], name
        times = {name: [] for name, _, _ in calls}
        for _ in range(ROUNDS):
            for name, call, xs in calls:
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(CALLS):
                    call(xs)
                times[name].append((time.perf_counter() - start) / CALLS * 1e6)
                torch.cuda.synchronize()
    print("| call on an array of four numbers on the GPU | µs |\n|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {statistics.median(taken):.1f} |")


if __name__ == "__main__":
    main()
