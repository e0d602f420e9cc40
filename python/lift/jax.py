"""Definitions as functions that JAX traces.

    >>> import lift, lift.jax, jax
    >>> mm = lift.jax.function(lift.load("mm.lift").mm)
    >>> jax.jit(lambda a, b: jax.numpy.tanh(mm(a, b)))
"""

from typing import Any, Callable, Union

import jax
import numpy as np

from ._lift import Function


def function(definition: Function, **words: Union[int, str]) -> Callable[..., Any]:
    """The definition as a function of JAX, for `jit` and, one after the other, `vmap`.

    It runs on the host, by `jax.pure_callback`. `words` are sizes, parameters and the device of every call. Results are an
    array, or a tuple of all arrays that the result has.
    """
    sizes = {name: value for name, value in words.items() if name != "device"}

    def host(*arguments):
        arguments = jax.tree.map(np.asarray, arguments)
        parts = jax.tree.leaves(definition(*arguments, **words))
        results = [np.asarray(part) for part in parts]
        return results[0] if len(results) == 1 else tuple(results)

    def call(*arguments):
        shapes = [[list(np.shape(part)) for part in jax.tree.leaves(argument)] for argument in arguments]
        wanted = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in definition.result_types(shapes, **sizes)]
        wanted = wanted[0] if len(wanted) == 1 else tuple(wanted)
        return jax.pure_callback(host, wanted, *arguments, vmap_method="sequential")

    call.__name__ = definition.__name__
    call.__doc__ = definition.signature
    return call
