#!/usr/bin/env python3
"""Tests for the programs of this folder, with results computed by numpy and scipy.

Every function below named after a program chooses small inputs; expected.py says what the program
must give on them. The tests at the end of each .lift file, below the marker line, are written
from these results:

    python reference.py            rewrites the tests that are not up to date; `lift fmt` lays
                                   them out
    python reference.py --check    fails with a diff where a file is not up to date
"""

import argparse
import difflib
import math
import pathlib
import sys
from dataclasses import dataclass

import numpy as np

import expected
from users_expected import USERS

ROOT = pathlib.Path(__file__).resolve().parent
MARKER = "// tests: written by reference.py"
WIDTH = 100
PROGRAMS = {}


def program(path):
    """Registers a function that lists the tests of the file at path."""

    def register(function):
        assert path not in PROGRAMS, path
        PROGRAMS[path] = function
        return function

    return register


# ---------------------------------------------------------------------------------------------
# Inputs and outputs as Lift text


@dataclass
class Vectors:
    """An array whose last axis is the lanes of f32 vectors."""

    values: np.ndarray


@dataclass
class Tuples:
    """An array of tuples, given by its components."""

    parts: list


@dataclass
class Made:
    """An array that the test builds from a formula over its indices."""

    text: object
    values: np.ndarray


@dataclass
class Test:
    name: str
    call: tuple
    equals: str
    expected: object


def made(formula, *sizes):
    """An array of whole numbers from a formula in i, j, ... that reads alike in both languages."""
    names = "ijk"[: len(sizes)]
    values = eval(formula, {}, dict(zip(names, np.indices(sizes))))
    text = f"({formula}) as f32"
    for name, size in reversed(list(zip(names, sizes))):
        text = f"generate({size}, \\{name} -> {text})"
    return Made(text, values.astype(float))


def numbers(*shape, factor=7, start=3, modulus=29, shift=-11, scale=0.25):
    """Small numbers without a pattern, exact in f32."""
    count = math.prod(shape)
    k = np.arange(count)
    values = (k * k * 3 + k * factor + start) % modulus + shift
    return values.reshape(shape) * scale


def call(name, *args):
    return (f"{name}(", [literal(a) for a in args], ")")


def exactly(name, left, expected):
    return Test(name, left, "==", expected)


def nearly(name, left, expected):
    return Test(name, left, "~=", expected)


def digests(left, width):
    """left, an array of rows, with every row replaced by a sum that weighs each place apart."""
    weights = f"generate({width}, \\j -> (j + 1) as f32)"
    fold = f"map(\\row -> zip(row, {weights}) |> map((*)) |> reduce(0.0, (+)))"
    return ("(", [piped(left, [fold])], ")")


def digest(rows):
    """What digests gives; all partial sums must be exact in f32."""
    weighted = rows * np.arange(1, rows.shape[1] + 1)
    assert np.all(rows == np.round(rows)) and np.abs(weighted).sum(axis=1).max() < 2**24
    return weighted.sum(axis=1)


def piped(left, stages):
    return ("", [left], "".join(f" |> {s}" for s in stages))


def literal(value):
    """The text of a value: a string, or (opening, children, closing) for what may be broken."""
    if isinstance(value, Made):
        return value.text
    if isinstance(value, Vectors):
        if value.values.ndim == 1:
            lanes = [number(x) for x in value.values]
            return f"f32x{len(lanes)}({', '.join(lanes)})"
        return ("[", [literal(Vectors(v)) for v in value.values], "]")
    if isinstance(value, Tuples):
        if np.ndim(value.parts[0]) > 1:
            return ("[", [literal(Tuples(row)) for row in zip(*value.parts)], "]")
        return ("[", [("(", list(row), ")") for row in zip(*map(elements, value.parts))], "]")
    if isinstance(value, tuple):
        return ("(", [literal(part) for part in value], ")")
    if np.ndim(value) == 0:
        return number(value)
    return ("[", [literal(v) for v in value], "]")


def elements(part):
    return literal(part)[1]


def number(x):
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    x = np.float32(x) + np.float32(0.0)
    if x == 0 or 1e-4 <= abs(x) < 1e7:
        return np.format_float_positional(x, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(x, unique=True, trim="0").split("e")
    return f"{mantissa}e{int(exponent)}"


# ---------------------------------------------------------------------------------------------
# Layout of tests in files


def flat(node):
    if isinstance(node, str):
        return node
    opening, children, closing = node
    return opening + ", ".join(map(flat, children)) + closing


def layout(node, indent, suffix):
    """The lines of a node, broken only where it does not fit."""
    line = " " * indent + flat(node) + suffix
    if len(line) <= WIDTH or isinstance(node, str):
        return [line]
    opening, children, closing = node
    if not opening:
        return layout(children[0], indent, "") + [" " * (indent + 2) + closing.strip() + suffix]
    lines = [" " * indent + opening]
    for i, child in enumerate(children):
        comma = "," if i + 1 < len(children) else ""
        text = flat(child) + comma
        joined = lines[-1] + " " + text
        leaves = all(isinstance(c, str) and len(c) < 20 for c in children)
        if i > 0 and leaves and len(joined) <= WIDTH:
            lines[-1] = joined
        else:
            lines += layout(child, indent + 2, comma)
    lines.append(" " * indent + closing + suffix)
    return lines


def written(test):
    line = f"test {test.name}: {flat(test.call)} {test.equals} {flat(literal(test.expected))};"
    if len(line) <= WIDTH:
        return [line]
    left = layout(test.call, 2, f" {test.equals}")
    right = layout(literal(test.expected), 2, ";")
    return [f"test {test.name}:"] + left + right


def with_tests(text, tests):
    """The file's text with its tests replaced."""
    source = text.split(MARKER)[0].rstrip()
    blocks = "\n".join("\n".join(written(t)) for t in tests)
    return f"{source}\n\n{MARKER}\n{blocks}\n"


# ---------------------------------------------------------------------------------------------
# Matrix multiplication


@program("mm.lift")
def mm():
    a, b = numbers(3, 4), numbers(4, 5, factor=11, start=2)
    yield nearly("mm_small", call("mm", a, b), expected.mm(a, b))
    col, row = numbers(4, 1), numbers(1, 3, factor=11)
    yield nearly("mm_outer_product", call("mm", col, row), expected.mm(col, row))


@program("extra/mm_cpu.lift")
def mm_cpu():
    a = made("(i * i * 7 + j * j * 5 + i * j) % 131 % 7", 128, 64)
    b = made("(i * i * 3 + j * j * 8 + i * j) % 131 % 5", 64, 256)
    product = expected.mm_cpu(a.values, b.values)
    yield exactly("mm_cpu_tiles", digests(call("mm_cpu", a, b), 256), digest(product))


@program("mm_at.lift")
def mm_at():
    at, b = numbers(4, 3), numbers(4, 5, factor=11, start=2)
    yield nearly("mm_at_small", call("mm_at", at, b), expected.mm_at(at, b))
    left, right = numbers(1, 4), numbers(1, 3, factor=11)
    outer = expected.mm_at(left, right)
    yield nearly("mm_at_outer_product", call("mm_at", left, right), outer)


@program("mm_bt.lift")
def mm_bt():
    a, bt = numbers(3, 4), numbers(5, 4, factor=11, start=2)
    yield nearly("mm_bt_small", call("mm_bt", a, bt), expected.mm_bt(a, bt))
    left, right = numbers(4, 1), numbers(3, 1, factor=11)
    outer = expected.mm_bt(left, right)
    yield nearly("mm_bt_outer_product", call("mm_bt", left, right), outer)


@program("thesis/mm_local.lift")
def mm_local():
    at = made("(i * i * 7 + j * j * 5 + i * j) % 131 % 7", 16, 128)
    b = made("(i * i * 3 + j * j * 8 + i * j) % 131 % 5", 16, 128)
    product = expected.mm_local(at.values, b.values)
    yield exactly("mm_local_tiles", digests(call("mm_local", at, b), 128), digest(product))


@program("thesis/mm_register.lift")
def mm_register():
    at, b = made("(i * 7 + j * 5 + 3) % 11", 3, 8), made("(i * 3 + j * 8 + 1) % 10", 3, 12)
    product = expected.mm_register(at.values, b.values)
    yield exactly("mm_register_blocks", call("mm_register", at, b), product)


@program("thesis/mm_mali.lift")
def mm_mali():
    a, bt = made("(i * 7 + j * 5 + 3) % 11", 4, 8), made("(i * 3 + j * 8 + 1) % 10", 6, 8)
    product = expected.mm_mali(a.values, bt.values)
    yield exactly("mm_mali_small", call("mm_mali", a, bt), product)


@program("thesis/mm_vectorised.lift")
def mm_vectorised():
    a, bt = made("(i * 7 + j * 5 + 3) % 11", 6, 8), made("(i * 3 + j * 8 + 1) % 10", 4, 8)
    product = expected.mm_vectorised(a.values, bt.values)
    yield exactly("mm_vectorised_small", call("mm_vectorised", a, bt), product)


# ---------------------------------------------------------------------------------------------
# The programs of the thesis


def bodies(n):
    pos = numbers(n, 4, factor=13, modulus=31, shift=-15, scale=0.125)
    pos[:, 3] = 2 + np.arange(n) % 3
    vel = numbers(n, 4, factor=5, modulus=17, shift=-8)
    vel[:, 3] = 0
    return pos, vel


@program("thesis/nbody.lift")
def nbody():
    pos, vel = bodies(5)
    moved = Tuples([Vectors(x) for x in expected.nbody(pos, vel, 0.125, 0.5)])
    yield nearly("nbody_small", call("nbody", Vectors(pos), Vectors(vel), 0.125, 0.5), moved)


@program("thesis/nbody_vector.lift")
def nbody_vector():
    pos, vel = bodies(16)
    moved = Tuples([Vectors(x) for x in expected.nbody_vector(pos, vel, 0.25, 0.5)])
    left = call("nbody_vector", Vectors(pos), Vectors(vel), 0.25, 0.5)
    yield nearly("nbody_vector_small", left, moved)


@program("thesis/nbody_local.lift")
def nbody_local():
    """Two tiles of 256; compared are the bodies on both sides of the seam between two groups."""
    i = np.arange(512)
    pos = np.stack([i * 7 % 11, (i * 5 + 3) % 13, (i * 3 + 1) % 17, i % 4 + 1], axis=1) * 1.0
    vel = np.stack([i % 5, i % 3, i % 7, i * 0], axis=1) * 1.0
    lanes = [
        ["i * 7 % 11", "(i * 5 + 3) % 13", "(i * 3 + 1) % 17", "i % 4 + 1"],
        ["i % 5", "i % 3", "i % 7", "i * 0"],
    ]
    texts = [[f"({lane}) as f32" for lane in vector] for vector in lanes]
    pos_text, vel_text = [("generate(512, \\i -> f32x4(", vector, "))") for vector in texts]
    left = call("nbody_local", Made(pos_text, pos), Made(vel_text, vel), 0.125, 0.5)
    moved = expected.nbody_local(pos, vel, 0.125, 0.5)
    seam = ("(", [piped(left, ["drop(62)", "take(4)"])], ")")
    yield nearly("nbody_local_seam", seam, Tuples([Vectors(x[62:66]) for x in moved]))


PARTICLES = np.array([
    [0.0, 0.25, 0.125, 9.0], [1.0, 0.0, 0.25, 8.0], [0.25, 1.25, 0.5, 7.0],
    [1.25, 1.0, 0.0, 6.0], [4.5, 0.5, 2.5, 5.0],
])


@program("thesis/md.lift")
def md():
    pos, lists = PARTICLES, np.array([[1, 2, 3], [0, 3, 4], [3, 0, 1], [2, 1, 4], [3, 1, 0]])
    cutsq, lj1, lj2 = 9.0, 1.5, 2.0
    forces = expected.md(pos, lists, cutsq, lj1, lj2)
    yield nearly("md_small", call("md", Vectors(pos), lists, cutsq, lj1, lj2), Vectors(forces))


@program("thesis/md_private.lift")
def md_private():
    """Two lots of four neighbours."""
    pos, steps = PARTICLES, np.array([1, 2, 4, 3, 2, 1, 3, 4])
    lists = (np.arange(5) + steps[:, None]) % 5
    forces = expected.md_private(pos, lists, 9.0, 1.5, 2.0)
    left = call("md_private", Vectors(pos), lists, 9.0, 1.5, 2.0)
    yield nearly("md_private_small", left, Vectors(forces))


def nearest_clusters(entry, count):
    points, clusters = numbers(7, 3, factor=11, scale=0.5), numbers(count, 3, factor=5, scale=0.5)
    nearest = expected.kmeans(points.T, clusters)
    assert len(set(nearest)) > 2
    return exactly(f"{entry}_small", call(entry, points.T, clusters), nearest)


def nearest_of_equals(entry, *places):
    left = call(entry, [[1.0, 3.0]], [[place] for place in places])
    return exactly(f"{entry}_tie", left, np.array([1, 0]))


@program("thesis/kmeans.lift")
def kmeans():
    yield nearest_clusters("kmeans", 4)
    yield nearest_of_equals("kmeans", 4.0, 2.0, 0.0, 2.0)


@program("thesis/kmeans_global.lift")
def kmeans_global():
    yield nearest_clusters("kmeans_global", 4)
    yield nearest_of_equals("kmeans_global", 4.0, 2.0, 0.0, 2.0)


@program("thesis/kmeans_private.lift")
def kmeans_private():
    """Two blocks of five clusters."""
    yield nearest_clusters("kmeans_private", 10)
    yield nearest_of_equals("kmeans_private", 4.0, 2.0, 7.0, 9.0, 7.0, 0.0, 2.0, 2.0, 4.0, 9.0)


def distances(entry, lat, lng):
    left = call(entry, Tuples([np.array(lat), np.array(lng)]), 30.0, 90.0)
    return nearly(f"{entry}_small", left, expected.nn((np.array(lat), np.array(lng)), 30, 90))


@program("thesis/nn.lift")
def nn():
    lat = [29.5, 31.25, 12.0, 45.75, 30.0, 8.5]
    yield distances("nn", lat, [88.25, 90.0, 101.5, 64.0, 90.0, 179.25])


@program("thesis/nn_global.lift")
def nn_global():
    """Four records of each of two work-items."""
    lat = [29.5, 31.25, 12.0, 45.75, 30.0, 8.5, 60.25, 2.0]
    yield distances("nn_global", lat, [88.25, 90.0, 101.5, 64.0, 90.0, 179.25, 12.5, 90.0])


def magnitudes(entry):
    re, im = numbers(5), numbers(5, factor=11)
    return nearly(f"{entry}_small", call(entry, re, im), expected.phi_mag(re, im))


def contributions(entry, count):
    places = numbers(3, 4, factor=5, modulus=17, shift=-8, scale=0.125)
    samples = numbers(3, count, factor=11, modulus=19, shift=-9, scale=0.125)
    mag = numbers(count, modulus=13, shift=1, scale=0.125)
    sums = expected.q(*places, *samples, mag)
    return nearly(f"{entry}_small", call(entry, *places, *samples, mag), Tuples(sums))


@program("thesis/mriq.lift")
def mriq():
    yield magnitudes("phi_mag")
    yield contributions("q", 5)


@program("thesis/mriq_private.lift")
def mriq_private():
    """Two lots of eight samples."""
    yield magnitudes("phi_mag_global")
    yield contributions("q_private", 16)


def taps17():
    return (np.arange(17) * 5 + 2) % 7 - 2.0


@program("thesis/convolution.lift")
def convolution():
    image, taps = numbers(3, 5), taps17() * 0.25
    rows = expected.convolution_row(taps, image)
    columns = expected.convolution_column(taps, image)
    both = expected.convolution(taps, image)
    yield nearly("convolution_row_small", call("convolution_row", taps, image), rows)
    yield nearly("convolution_column_small", call("convolution_column", taps, image), columns)
    yield nearly("convolution_small", call("convolution", taps, image), both)
    tall = numbers(20, 2, factor=11)
    columns = expected.convolution_column(taps, tall)
    yield nearly("convolution_column_tall", call("convolution_column", taps, tall), columns)


@program("thesis/convolution_tiled.lift")
def convolution_tiled():
    taps, wide = taps17(), made("(i * i * 5 + j * j * 7 + i * j) % 131 % 11", 16, 256)
    rows = expected.convolution_row_tiled(taps, wide.values)
    left = digests(call("convolution_row_tiled", taps, wide), 256)
    yield exactly("convolution_row_tiles", left, digest(rows))
    tall = made("(i * i * 5 + j * j * 7 + i * j) % 131 % 11", 128, 64)
    columns = expected.convolution_column_tiled(taps, tall.values)
    left = digests(call("convolution_column_tiled", taps, tall), 64)
    yield exactly("convolution_column_tiles", left, digest(columns))


@program("thesis/atax.lift")
def atax():
    a, x = numbers(3, 5), numbers(5, factor=11)
    yield nearly("atax_small", call("atax", a, x), expected.atax(a, x))


def matrix(height, width, start):
    return made(f"(i * 5 + j * 7 + {start}) % 131 % 5", height, width)


@program("thesis/atax_local.lift")
def atax_local():
    a, x = matrix(64, 128, 3), made("(i * 3 + 1) % 101 % 4", 128)
    product = expected.atax_local(a.values, x.values)
    assert product.max() < 2**24
    yield exactly("atax_local_parts", call("atax_local", a, x), product)


@program("thesis/gemv.lift")
def gemv():
    a, x, y = numbers(3, 5), numbers(5, factor=11), numbers(3, factor=5)
    left = call("gemv", 1.5, a, x, -0.75, y)
    yield nearly("gemv_small", left, expected.gemv(1.5, a, x, -0.75, y))
    left = call("gemv_t", 1.5, a, y, -0.75, x)
    yield nearly("gemv_t_small", left, expected.gemv_t(1.5, a, y, -0.75, x))


@program("thesis/gemv_coalesced.lift")
def gemv_coalesced():
    a, x = matrix(3, 384, 3), made("(i * 3 + 1) % 101 % 7", 384)
    y = np.array([4.0, -2.0, 7.0])
    left = call("gemv_coalesced", 2.0, a, x, 3.0, y)
    rows = expected.gemv_coalesced(2, a.values, x.values, 3, y)
    yield exactly("gemv_coalesced_rows", left, rows)
    a, x, y = matrix(96, 64, 8), made("(i * 3 + 1) % 101 % 7", 96), made("i % 5", 64)
    left = call("gemv_t_coalesced", 2.0, a, x, 3.0, y)
    columns = expected.gemv_t_coalesced(2, a.values, x.values, 3, y.values)
    yield exactly("gemv_t_coalesced_columns", left, columns)


@program("thesis/gesummv.lift")
def gesummv():
    a, b, x = numbers(3, 4), numbers(3, 4, factor=11), numbers(4, factor=5)
    left = call("gesummv", 1.5, a, -0.5, b, x)
    yield nearly("gesummv_small", left, expected.gesummv(1.5, a, -0.5, b, x))


@program("thesis/gesummv_local.lift")
def gesummv_local():
    a, b, x = matrix(3, 256, 3), matrix(3, 256, 8), made("(i * 3 + 1) % 101 % 7", 256)
    left = call("gesummv_local", 2.0, a, 3.0, b, x)
    rows = expected.gesummv_local(2, a.values, 3, b.values, x.values)
    yield exactly("gesummv_local_rows", left, rows)


@program("thesis/partial_dot.lift")
def partial_dot():
    x, y = made("(i * 7 + 3) % 131 % 11", 384), made("(i * 5 + 1) % 101 % 7", 384)
    chunks = expected.partial_dot(x.values, y.values)
    yield exactly("partial_dot_chunks", call("partial_dot", x, y), chunks)


@program("thesis/transpose_gather.lift")
def transpose_gather():
    xss = numbers(3, 5)
    left = call("transpose_gather", xss)
    yield exactly("transpose_gather_small", left, expected.transpose_gather(xss))


@program("thesis/reverse_coalesced.lift")
def reverse_coalesced():
    xs = made("(i * 7 + 3) % 131", 128)
    left = call("reverse_coalesced", xs)
    yield exactly("reverse_coalesced_chunks", left, expected.reverse_coalesced(xs.values))


# ---------------------------------------------------------------------------------------------
# Stencils


@program("stencil/stencil2d.lift")
def stencil2d():
    grid = numbers(4, 5)
    yield nearly("stencil2d_small", call("stencil2d", grid), expected.stencil2d(grid))


@program("stencil/srad1.lift")
def srad1():
    image, q0 = numbers(4, 5, shift=12), 0.0625
    coefficients = expected.srad1(image, q0)
    assert (coefficients < 1).any() and (coefficients == 1).any()
    yield nearly("srad1_small", call("srad1", image, q0), coefficients)


@program("stencil/srad2.lift")
def srad2():
    image, coeff = numbers(4, 5, shift=12), numbers(4, 5, factor=11, shift=0, scale=1 / 32)
    left = call("srad2", image, coeff, 0.5)
    yield nearly("srad2_small", left, expected.srad2(image, coeff, 0.5))


@program("stencil/hotspot2d.lift")
def hotspot2d():
    temp, power = numbers(4, 5, shift=300), numbers(4, 5, factor=11, shift=1)
    step, rx, ry, rz = 0.125, 0.25, 0.5, 0.0625
    left = call("hotspot2d", temp, power, step, rx, ry, rz)
    yield nearly("hotspot2d_small", left, expected.hotspot2d(temp, power, step, rx, ry, rz))


@program("stencil/gradient.lift")
def gradient():
    grid = numbers(4, 5)
    yield nearly("gradient_small", call("gradient", grid), expected.gradient(grid))


@program("stencil/jacobi2d_5.lift")
def jacobi2d_5():
    grid, line = numbers(4, 5), numbers(1, 6, factor=11)
    yield nearly("jacobi2d_5_small", call("jacobi2d_5", grid), expected.jacobi2d_5(grid))
    yield nearly("jacobi2d_5_line", call("jacobi2d_5", line), expected.jacobi2d_5(line))


@program("stencil/jacobi2d_5_tiled.lift")
def jacobi2d_5_tiled():
    """Multiples of 5, so that all means are whole."""
    grid = made("(i * i + j * j * 7 + i * j) % 101 % 11 * 5", 32, 48)
    means = np.round(expected.jacobi2d_5_tiled(grid.values))
    left = digests(call("jacobi2d_5_tiled", grid), 48)
    yield exactly("jacobi2d_5_tiles", left, digest(means))


@program("stencil/jacobi2d_9.lift")
def jacobi2d_9():
    grid = numbers(4, 5)
    yield nearly("jacobi2d_9_small", call("jacobi2d_9", grid), expected.jacobi2d_9(grid))


@program("stencil/gaussian_25.lift")
def gaussian_25():
    image = numbers(5, 6)
    yield nearly("gaussian_25_small", call("gaussian_25", image), expected.gaussian_25(image))


@program("stencil/jacobi3d_7.lift")
def jacobi3d_7():
    grid = numbers(3, 4, 5)
    yield nearly("jacobi3d_7_small", call("jacobi3d_7", grid), expected.jacobi3d_7(grid))


@program("stencil/heat3d.lift")
def heat3d():
    grid = numbers(3, 4, 5)
    yield nearly("heat3d_small", call("heat3d", grid), expected.heat3d(grid))


@program("stencil/acoustic3d.lift")
def acoustic3d():
    before, now, loss = numbers(3, 4, 5, factor=11), numbers(3, 4, 5), 0.25
    left = call("acoustic3d", before, now, loss)
    yield nearly("acoustic3d_small", left, expected.acoustic3d(before, now, loss))


# ---------------------------------------------------------------------------------------------
# Reductions


@program("reduce/sum.lift")
def sum_():
    xs = numbers(11)
    yield nearly("sum_small", call("sum", xs), expected.sum_(xs))
    yield exactly("sum_one", call("sum", xs[:1]), expected.sum_(xs[:1]))


@program("reduce/asum.lift")
def asum():
    xs = numbers(11)
    yield nearly("asum_small", call("asum", xs), expected.asum(xs))


@program("reduce/dot.lift")
def dot():
    x, y = numbers(7), numbers(7, factor=11)
    yield nearly("dot_small", call("dot", x, y), expected.dot(x, y))


@program("reduce/min.lift")
def min_():
    xs = numbers(9, start=20)
    yield exactly("min_small", call("minimum", xs), expected.minimum(xs))


@program("reduce/argmin.lift")
def argmin():
    xs = numbers(9, start=20)
    yield exactly("argmin_small", call("argmin", xs), expected.argmin(xs))
    xs = np.array([4.0, 1.5, 3.0, 1.5, 2.0])
    yield exactly("argmin_tie", call("argmin", xs), expected.argmin(xs))


def derived(name, n):
    """The five reductions in one derived form."""
    x, y = made("(i * 7 + 3) % 1009 % 11 - 4", n), made("(i * 5 + 1) % 101 % 7", n)
    far = made("(i * 37 + 150) % 1009", n)
    pairs = expected.dot(x.values, y.values)
    yield exactly(f"{name}_sum", call(name, x), expected.sum_(x.values))
    yield exactly(f"{name}_asum_signs", call(f"{name}_asum", x), expected.asum(x.values))
    yield exactly(f"{name}_dot_pairs", call(f"{name}_dot", x, y), pairs)
    yield exactly(f"{name}_min_far", call(f"{name}_min", far), expected.minimum(far.values))
    yield exactly(f"{name}_argmin_far", call(f"{name}_argmin", far), expected.argmin(far.values))
    yield exactly(f"{name}_argmin_ties", call(f"{name}_argmin", x), expected.argmin(x.values))


@program("reduce/llp1.lift")
def llp1():
    return derived("llp1", 384)


@program("reduce/llp2.lift")
def llp2():
    return derived("llp2", 768)


@program("reduce/llp3.lift")
def llp3():
    return derived("llp3", 3072)


# ---------------------------------------------------------------------------------------------
# Further programs


@program("extra/scal.lift")
def scal():
    x = numbers(7)
    yield exactly("scal_small", call("scal", -1.5, x), expected.scal(-1.5, x))


@program("extra/axpy.lift")
def axpy():
    x, y = numbers(7), numbers(7, factor=11)
    yield exactly("axpy_small", call("axpy", -1.5, x, y), expected.axpy(-1.5, x, y))


@program("extra/transpose.lift")
def transpose():
    a = numbers(3, 5)
    yield exactly("transpose_small", call("transposed", a), expected.transposed(a))


@program("extra/pairwise_distance.lift")
def pairwise_distance():
    x, y = numbers(4, 3), numbers(5, 3, factor=11)
    left = call("pairwise_distance", x, y)
    yield nearly("pairwise_distance_small", left, expected.pairwise_distance(x, y))


@program("extra/batched_mm.lift")
def batched_mm():
    a, b = numbers(3, 2, 4), numbers(3, 4, 5, factor=11, start=2)
    yield nearly("batched_mm_small", call("batched_mm", a, b), expected.batched_mm(a, b))


@program("extra/black_scholes.lift")
def black_scholes():
    stock = np.array([20.0, 25.5, 12.0, 30.0, 8.75])
    strike = np.array([18.5, 30.0, 12.0, 15.25, 14.0])
    years = np.array([0.5, 2.0, 1.0, 5.0, 0.75])
    left = call("black_scholes", stock, strike, years, 0.02, 0.3)
    prices = expected.black_scholes(stock, strike, years, 0.02, 0.3)
    yield nearly("black_scholes_small", left, Tuples(prices))


@program("extra/mandelbrot.lift")
def mandelbrot():
    xs, ys = np.array([-2.25, -1.0, -0.75, 0.25, 0.5, 1.0]), np.array([-1.25, 0.125, 0.5, 1.0])
    yield exactly("mandelbrot_small", call("mandelbrot", xs, ys), expected.mandelbrot(xs, ys))


@program("extra/softmax.lift")
def softmax():
    xss = numbers(3, 5)
    yield nearly("softmax_small", call("softmax", xss), expected.softmax(xss))
    high = np.array([[1000.0, 1001.5, 999.0]])
    yield nearly("softmax_high", call("softmax", high), expected.softmax(high))


@program("extra/layernorm.lift")
def layernorm():
    xss, gamma, beta = numbers(3, 5), numbers(5, factor=11), numbers(5, factor=5)
    left = call("layernorm", xss, gamma, beta, 0.001)
    yield nearly("layernorm_small", left, expected.layernorm(xss, gamma, beta, 0.001))



def over(domain, values):
    """A packed array as a test says it."""
    return Made((f"over({domain}, ", [literal(values)], ")"), values)


@program("domain/fig71.lift")
def fig71():
    m = numbers(3, 4)
    yield nearly("fig71_small", call("fig71", m), expected.fig71(m))


@program("domain/triangles.lift")
def triangles():
    half = "{ (i, j) | j <= i, i < %d }"
    a, x = numbers(4, 4), numbers(4, factor=11)
    yield exactly("skew_small", call("skew", a), over("upper[4]", expected.skew(a)))
    wide = numbers(3, 5)
    yield exactly("syrk_small", call("syrk", wide), over(half % 3, expected.syrk(wide)))
    sums = expected.parts(a)
    yield exactly("parts_small", call("parts", a), Made(("(", [number(s) for s in sums], ")"), sums))
    packed = expected.syrk(a)
    left = call("symv", over(half % 4, packed), x)
    yield exactly("symv_small", left, expected.symv(packed, x))


@program("domain/pairs.lift")
def pairs():
    p, v = numbers(5, 4), numbers(5)
    yield nearly("energy_small", call("energy", Vectors(p)), expected.energy(p))
    yield exactly("tetra_small", call("tetra_sum", v), expected.tetra_sum(v))
    yield exactly("triples_small", call("triples", v[:3]), over("tetra[3]", expected.triples(v[:3])))


@program("domain/rows.lift")
def rows():
    starts, cols = np.array([0, 2, 2, 5]), np.array([3, 0, 1, 2, 3])
    vals, x = numbers(5), numbers(4, factor=11)
    left = call("spmv", starts, cols, vals, x)
    yield exactly("spmv_small", left, expected.spmv(starts, cols, vals, x))
    cols, vals = np.array([[3, 0], [1, 1], [2, 3]]), numbers(3, 2)
    yield exactly("ell_small", call("ell", cols, vals, x), expected.ell(cols, vals, x))


@program("domain/recurrences.lift")
def recurrences():
    l, b = np.tril(numbers(4, 4)) + 8 * np.eye(4), numbers(4, factor=11)
    yield nearly("trsv_small", call("trsv", l, b), expected.trsv(l, b))
    rows = over("{ (i, j) | j <= i, i < 8 }", expected.pascal())
    yield exactly("pascal_small", call("pascal"), rows)
    a, b = np.array([1, 2, 3, 4, 1, 2]), np.array([2, 3, 1, 4, 1])
    left = call("smith_waterman", a, b)
    yield exactly("smith_waterman_small", left, int(expected.smith_waterman(a, b)))


@program("domain/bands.lift")
def bands():
    a, x = numbers(10), numbers(4, factor=11)
    left = call("tridiagonal", over("band[4, 1]", a), x)
    yield exactly("tridiagonal_small", left, expected.tridiagonal(a, x))
    a, d = numbers(3, 4), numbers(3, factor=11)
    yield exactly("reds_small", call("reds", a), expected.reds(a))
    yield exactly("relaxed_small", call("relaxed", a), expected.relaxed(a))
    square = numbers(3, 3)
    yield exactly("with_diagonal_small", call("with_diagonal", square, d), expected.with_diagonal(square, d))
    yield exactly("turn_small", call("turn", a), expected.turn(a))


@program("domain/factors.lift")
def factors():
    half = "half[%d]"
    x = numbers(5, 3)
    yield nearly("covariance_small", call("covariance", x), over(half % 3, expected.covariance(x)))
    a = expected.syrk(np.tril(numbers(4, 4)) + 8 * np.eye(4))
    left = call("cholesky", over(half % 4, a))
    yield nearly("cholesky_small", left, over(half % 4, expected.cholesky(a)))
    p = numbers(4)
    yield nearly("forces_small", call("forces", p), over("pairs[4]", expected.forces(p)))
    d = np.abs(numbers(4, 4))
    yield exactly("floyd_step_small", call("floyd_step", d, 2), expected.floyd_step(d, 2))


# ---------------------------------------------------------------------------------------------
# Images, sequences and graphs


@program("extra/otsu.lift")
def otsu():
    image = np.array([[12, 10, 200, 11], [190, 14, 210, 205], [13, 12, 220, 90]])
    yield exactly("otsu_small", call("otsu", image), expected.otsu(image))
    grey = np.full((2, 2), 7)
    yield exactly("otsu_of_one_grey", call("otsu", grey), expected.otsu(grey))


@program("extra/viterbi.lift")
def viterbi():
    moves, shows, first = -np.abs(numbers(3, 3)), -np.abs(numbers(3, 2, factor=11)), -np.abs(numbers(3))
    seen = np.array([0, 1, 1, 0, 1, 0])
    left = call("viterbi", moves, shows, first, seen)
    yield exactly("viterbi_small", left, expected.viterbi(moves, shows, first, seen))


@program("extra/thomas.lift")
def thomas():
    below, above, rights = numbers(5), numbers(5, factor=11), numbers(2, 5, factor=5)
    diagonal = np.abs(numbers(5, factor=13)) + 8
    left = call("thomas", below, diagonal, above, rights)
    yield nearly("thomas_small", left, expected.thomas(below, diagonal, above, rights))


@program("extra/runs.lift")
def runs():
    xs = np.array([4, 4, 9, 9, 9, 4, 0, 0])
    yield exactly("runs_small", call("runs", xs), expected.runs(xs))
    one = np.array([3])
    yield exactly("runs_of_one", call("runs", one), expected.runs(one))


@program("domain/dither.lift")
def dither():
    image = np.array([[0, 40, 80, 120, 160], [50, 90, 130, 170, 210], [100, 140, 180, 220, 255]])
    yield exactly("dither_small", call("dither", image), expected.dither(image))


@program("domain/levels.lift")
def levels():
    starts, sources = np.array([0, 1, 3, 4, 6, 6]), np.array([3, 0, 2, 1, 2, 4])
    yield exactly("levels_small", call("levels", starts, sources, 0), expected.levels(starts, sources, 0))


# ---------------------------------------------------------------------------------------------
# As users write them


class Eighths:
    """In place of numpy's random numbers: some without a pattern, with few digits."""

    def random(self, shape, dtype):
        return ((numbers(*shape, shift=0, scale=1.0) * 5 + self.next()) % 8 / 8).astype(dtype)

    def integers(self, low, high, shape, dtype):
        shape = (shape,) if isinstance(shape, int) else shape
        return (numbers(*shape, shift=self.next(), scale=1.0) % (high - low) + low).astype(dtype)

    def next(self):
        self.calls = getattr(self, "calls", 0) + 1
        return 3 * self.calls


def as_arguments(value):
    return Tuples(list(value)) if isinstance(value, tuple) else value


def users_test(name, program):
    inputs = program.inputs(Eighths(), **program.small)
    left = call(name, *map(as_arguments, inputs.values()))
    test = exactly if program.exact else nearly
    return test(f"{name}_small", left, as_arguments(program.expected(**inputs)))


for name, chosen in USERS.items():
    program(f"users/{name}.lift")(lambda name=name, chosen=chosen: [users_test(name, chosen)])


# ---------------------------------------------------------------------------------------------


def same_but_for_layout(old, new):
    """Layout is the formatter's: run `lift fmt` on what this script has written."""
    return "".join(old.split()) == "".join(new.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare, fail on a difference")
    args = parser.parse_args()
    found = {p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.lift")}
    for path in sorted(found ^ PROGRAMS.keys()):
        print(f"{path}: {'no reference' if path in found else 'no such file'}", file=sys.stderr)
    stale = found != PROGRAMS.keys()
    for path in sorted(found & PROGRAMS.keys()):
        old = (ROOT / path).read_text()
        new = with_tests(old, PROGRAMS[path]())
        if same_but_for_layout(old, new):
            continue
        if args.check:
            stale = True
            lines = [t.splitlines(keepends=True) for t in (old, new)]
            sys.stdout.writelines(difflib.unified_diff(*lines, path, f"{path} (reference)"))
        else:
            (ROOT / path).write_text(new)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
