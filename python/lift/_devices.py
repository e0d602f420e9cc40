"""Arrays of other libraries on a GPU: the streams that they are used in, and results of the same library.

Work is queued in the stream that the library of the first such argument uses at the moment: it comes after what the caller did before,
and before what the caller does next.
"""

import numpy as np

from ._arrays import _dimensions, _say
from ._lift import DeviceArray, Error

# What DLPack calls the stream that all threads share; libraries call it 0.
_SHARED = 1


class _Torch:
    def stream(self, value, number):
        import torch

        return torch.cuda.current_stream(number).cuda_stream or _SHARED

    def wait(self, number):
        import torch

        torch.cuda.current_stream(number).synchronize()

    def empty(self, like, shape, dtype):
        import torch

        array = torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
        return array, array.data_ptr()

    def dtype(self, value):
        return str(value.dtype).removeprefix("torch.")

    def copied(self, value, dtype):
        import torch

        return value.detach().to(getattr(torch, dtype), copy=True, memory_format=torch.contiguous_format)


class _Jax:
    """Has streams of its own that it does not show, and arrays that nobody else writes to: calls wait for their results."""

    def stream(self, value, number):
        return None

    def empty(self, like, shape, dtype):
        _, number = like.__dlpack_device__()
        array = DeviceArray(number, list(shape), dtype)
        return array, array.address

    def taken(self, array):
        import jax

        return jax.dlpack.from_dlpack(array)

    def dtype(self, value):
        return str(value.dtype)

    def copied(self, value, dtype):
        import jax

        return jax.numpy.array(value, dtype, copy=True)


class _CuPy:
    def stream(self, value, number):
        import cupy

        with cupy.cuda.Device(number):
            return cupy.cuda.get_current_stream().ptr or _SHARED

    def wait(self, number):
        import cupy

        with cupy.cuda.Device(number):
            cupy.cuda.get_current_stream().synchronize()

    def empty(self, like, shape, dtype):
        import cupy

        with like.device:
            array = cupy.empty(shape, dtype)
        return array, array.data.ptr

    def dtype(self, value):
        return str(value.dtype)

    def copied(self, value, dtype):
        with value.device:
            return value.astype(dtype, order="C", copy=True)


_LIBRARIES = {"torch": _Torch(), "cupy": _CuPy(), "jax": _Jax()}
_LIBRARIES["jaxlib"] = _LIBRARIES["jax"]


def library(value):
    """How arrays like this are used."""
    name = type(value).__module__.partition(".")[0]
    found = _LIBRARIES.get(name)
    if found is None:
        raise Error(
            f"arrays of {type(value).__module__}.{type(value).__name__} on a GPU are not known, those of torch, CuPy and JAX are: "
            "move the array to the host, or turn it into one of them by `from_dlpack`"
        )
    return found


def stream(value, number):
    """The stream that the array's library uses on the device at the moment, as CUDA's driver names it; `None` where it does not say."""
    return library(value).stream(value, number)


def empty(like, shape, dtype):
    """A new array of the same library on the same device, and its address."""
    return library(like).empty(like, shape, dtype)


def taken(home, array):
    """A result that was made by `empty` and is done now."""
    return library(home).taken(array)


def wait(home, number):
    """Waits for what was queued."""
    library(home).wait(number)


def capsule(value, home, stream):
    """The array as DLPack hands it over, ready for what is queued in the stream from now on, and whether it is of `home`'s library."""
    # Libraries order their own work: their stream is the one that is used. -1 says so.
    is_home = library(value) is library(home)
    if stream is None:
        stream = _SHARED
    elif is_home:
        stream = -1
    try:
        return value.__dlpack__(stream=stream), is_home
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Error(f"what {type(value).__name__} gives cannot be read: {error}") from error


def copied(value, dtype, dimensions, name, type_, definition):
    """The array as kernels want it, copied by its own library on the device."""
    wanted = f"the argument `{name}` of `{definition}` is `{type_}`: an array of {dtype} with {_dimensions(dimensions)}"
    of = library(value)
    found, shape = of.dtype(value), tuple(value.shape)
    described = f"one of {found} with the shape {shape}"
    if len(shape) != dimensions:
        raise Error(f"{wanted} is wanted, not {described}")
    if found != dtype:
        try:
            converts = np.can_cast(found, dtype, "same_kind")
        except TypeError:
            converts = False
        if not converts:
            raise Error(f"{wanted} is wanted, not {described}; convert it first")
        _say(definition, name, f"it is of {found}, not {dtype}")
    else:
        _say(definition, name, "its rows do not lie one after the other, aligned to 16 bytes")
    return of.copied(value, dtype)
