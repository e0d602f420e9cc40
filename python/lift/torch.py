"""Definitions as operators of torch, which `torch.compile` traces.

    >>> import lift, lift.torch, torch
    >>> program = lift.load("layer.lift")
    >>> layer = lift.torch.function(program.layer, gradient=program.layer_gradient)
    >>> torch.compile(lambda x, w: torch.tanh(layer(x, w)))
"""

import itertools
import keyword
from typing import Any, Callable, Optional, Union

import torch

from ._lift import Error, Function

_numbers = itertools.count()


def function(
    definition: Function, *, gradient: Optional[Function] = None, name: Optional[str] = None, **words: Union[int, str]
) -> Callable[..., Any]:
    """The definition as an operator of torch, made by `torch.library.custom_op`.

    It runs where its tensors are: on the host, or on a GPU in the order of torch's current stream. `words` are sizes, parameters and the
    device of every call. A parameter that is a tuple takes a list of tensors; results are a tensor, or a tuple of all that the result has.

    `gradient` is a definition that computes the gradients: it takes the same arguments and behind them the gradient of each tensor of the
    result, and its results are the gradients of the parameters that are arrays of floats, in order. `name` is what torch knows the operator
    by: `lift::mm_0` unless given.
    """
    operator = _operator(definition, name or f"lift::{definition.__name__}_{next(_numbers)}", words)
    if gradient is not None:
        operator.register_autograd(_backward(definition, gradient, words), setup_context=_setup)
    return operator


def _operator(definition, name, words):
    parameters, results = definition.parameters, definition.results
    sizes = {word: value for word, value in words.items() if word != "device"}

    def run(*arguments):
        given = [_without_gradients(argument) for argument in arguments]
        parts = tuple(torch.as_tensor(part) for part in _flat(definition(*given, **words)))
        return parts[0] if len(parts) == 1 else parts

    def fake(*arguments):
        tensors = [_tensors(argument) for argument in arguments]
        shapes = _shapes(definition, tensors, sizes)
        like = next((tensor for part in tensors for tensor in part), torch.empty(0))
        parts = tuple(like.new_empty(shape, dtype=getattr(torch, dtype)) for shape, (dtype, _) in zip(shapes, results))
        return parts[0] if len(parts) == 1 else parts

    takes = ", ".join(f"{_type(arrays)} {_named(parameter)}" for parameter, arrays in parameters)
    returns = "Tensor" if len(results) == 1 else f"({', '.join(['Tensor'] * len(results))})"
    operator = torch.library.custom_op(name, run, mutates_args=(), schema=f"({takes}) -> {returns}")
    operator.register_fake(fake)
    return operator


def _is_number(arrays):
    return len(arrays) == 1 and not arrays[0][1]


def _type(arrays):
    """What torch calls the type of a parameter."""
    if not _is_number(arrays):
        return "Tensor" if len(arrays) == 1 else "Tensor[]"
    dtype = arrays[0][0]
    return "bool" if dtype == "bool" else "float" if dtype.startswith("float") else "int"


def _named(parameter):
    return f"{parameter}_" if keyword.iskeyword(parameter) or parameter == "self" else parameter


def _without_gradients(argument):
    """Whether gradients are wanted is torch's business, which calls `gradient` for them."""
    if isinstance(argument, (list, tuple)):
        return tuple(part.detach() for part in argument)
    return argument.detach() if isinstance(argument, torch.Tensor) else argument


def _tensors(argument):
    if isinstance(argument, torch.Tensor):
        return [argument]
    return list(argument) if isinstance(argument, (list, tuple)) else []


def _flat(result):
    return [part for item in result for part in _flat(item)] if isinstance(result, tuple) else [result]


def _shapes(definition, tensors, sizes):
    """The shapes of the results. Lengths that torch leaves open stay so where the program's types name them."""
    lengths = [length for part in tensors for tensor in part for length in tensor.shape]
    if not all(isinstance(length, int) for length in lengths):
        known = dict(sizes)
        for (_, arrays), part in zip(definition.parameters, tensors):
            for (_, names), tensor in zip(arrays, part):
                known.update((name, length) for name, length in zip(names, tensor.shape) if name not in known)
        try:
            return [[known[name] if name in known else int(name) for name in names] for _, names in definition.results]
        except ValueError:
            # One is computed from others: for that, torch has to settle them.
            pass
    shapes = [[[int(length) for length in tensor.shape] for tensor in part] for part in tensors]
    return [shape for shape, _ in definition.result_types(shapes, **sizes)]


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*(value for value in inputs if isinstance(value, torch.Tensor)))
    ctx.others = [None if isinstance(value, torch.Tensor) else value for value in inputs]


def _backward(definition, gradient, words):
    wanted = [_type(arrays) == "Tensor" and arrays[0][0].startswith("float") for _, arrays in definition.parameters]
    if any(_type(arrays) == "Tensor[]" for _, arrays in definition.parameters):
        raise Error(f"`{definition.__name__}` takes tuples, of which there are no gradients")
    taken, found = len(definition.parameters) + len(definition.results), len(gradient.parameters)
    if found != taken:
        raise Error(
            f"the gradient `{gradient.__name__}` of `{definition.__name__}` takes {taken} arguments, those of the definition and the "
            f"gradients of its results, not {found}"
        )
    if len(gradient.results) != sum(wanted):
        raise Error(
            f"the gradient `{gradient.__name__}` of `{definition.__name__}` has {sum(wanted)} results, one for each array of floats, not "
            f"{len(gradient.results)}"
        )
    device = {"device": words["device"]} if "device" in words else {}
    operator = function(gradient, **device)

    def backward(ctx, *gradients):
        saved = iter(ctx.saved_tensors)
        arguments = [next(saved) if value is None else value for value in ctx.others]
        results = operator(*arguments, *(part.contiguous() for part in gradients))
        results = iter([results] if isinstance(results, torch.Tensor) else results)
        return tuple(next(results) if is_wanted else None for is_wanted in wanted)

    return backward
