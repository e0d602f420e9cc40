"""Arrays that are not numpy's, or not as kernels want them."""

import os
import sys
import warnings

import numpy as np

from ._lift import Error


class CopyWarning(UserWarning):
    """An argument was copied, because kernels read rows of another type or in another order."""


# What was said already: the definition, the argument, and why.
_said: set[tuple[str, str, str]] = set()


def prepared(value, dtype, dimensions, name, type_, definition):
    """A numpy array of the type and number of dimensions, row by row, and whether it came from another library."""
    wanted = f"the argument `{name}` of `{definition}` is `{type_}`: an array of {dtype} with {_dimensions(dimensions)}"
    foreign = not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "__dlpack__")
    array = _of_library(value, wanted) if foreign else _of_python(value, dtype, wanted)
    if array.ndim != dimensions:
        raise Error(f"{wanted} is wanted, not {_described(array)}")
    if array.dtype != dtype:
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            raise Error(f"{wanted} is wanted, not {_described(array)}; convert it by `.astype(np.{dtype})`")
        _say(definition, name, f"it is of {array.dtype}, not {dtype}")
    elif not array.flags.c_contiguous:
        _say(definition, name, "its rows do not lie one after the other")
    elif not array.flags.aligned:
        _say(definition, name, "it is not aligned")
    return np.require(array, dtype, ["C", "A"]), foreign


def returned(value, like):
    """A result as arrays of the library that `like` is from."""
    if isinstance(value, tuple):
        return tuple(returned(part, like) for part in value)
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if library is not None and library.__name__ in ("jaxlib", "jax"):
        import jax.numpy as library
    convert = getattr(library, "from_dlpack", None)
    return value if convert is None else convert(np.asarray(value))


def _of_library(value, wanted):
    try:
        kind, _ = value.__dlpack_device__()
        # 1 is the memory of the host.
        if kind == 1:
            return np.from_dlpack(value)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Error(f"{wanted} is wanted; what {type(value).__name__} gives cannot be read: {error}") from error
    raise Error(f"{wanted} is wanted in the memory of the host, not on a device; move it there first")


def _of_python(value, dtype, wanted):
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    # Numbers of Python have no width: they take that of the program, as in numpy's own functions.
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and not hasattr(value, "__array__"):
            kinds = {"b": "biuf", "i": "iuf", "u": "iuf", "f": "f"}
            if np.dtype(dtype).kind in kinds[array.dtype.kind]:
                return np.asarray(value, dtype)
        return array
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{wanted} is wanted, not {type(value).__name__}: {error}") from error


def _dimensions(count):
    return "1 dimension" if count == 1 else f"{count} dimensions"


def _described(array):
    return f"one of {array.dtype} with the shape {array.shape}"


def _say(definition, name, why):
    if (definition, name, why) not in _said:
        _said.add((definition, name, why))
        warnings.warn(f"the argument `{name}` of `{definition}` is copied: {why}", CopyWarning, stacklevel=3)


def _after_fork():
    """The threads of OpenMP do not come along when a process divides, and would be waited for."""
    import ctypes

    for library in ("libgomp.so.1", "libomp.so.5", "libiomp5.so"):
        try:
            ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_NOW).omp_set_num_threads(1)
        except (AttributeError, OSError):
            pass


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
