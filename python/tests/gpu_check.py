"""On a machine with an NVIDIA GPU: programs on `cuda:0`, and an exported library on arrays of torch where they are.

    python3 gpu_check.py

needs this package, numpy, and a C compiler; the library also torch and CUDA's headers and NVRTC. Prints a line for each check, and fails
where one does.
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import lift

MM = r"""
def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\row -> transpose(B) |> map(\col ->
    zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+))));
"""

SIZES = [(512, 512, 512), (33, 65, 17), (1, 1, 1)]


def close(found, a, b):
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return np.allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def on_the_device():
    """Arrays of numpy, copied to the device and back."""
    mm, rng = lift.program(MM).mm, np.random.default_rng(1)
    for m, k, n in SIZES:
        a, b = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
        assert close(mm(a, b, device="cuda:0"), a, b), (m, k, n)
        print("cuda:0", (m, k, n), "right")


def folders(name):
    """Where a file of CUDA's is: in its own folder, or among Python's packages."""
    places = [pathlib.Path("/usr/local/cuda"), *(pathlib.Path(path) for path in sys.path if "site-packages" in path)]
    for place in places:
        if place.is_dir():
            yield from (path.parent for path in place.glob(f"**/{name}"))


def built(folder):
    """The exported library, as ctypes loads it."""
    (folder / "mm.lift").write_text(MM)
    export = ["export", "mm.lift", "--target", "cuda", "--at", "M=512,K=512,N=512", "-o", "."]
    subprocess.run([sys.executable, "-m", "lift", *export], cwd=folder, check=True)
    includes = [f"-I{next(folders(header))}" for header in ("cuda.h", "nvrtc.h")]
    nvrtc = next(path for where in folders("libnvrtc.so*") for path in where.glob("libnvrtc.so*"))
    flags = ["-O2", "-fPIC", "-shared", *includes, "mm.c", "-l:libcuda.so.1", str(nvrtc), f"-Wl,-rpath,{nvrtc.parent}"]
    subprocess.run(["cc", *flags, "-o", "mm.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "mm.so"))
    library.mm.argtypes = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_size_t] * 3, *[ctypes.c_uint64] * 3]
    library.mm_error_text.restype = ctypes.c_char_p
    return library


def on_arrays_of_torch(folder):
    """On torch's memory, in the order of torch's streams."""
    import torch

    library, handle = built(folder), ctypes.c_void_p()
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
            assert close(c.cpu().numpy(), a.cpu().numpy(), b.cpu().numpy()), (m, k, n)
            print("exported, on torch's memory", (m, k, n), "right")
    library.mm_destroy(handle)


on_the_device()
with tempfile.TemporaryDirectory() as name:
    on_arrays_of_torch(pathlib.Path(name))
print("all right")
