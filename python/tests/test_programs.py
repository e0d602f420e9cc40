"""Every program of the repository computes on `cpu`, on numpy's own memory, what the interpreter says it means."""

import re

import numpy as np
import pytest

import lift
from conftest import ROOT

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}

# Sizes for all size variables of a definition: the first that its clauses allow is taken.
CHOICES = (16, 64, 128, 4, 6, 20, 256, 1024)


def split(text):
    """The parts between commas that are in no parentheses."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() else parts


def value(type_, sizes, rng, outer=()):
    """Random small numbers of a type, as Python takes them."""
    if type_.startswith("["):
        element, _, length = type_[1:-1].rpartition(";")
        length = eval(length.replace("/", "//"), {"min": min, "max": max}, dict(sizes))
        return value(element.strip(), sizes, rng, (*outer, length))
    if type_.startswith("("):
        return tuple(value(part, sizes, rng, outer) for part in split(type_[1:-1]))
    scalar, lanes = re.fullmatch(r"(bool|[iuf]\d+?)(?:x(\d+))?", type_).groups()
    shape = (*outer, int(lanes)) if lanes else outer
    dtype = DTYPES[scalar]
    if dtype in (np.float16, np.float32, np.float64):
        return (rng.integers(-8, 9, shape) / 4).astype(dtype) if shape else float(rng.integers(1, 5))
    # In order, since some programs take where parts begin.
    array = rng.integers(0, 2 if dtype is np.bool_ else 4, shape)
    array = np.sort(array) if shape else array
    return array.astype(dtype) if shape else int(array)


def functions():
    for path in sorted((ROOT / "programs").rglob("*.lift")):
        for function in lift.load(path, allow_extern=True).functions:
            yield pytest.param(function, id=f"{path.stem}.{function.__name__}")


def flat(result):
    return [part for item in result for part in flat(item)] if isinstance(result, tuple) else [np.asarray(result)]


@pytest.mark.parametrize("function", list(functions()))
def test_cpu_agrees_with_the_interpreter(function):
    generics, params = re.match(r"def \w+(?:\[([^\]]*)\])?\((.*)\) ->", function.signature).groups()
    names = split((generics or "").partition(";")[0])
    rng = np.random.default_rng(7)
    reasons = []
    for choice in CHOICES:
        sizes = dict.fromkeys(names, choice)
        try:
            arguments = [value(param.partition(":")[2].strip(), sizes, rng) for param in split(params)]
            expected = flat(function(*arguments, device="interp"))
        except (lift.Error, SyntaxError, NameError, ValueError, ZeroDivisionError, AttributeError) as error:
            reasons.append(str(error))
            continue
        found = flat(function(*arguments))
        for want, have in zip(expected, found, strict=True):
            assert want.dtype == have.dtype and want.shape == have.shape
            if want.dtype.kind == "f":
                size = np.abs(want[np.isfinite(want)]).max(initial=1.0)
                assert np.allclose(have, want, rtol=2e-3, atol=1e-4 * size, equal_nan=True)
            else:
                assert np.array_equal(have, want)
        return
    pytest.fail("; ".join(reasons))
