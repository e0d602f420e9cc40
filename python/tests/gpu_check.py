"""On a machine with an NVIDIA GPU: programs on arrays of torch, CuPy and JAX where they are, and an exported library on torch's.

    python3 gpu_check.py

needs this package, numpy, torch, CuPy, JAX with CUDA, and a C compiler with CUDA's headers and NVRTC. Prints a line for each check, and
fails where one does.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

# JAX would take most of the memory at its start.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import torch

import lift
import lift.torch

MM = r"""
def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\row -> transpose(B) |> map(\col ->
    zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+))));

def mm_gradient[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K], G: [[f32; N]; M]) -> ([[f32; K]; M], [[f32; N]; K]) =
  (G |> map(\row -> B |> map(\col -> zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+)))),
   transpose(A) |> map(\row -> transpose(G) |> map(\col -> zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+)))));
"""

TWICE = r"def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\x -> x + x);"

# Several kernels, with arrays between them.
CHAIN = r"""
def chain[N](xs: [f32; N]) -> [f32; N] =
  let a = xs |> map(\e -> e - e + e + 1.0);
  let b = zip(a, a |> gather(reverse)) |> map(\(p, q) -> p - p + q * 2.0);
  zip(b, b |> gather(reverse)) |> map(\(p, q) -> p - p + q + 3.0);
"""

PICK = r"def pick[N, M](xs: [f32; N], at: [i32; M]) -> [f32; M] = at |> map(\i -> xs[i]);"

PROGRAM = lift.program(MM)
mm = PROGRAM.mm
SIZES = [(512, 512, 512), (33, 65, 17), (1, 1, 1), (2048, 128, 256)]


def close(found, a, b):
    expected = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
    return np.allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def on_the_device():
    """Arrays of numpy, copied to the device and back."""
    rng = np.random.default_rng(1)
    for m, k, n in SIZES:
        a, b = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
        assert close(mm(a, b, device="cuda:0"), a, b), (m, k, n)


def tensors_of_torch():
    """In and out without copies: no warning, no memory but the result's, and the result where the kernel wrote it."""
    for m, k, n in SIZES:
        a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
        mm(a, b)
        torch.cuda.synchronize()
        before, places = torch.cuda.memory_allocated(), (a.data_ptr(), b.data_ptr())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            c = mm(a, b)
        assert isinstance(c, torch.Tensor) and c.device == a.device and c.dtype == torch.float32 and c.shape == (m, n)
        assert (a.data_ptr(), b.data_ptr()) == places and c.data_ptr() not in places
        assert torch.cuda.memory_allocated() - before <= max(512, -(-4 * m * n // 512) * 512)
        assert close(c.cpu(), a.cpu(), b.cpu()), (m, k, n)


def pointers_are_equal():
    """What is handed to the device is the memory of the argument, and what the kernel wrote to is the memory of the result."""
    import cupy

    from lift import _devices

    twice = lift.program(TWICE).twice
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for xs, address in ((torch.ones(64, device="cuda"), torch.Tensor.data_ptr), (cupy.ones(64, cupy.float32), lambda xs: xs.data.ptr)):
        _, handed, _ = _devices.handed(xs, None, None)
        assert ctypes.c_void_p.from_address(pointer_of(handed, b"dltensor")).value == address(xs)
        made, given = _devices.empty(xs, (64,), "float32")
        assert given == address(made)
        # The library gives the memory that was just freed to the next array of the size: the result lies there.
        del made
        result = twice(xs)
        assert address(result) == given and type(result) is type(xs) and float(result.sum()) == 128


def arrays_of_cupy():
    import cupy

    for m, k, n in SIZES:
        a, b = cupy.random.standard_normal((m, k), cupy.float32), cupy.random.standard_normal((k, n), cupy.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            c = mm(a, b)
        assert isinstance(c, cupy.ndarray) and close(c.get(), a.get(), b.get()), (m, k, n)


def arrays_of_jax():
    import jax

    device = next((device for device in jax.devices() if device.platform in ("gpu", "cuda")), None)
    assert device is not None, "JAX has no GPU here"
    key = jax.random.key(1)
    for m, k, n in SIZES:
        a, b = jax.random.normal(key, (m, k)), jax.random.normal(key, (k, n))
        c = mm(a, b)
        assert isinstance(c, jax.Array) and c.devices() == a.devices() and close(np.asarray(c), np.asarray(a), np.asarray(b)), (m, k, n)
        total = jax.jit(lambda c: (c * 2).sum())(c)
        assert np.isclose(float(total), 2 * np.asarray(c, np.float64).sum(), rtol=1e-3, atol=1e-2)


def arrays_of_two_libraries():
    import cupy

    a, b = torch.randn(64, 48, device="cuda"), cupy.random.standard_normal((48, 32), cupy.float32)
    c, d = mm(a, b), mm(b.T.copy(), a.T.contiguous())
    assert isinstance(c, torch.Tensor) and isinstance(d, cupy.ndarray)
    assert close(c.cpu(), a.cpu(), b.get()) and close(d.get(), b.get().T, a.cpu().numpy().T)


def two_streams():
    """A call comes after what is in the caller's stream, and does not wait for what is in others'."""
    twice = lift.program(TWICE).twice
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    n = 1 << 20
    twice(torch.zeros(n, device="cuda"))
    for turn in range(20):
        results = []
        for number, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                xs = torch.zeros(n, device="cuda")
                # A kernel that is behind this sleep, and reads what is written after it.
                torch.cuda._sleep(20_000_000)
                xs += turn + number
                results.append(twice(xs) + 1)
        for number, result in enumerate(results):
            streams[number].synchronize()
            assert bool((result == 2 * (turn + number) + 1).all()), (turn, number)
    with torch.cuda.stream(streams[0]):
        torch.cuda._sleep(2_000_000_000)
    started = time.perf_counter()
    with torch.cuda.stream(streams[1]):
        result = twice(torch.ones(n, device="cuda"))
        streams[1].synchronize()
    other = time.perf_counter() - started
    busy = not streams[0].query()
    streams[0].synchronize()
    assert bool((result == 2).all()) and busy, f"the other stream was waited for: {other:.3f} s"
    with torch.cuda.stream(streams[0]):
        torch.cuda._sleep(2_000_000_000)
        result = twice(torch.ones(n, device="cuda"))
        assert not streams[0].query(), "the call waited for its stream"
    streams[0].synchronize()
    assert bool((result == 2).all())


def threads_with_streams():
    wrong = []

    def work(number):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for turn in range(30):
                a = torch.full((40 + number, 24), float(turn), device="cuda")
                b = torch.ones(24, 16, device="cuda")
                if not bool((mm(a, b) == 24.0 * turn).all()):
                    wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong and not any(thread.is_alive() for thread in threads), wrong


def several_kernels_and_checks():
    xs = torch.randn(10_000, device="cuda")
    chain = lift.program(CHAIN).chain
    assert torch.allclose(chain(xs), (xs + 1) * 2 + 3)
    pick = lift.program(PICK).pick
    at = torch.tensor([3, 0, 9_999], dtype=torch.int32, device="cuda")
    assert torch.equal(pick(xs, at), xs[at.long()])
    try:
        pick(xs, at + 1)
    except lift.Error as error:
        assert "outside an array of length 10000" in str(error)
    else:
        raise AssertionError("an index beyond the end was read")
    total = lift.program("def total[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));").total
    result = total(torch.ones(1000, device="cuda"))
    assert isinstance(result, torch.Tensor) and result.shape == () and float(result) == 1000


def every_type():
    names = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "f16": "float16",
             "f32": "float32", "f64": "float64"}
    for name, dtype in names.items():
        keep = lift.program(f"def keep[N](x: {name}, xs: [{name}; N]) -> ([{name}; N], {name}) = (xs |> map(\\v -> v), x);").keep
        xs = torch.arange(5, device="cuda").to(getattr(torch, dtype))
        same, x = keep(True if name == "bool" else 1, xs)
        assert same.dtype == xs.dtype and torch.equal(same, xs) and x.dtype == xs.dtype and int(x) == 1, name


def what_does_not_fit():
    double = lift.program(r"def double_gpu[M, N](xs: [[f32; N]; M]) -> [[f32; N]; M] = xs |> map(map(\x -> x + x));").double_gpu
    base = torch.randn(64, 64, device="cuda")
    for made in (base.T, base[::2, ::2], base.flatten()[1:1 + 63 * 64].view(63, 64), base.to(torch.float64), base.to(torch.float16),
                 base.to(torch.bfloat16)):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            assert torch.allclose(double(made), 2 * made.to(torch.float32))
    refused = [
        (lambda: mm(base, base.cpu()), "`B` of `mm` lies in the memory of the host, but `A` on `cuda:0`"),
        (lambda: mm(base, base, device="cpu"), "lie on `cuda:0`, not on `cpu`"),
        (lambda: mm(base, base.to(torch.complex64)), "`B` of `mm`.*not one of complex64"),
        (lambda: mm(base.requires_grad_(), base), "gradient"),
        (lambda: mm(base.detach(), base.detach()[:7]), "`K` is 64, from `A`"),
    ]
    import re

    for call, text in refused:
        try:
            call()
        except lift.Error as error:
            assert re.search(text, str(error)), error
        else:
            raise AssertionError(f"not refused: {text}")


def operators_of_torch():
    """The custom operator on the GPU: eager, compiled by Inductor, and its gradient."""
    layer = lift.torch.function(mm, gradient=PROGRAM.mm_gradient)
    x, w = torch.randn(96, 64, device="cuda"), torch.randn(64, 80, device="cuda")
    assert close(layer(x, w).cpu(), x.cpu(), w.cpu())
    torch.library.opcheck(layer, (x.clone().requires_grad_(), w.clone().requires_grad_()))

    def model(x, w):
        return torch.nn.functional.gelu(layer(x * 2, w)).sum()

    def reference(x, w):
        return torch.nn.functional.gelu((x * 2) @ w).sum()

    found, wanted = [], []
    for compute, dtype, into in ((torch.compile(model, fullgraph=True), torch.float32, found), (reference, torch.float64, wanted)):
        a, b = x.to(dtype).clone().requires_grad_(), w.to(dtype).clone().requires_grad_()
        value = compute(a, b)
        value.backward()
        into += [value.detach(), a.grad, b.grad]
    for have, want in zip(found, wanted):
        assert torch.allclose(have.double(), want, rtol=1e-3, atol=1e-3 * float(want.abs().max())), (have, want)


def layers_in_jit():
    import jax
    import lift.jax

    a, b = jax.numpy.ones((8, 6), "float32"), jax.numpy.full((6, 4), 2.0, "float32")
    assert np.array_equal(jax.jit(lambda a, b: 2 * lift.jax.function(mm)(a, b))(a, b), 2 * (np.asarray(a) @ np.asarray(b)))


def a_fork_after_use():
    text = f"""
import os, torch, lift
mm = lift.program({MM!r}).mm
a = torch.ones(8, 8, device="cuda")
mm(a, a)
child = os.fork()
if child == 0:
    try:
        mm(a, a)
    except lift.Error as error:
        os._exit(0 if "forked" in str(error) else 4)
    except BaseException:
        os._exit(5)
    os._exit(3)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert code in (0, 5), code
assert float(mm(a, a).sum()) == 512
print("child", code)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def an_end_while_a_kernel_runs():
    text = f"""
import torch, lift
twice = lift.program({TWICE!r}).twice
a = torch.ones(64, device="cuda")
twice(a)
torch.cuda._sleep(4_000_000_000)
twice(a)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def tuning_on_the_gpu():
    a = torch.randn(256, 256, device="cuda")
    tuned = mm.tune(a, a, trials=6, time=25)
    assert tuned.tried > 0 and tuned.ms > 0 and mm.derivation == tuned.derivation, tuned
    assert close(mm(a, a).cpu(), a.cpu(), a.cpu())
    print("   ", tuned)


def folders(name):
    """Where a file of CUDA's is: in its own folder, or among Python's packages."""
    places = [pathlib.Path("/usr/local/cuda"), *(pathlib.Path(path) for path in sys.path if "site-packages" in path)]
    for place in places:
        if place.is_dir():
            yield from (path.parent for path in place.glob(f"**/{name}"))


def built(folder, text, name, at):
    """The exported library of a definition, as ctypes loads it."""
    (folder / f"{name}.lift").write_text(text)
    export = ["export", f"{name}.lift", "--entry", name, "--name", name, "--target", "cuda", "--at", at, "-o", "."]
    subprocess.run([sys.executable, "-m", "lift", *export], cwd=folder, check=True)
    includes = [f"-I{next(folders(header))}" for header in ("cuda.h", "nvrtc.h")]
    nvrtc = next(path for where in folders("libnvrtc.so*") for path in where.glob("libnvrtc.so*"))
    flags = ["-O2", "-fPIC", "-shared", *includes, f"{name}.c", "-l:libcuda.so.1", str(nvrtc), f"-Wl,-rpath,{nvrtc.parent}"]
    places = [f"-L{place}" for place in ("/usr/local/nvidia/lib64", "/usr/lib/x86_64-linux-gnu") if os.path.isdir(place)]
    subprocess.run(["cc", *places, *flags, "-o", f"{name}.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / f"{name}.so"))


def exported_on_tensors_of_torch():
    """The exported library on torch's memory, in the order of torch's streams."""
    with tempfile.TemporaryDirectory() as name:
        library, handle = built(pathlib.Path(name), MM, "mm", "M=512,K=512,N=512"), ctypes.c_void_p()
        library.mm.argtypes = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_size_t] * 3, *[ctypes.c_uint64] * 3]
        library.mm_error_text.restype = ctypes.c_char_p
        torch.zeros(1, device="cuda")
        code = library.mm_create(ctypes.byref(handle))
        assert code == 0, library.mm_error_text(code)
        for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
            for m, k, n in SIZES:
                with torch.cuda.stream(stream):
                    # What comes before in the stream is waited for by the kernel, not by the host.
                    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
                    c = torch.empty(m, n, device="cuda")
                    code = library.mm(handle, stream.cuda_stream, m, k, n, a.data_ptr(), b.data_ptr(), c.data_ptr())
                    assert code == 0, library.mm_error_text(code)
                stream.synchronize()
                assert close(c.cpu(), a.cpu(), b.cpu()), (m, k, n)
        library.mm_destroy(handle)


CHECKS = [
    on_the_device, tensors_of_torch, pointers_are_equal, arrays_of_cupy, arrays_of_jax, arrays_of_two_libraries, two_streams,
    threads_with_streams, several_kernels_and_checks, every_type, what_does_not_fit, operators_of_torch, layers_in_jit, a_fork_after_use,
    an_end_while_a_kernel_runs, exported_on_tensors_of_torch, tuning_on_the_gpu,
]


def main():
    failed = []
    print(f"lift on {[device.name for device in lift.devices() if device.target == 'cuda']}, torch {torch.__version__}, Python {sys.version.split()[0]}")
    for check in CHECKS:
        started = time.perf_counter()
        try:
            check()
            said = "right"
        except Exception:
            traceback.print_exc()
            failed.append(check.__name__)
            said = "WRONG"
        print(f"{check.__name__}: {said} ({time.perf_counter() - started:.1f} s)", flush=True)
    print(f"wrong: {', '.join(failed)}" if failed else f"all {len(CHECKS)} right")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
