"""Arrays on a GPU, as far as they can be looked at where there is none: descriptions of memory that nobody reads.

gpu_check.py does the rest on a machine that has one.
"""

import ctypes
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import lift
from lift import _devices


class Description(ctypes.Structure):
    """`DLManagedTensor` of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32), ("dimensions", ctypes.c_int32),
        ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]


KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class OnDevice:
    """What a library gives out for an array on a GPU. The memory is the host's: a kernel must never be started on it."""

    def __init__(self, array, number=0, capsule_name=b"dltensor", says=(2, None), **changed):
        self.array, self.number, self.capsule_name, self.says, self.changed = array, number, capsule_name, says, changed
        self.shape, self.dtype, self.streams = array.shape, array.dtype, []

    def __dlpack_device__(self):
        return (self.says[0], self.number if self.says[1] is None else self.says[1])

    def __dlpack__(self, *, stream):
        self.streams.append(stream)
        array, count = self.array, self.array.ndim
        lengths = (ctypes.c_int64 * count)(*array.shape)
        strides = (ctypes.c_int64 * count)(*(stride // array.itemsize for stride in array.strides))
        self.description = Description(
            array.ctypes.data, 2, self.number, count, KINDS[array.dtype.kind], 8 * array.itemsize, 1, lengths, strides, 0, None, None
        )
        for name, value in self.changed.items():
            setattr(self.description, name, value)
        return new_capsule(ctypes.addressof(self.description), self.capsule_name, None)


class Library(_devices._Library):
    """Like torch, with a stream of its own."""

    def stream(self, value, number):
        return 77, True

    def empty(self, like, shape, dtype):
        raise AssertionError("no device was opened")

    def copied(self, value, dtype):
        array = np.zeros(value.array.size + 4, dtype)
        start = -array.ctypes.data % 16 // array.itemsize
        array = array[start : start + value.array.size].reshape(value.shape)
        array[...] = value.array
        return OnDevice(array, value.number)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(_devices, "_known", {})


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setitem(_devices._LIBRARIES, "test_devices", Library())


@pytest.fixture
def no_gpu():
    if any(device.target == "cuda" for device in lift.devices()):
        pytest.skip("here is a GPU, and what this test describes is not its memory")


def aligned(*shape, dtype=np.float32):
    memory = np.ones(np.prod(shape, dtype=int) * np.dtype(dtype).itemsize + 16, np.uint8)
    start = -memory.ctypes.data % 16
    return memory[start : start + np.prod(shape, dtype=int) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)


def test_without_a_driver_a_sentence_says_so(mm, library, no_gpu):
    for device in (None, "cuda:0"):
        with pytest.raises(lift.Error, match="libcuda|driver|nvrtc"):
            mm(OnDevice(aligned(4, 4)), OnDevice(aligned(4, 4)), device=device)


def test_memory_that_the_driver_moves_is_a_devices_too(mm, library, no_gpu):
    with pytest.raises(lift.Error, match="libcuda|driver|nvrtc"):
        managed = {"says": (13, 0), "device": 13}
        mm(OnDevice(aligned(4, 4), **managed), OnDevice(aligned(4, 4), **managed))


def test_the_librarys_own_stream_is_used_and_its_arrays_need_not_wait_for_it(mm, library, no_gpu):
    a, b = OnDevice(aligned(4, 4)), OnDevice(aligned(4, 4))
    with pytest.raises(lift.Error):
        mm(a, b)
    assert a.streams == b.streams == [-1]


def test_arrays_of_another_library_wait_for_the_stream(mm, library, monkeypatch, no_gpu):
    class Other(OnDevice):
        __module__ = "other"

    monkeypatch.setitem(_devices._LIBRARIES, "other", Library())
    a, b = OnDevice(aligned(4, 4)), Other(aligned(4, 4))
    with pytest.raises(lift.Error):
        mm(a, b)
    assert a.streams == [-1] and b.streams == [77]


def test_libraries_that_are_not_known_are_named(mm):
    with pytest.raises(lift.Error, match="arrays of test_devices.OnDevice on a GPU are not known, those of torch, CuPy and JAX are"):
        mm(OnDevice(aligned(4, 4)), OnDevice(aligned(4, 4)))


@pytest.mark.parametrize(
    "why, array",
    [
        ("rows", aligned(4, 8)[:, ::2]),
        ("rows", aligned(8, 8).T),
        ("aligned to 16 bytes", aligned(20)[1:17].reshape(4, 4)),
        ("it is of float64", aligned(4, 4, dtype=np.float64)),
        ("it is of int16", aligned(4, 4, dtype=np.int16)),
    ],
)
def test_what_does_not_fit_is_copied_by_its_library_and_said_once(why, array, library, no_gpu):
    name = f"copied_{abs(hash((why, array.shape, array.strides)))}"
    double = lift.program(f"def {name}[M, N](xs: [[f32; N]; M]) -> [[f32; N]; M] = xs |> map(map(\\x -> x + x));")[name]
    with pytest.warns(lift.CopyWarning, match=f"`xs` of `{name}` is copied: .*{why}"):
        with pytest.raises(lift.Error, match="libcuda|driver|nvrtc"):
            double(OnDevice(array))


@pytest.mark.parametrize(
    "array, found",
    [
        (aligned(4), "one of float32 with the shape \\(4,\\)"),
        (aligned(4, 4, dtype=np.complex64), "one of complex64 with the shape \\(4, 4\\); convert it first"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_what_is_wanted(mm, array, found, library, monkeypatch):
    monkeypatch.setitem(KINDS, "c", 5)
    wanted = "`A` of `mm` is `\\[\\[f32; K\\]; M\\]`: an array of float32 with 2 dimensions is wanted, not "
    with pytest.raises(lift.Error, match=wanted + found):
        mm(OnDevice(array), OnDevice(aligned(4, 4)))


def test_arrays_in_different_places_are_named(mm, library):
    here, there = aligned(4, 4), OnDevice(aligned(4, 4))
    with pytest.raises(lift.Error, match="`B` of `mm` lies on `cuda:0`, but `A` in the memory of the host; move one"):
        mm(here, there)
    with pytest.raises(lift.Error, match="`B` of `mm` lies in the memory of the host, but `A` on `cuda:0`; move one"):
        mm(there, here)
    with pytest.raises(lift.Error, match="`B` of `mm` lies on `cuda:1`, but `A` on `cuda:0`"):
        mm(there, OnDevice(aligned(4, 4), number=1))


def test_a_call_runs_where_its_arrays_are(mm, library):
    a = OnDevice(aligned(4, 4))
    for device in ("cpu", "cuda:1", "interp"):
        with pytest.raises(lift.Error, match=f"given to `mm` lie on `cuda:0`, not on `{device}`; move them first"):
            mm(a, a, device=device)


@pytest.mark.parametrize(
    "wrong, text",
    [
        ({"capsule_name": b"dltensor_versioned"}, "no capsule `dltensor`"),
        ({"device": 1}, "not on `cuda:0`"),
        ({"number": 3, "says": (2, 0)}, "not on `cuda:0`"),
        ({"data": None}, "no address"),
        # Not read, but copied by the library, which knows better.
        ({"dimensions": -1}, "libcuda|driver|nvrtc"),
        ({"lanes": 4}, "libcuda|driver|nvrtc"),
    ],
)
@pytest.mark.filterwarnings("ignore::lift.CopyWarning")
def test_capsules_that_are_not_what_they_should_be_are_refused(mm, wrong, text, library, no_gpu):
    with pytest.raises(lift.Error, match=text):
        mm(OnDevice(aligned(4, 4), **wrong), OnDevice(aligned(4, 4)))


def test_what_is_no_capsule_is_refused(mm, library):
    class Odd(OnDevice):
        def __dlpack__(self, *, stream):
            return b"no capsule"

    class Closed(OnDevice):
        def __dlpack__(self, *, stream):
            raise BufferError("it needs its gradient")

    with pytest.raises(lift.Error, match="no capsule"):
        mm(Odd(aligned(4, 4)), OnDevice(aligned(4, 4)))
    with pytest.raises(lift.Error, match="it needs its gradient"):
        mm(Closed(aligned(4, 4)), OnDevice(aligned(4, 4)))


def test_a_library_that_shows_no_stream_waits_for_the_one_that_all_share(mm, monkeypatch, no_gpu):
    monkeypatch.setitem(_devices._LIBRARIES, "test_devices", _devices._Jax())
    a = OnDevice(aligned(4, 4))
    with pytest.raises(lift.Error):
        mm(a, a)
    assert a.streams == [1, 1]


def test_results_on_a_gpu_that_is_not_there_are_refused(no_gpu):
    from lift._lift import DeviceArray

    with pytest.raises(lift.Error, match="libcuda|driver|nvrtc"):
        DeviceArray(0, [4, 4], "float32")
    with pytest.raises(lift.Error, match="larger than any memory"):
        DeviceArray(0, [2**62, 2**62], "float32")
    with pytest.raises(TypeError, match="`complex64` is no type of arrays"):
        DeviceArray(0, [4], "complex64")


def test_bfloat16_is_a_float_like_others():
    assert _devices._converts("bfloat16", "float32") and not _devices._converts("bfloat16", "int32")
    assert not _devices._converts("float_of_nobody", "float32")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_copy_of_the_process_does_not_use_the_gpu(no_gpu):
    text = """
import os
from test_devices import Library, OnDevice, _devices, aligned, lift
from conftest import MM

_devices._LIBRARIES["test_devices"] = Library()
mm, a = lift.program(MM).mm, OnDevice(aligned(4, 4))

def refused():
    try:
        mm(a, a)
    except lift.Error as error:
        return str(error)

assert "forked" not in refused()
child = os.fork()
if child == 0:
    os._exit(0 if "`cuda:0` was used before this process was forked" in refused() else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    done = subprocess.run([sys.executable, "-c", text], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_predictions_take_arrays_on_a_gpu(mm, root, library):
    a = OnDevice(aligned(4, 4))
    machine = root / "data/machines/h200-cuda.json"
    assert mm.predict(a, a, machine=machine)["total_ms"] > 0
