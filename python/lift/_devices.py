"""Arrays of other libraries on a GPU: the streams that they are used in, and results of the same library.

Work is queued in the stream that the library of the first such argument uses at the moment: it comes after what the caller did before,
and before what the caller does next.
"""

import numpy as np

from ._arrays import _dimensions, _say
from ._lift import DeviceArray, Error

# What DLPack calls the stream that all threads share; libraries call it 0.
_SHARED = 1

# What DLPack calls the memory that CUDA's kernels reach: the device's, and what the driver moves.
_CUDA = (2, 13)


class _Library:
    """What libraries have in common."""

    def number(self, value):
        """The number of the GPU that an array lies on; `None` where it lies on none."""
        try:
            kind, number = value.__dlpack_device__()
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            return None
        return number if kind in _CUDA else None

    def capsule(self, value):
        """The array as DLPack hands it over. Work is queued in the stream that the library uses, and need not wait for it: -1 says so."""
        return value.__dlpack__(stream=-1)

    def dtype(self, value):
        return str(value.dtype)


class _Torch(_Library):
    def __init__(self):
        self.torch = self.raw_stream = None

    def loaded(self):
        if self.torch is None:
            import torch

            # The number alone, where there is a way to have it without an object around it.
            self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)
            self.raw_stream = self.raw_stream or (lambda number: torch.cuda.current_stream(number).cuda_stream)
            self.torch = torch
        return self.torch

    def number(self, value):
        return value.get_device() if value.is_cuda else None

    def capsule(self, value):
        if value.requires_grad:
            raise BufferError("it needs its gradient; use `lift.torch.function`, or `.detach()`")
        return self.loaded().utils.dlpack.to_dlpack(value)

    def stream(self, value, number):
        self.loaded()
        return self.raw_stream(number) or _SHARED, True

    def empty(self, like, shape, dtype):
        torch = self.loaded()
        array = torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
        return array, array.data_ptr()

    def dtype(self, value):
        return str(value.dtype).removeprefix("torch.")

    def copied(self, value, dtype):
        torch = self.loaded()
        return value.detach().to(getattr(torch, dtype), copy=True, memory_format=torch.contiguous_format)


class _CuPy(_Library):
    def stream(self, value, number):
        import cupy

        with value.device:
            return cupy.cuda.get_current_stream().ptr or _SHARED, True

    def empty(self, like, shape, dtype):
        import cupy

        with like.device:
            array = cupy.empty(shape, dtype)
        return array, array.data.ptr

    def copied(self, value, dtype):
        with value.device:
            return value.astype(dtype, order="C", copy=True)


class _Jax(_Library):
    """Has streams of its own that it does not show, and arrays that nobody else writes to: it takes results over when they are done."""

    def capsule(self, value):
        return value.__dlpack__(stream=_SHARED)

    def stream(self, value, number):
        return _SHARED, False

    def empty(self, like, shape, dtype):
        array = DeviceArray(self.number(like), list(shape), dtype)
        return array, array.address

    def taken(self, array):
        import jax

        return jax.dlpack.from_dlpack(array)

    def copied(self, value, dtype):
        import jax

        return jax.numpy.array(value, dtype, copy=True)


_LIBRARIES = {"torch": _Torch(), "cupy": _CuPy(), "jax": _Jax()}
_LIBRARIES["jaxlib"] = _LIBRARIES["jax"]
_UNKNOWN = _Library()

# By the type of an array.
_known = {}


def library(value):
    """How arrays like this are used."""
    found = _known.get(type(value))
    if found is None:
        found = _LIBRARIES.get(type(value).__module__.partition(".")[0], _UNKNOWN)
        _known[type(value)] = found
    return found


def handed(value, home, stream):
    """The number of the GPU that an array lies on, the array as DLPack hands it over, and whether it is of the library of `home`, if there
    is one yet. It is ready for what is queued in the stream from now on. `None` where it lies on no GPU.
    """
    of = library(value)
    number = of.number(value)
    if number is None:
        return None
    if of is _UNKNOWN:
        raise Error(
            f"arrays of {type(value).__module__}.{type(value).__name__} on a GPU are not known, those of torch, CuPy and JAX are: "
            "move the array to the host, or turn it into one of them by `from_dlpack`"
        )
    is_home = home is None or library(home) is of
    try:
        return number, of.capsule(value) if is_home else value.__dlpack__(stream=stream), is_home
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Error(f"what {type(value).__name__} gives cannot be read: {error}") from error


def stream(value, number):
    """The stream that the array's library uses on the device at the moment, as CUDA's driver names it, and whether it shows which."""
    return library(value).stream(value, number)


def empty(like, shape, dtype):
    """A new array of the same library on the same device, and its address."""
    return library(like).empty(like, shape, dtype)


def taken(home, array):
    """A result that was made by `empty` and is done now."""
    return library(home).taken(array)


def copied(value, dtype, dimensions, name, type_, definition):
    """The array as kernels want it, copied by its own library on the device."""
    wanted = f"the argument `{name}` of `{definition}` is `{type_}`: an array of {dtype} with {_dimensions(dimensions)}"
    of = library(value)
    found, shape = of.dtype(value), tuple(value.shape)
    described = f"one of {found} with the shape {shape}"
    if len(shape) != dimensions:
        raise Error(f"{wanted} is wanted, not {described}")
    if found != dtype:
        if not _converts(found, dtype):
            raise Error(f"{wanted} is wanted, not {described}; convert it first")
        _say(definition, name, f"it is of {found}, not {dtype}")
    else:
        _say(definition, name, "its rows do not lie one after the other, aligned to 16 bytes")
    return of.copied(value, dtype)


def _converts(found, dtype):
    """Whether numpy would convert so without being asked. It knows no bfloat16, which is a float like others."""
    try:
        return np.can_cast("float16" if found == "bfloat16" else found, dtype, "same_kind")
    except TypeError:
        return False
