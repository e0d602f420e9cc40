"""Random inputs of several shapes for the programs of this folder, and how close results must be.

Every function below makes a trial of the defs that it is registered for, from a source of random
numbers and the sizes of one shape. A result passes where

    |got - want| <= roundings * 2^-24 * magnitude

roundings is the longest chain of roundings that leads to an element, so it grows with the length
of a reduction. magnitude bounds the sums on the way there: it is what the program gives on the
absolute values of its inputs, where it only adds and multiplies, and a bound of its own elsewhere.
Results without rounding must be exact.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

import expected
from users_expected import USERS

PROGRAMS = {}


@dataclass
class Shape:
    """Sizes of the inputs, and parameters of the def other than its defaults."""

    sizes: tuple
    parameters: dict

    def __str__(self):
        chosen = "".join(f" {name}={value}" for name, value in self.parameters.items())
        return "x".join(map(str, self.sizes)) + chosen


def shape(*sizes, **parameters):
    return Shape(sizes, parameters)


@dataclass
class Trial:
    """Inputs in the order of the def's parameters, and how close the result must be.

    expect is the function of expected.py where it is not named after the def; compared marks the
    elements that count.
    """

    inputs: dict
    roundings: int = 0
    magnitude: object = None
    expect: object = None
    compared: object = True


def program(path, entry, *shapes):
    """Registers a function that makes a trial of the def from random numbers and sizes."""

    def register(function):
        assert (path, entry) not in PROGRAMS, entry
        PROGRAMS[path, entry] = [s if isinstance(s, Shape) else shape(*s) for s in shapes], function
        return function

    return register


class Random:
    """Seeded numbers, as float32 and int32."""

    def __init__(self, *seed):
        self.generator = np.random.default_rng(seed)

    def normal(self, *sizes):
        return self.generator.standard_normal(sizes, dtype=np.float32)

    def uniform(self, low, high, *sizes):
        return np.asarray(self.generator.uniform(low, high, sizes), dtype=np.float32)

    def quarters(self, *sizes):
        """Numbers with so few digits that sums of their squares are exact; many are equal."""
        return np.asarray(self.generator.integers(-20, 20, sizes) / 4, dtype=np.float32)

    def below(self, limit, *sizes):
        return self.generator.integers(limit, size=sizes, dtype=np.int32)


def largest(xs):
    return float(np.abs(xs).max())


def each(function, value):
    """The function applied to an array or scalar, or to the parts of a tuple."""
    return tuple(map(function, value)) if isinstance(value, tuple) else function(value)


def widened(value):
    """In float64 where it is a float."""
    value = np.asarray(value)
    return value.astype(float) if value.dtype.kind == "f" else value


def result(function, inputs, change=lambda value: value):
    """The function in float64 on the inputs, each changed first."""
    return function(*(each(change, each(widened, value)) for value in inputs.values()))


# ---------------------------------------------------------------------------------------------
# Matrix multiplication


PRODUCTS = (1, 1, 1), (3, 5, 7), (64, 17, 33), (128, 96, 80)


PANELS = (128, 32, 128), (128, 96, 256), shape(12, 10, 64, BM=2, BN=2, TK=5, RM=3, RN=16)


@program("mm.lift", "mm", *PRODUCTS)
@program("extra/mm_cpu.lift", "mm_cpu", *PANELS)
def mm(random, m, k, n, **_):
    return Trial(dict(A=random.normal(m, k), B=random.normal(k, n)), k + 2)


TILES = (128, 8, 128), (128, 24, 256), shape(48, 12, 32, LX=8, LY=4, TM=4, TN=4, TK=4)
BLOCKS = (4, 1, 4), (36, 17, 20), shape(16, 7, 12, TM=8, TN=4)


@program("mm_at.lift", "mm_at", *PRODUCTS)
@program("thesis/mm_local.lift", "mm_local", *TILES)
@program("thesis/mm_register.lift", "mm_register", *BLOCKS)
def mm_transposed_a(random, m, k, n, **_):
    return Trial(dict(At=random.normal(k, m), B=random.normal(k, n)), k + 2)


@program("mm_bt.lift", "mm_bt", *PRODUCTS)
@program("thesis/mm_mali.lift", "mm_mali", (2, 4, 2), (34, 32, 18), shape(8, 6, 5, TM=4, TN=1, V=2))
@program("thesis/mm_vectorised.lift", "mm_vectorised", (2, 4, 2), (10, 12, 6), (34, 32, 18))
def mm_transposed_b(random, m, k, n, **_):
    return Trial(dict(A=random.normal(m, k), Bt=random.normal(n, k)), k + 2)


# ---------------------------------------------------------------------------------------------
# The programs of the thesis


GROUPS = (256,), shape(128, T=64, P=1), shape(45, T=5, P=3)


@program("thesis/nbody.lift", "nbody", (1,), (7,), (90,))
@program("thesis/nbody_vector.lift", "nbody_vector", (8,), (96,), shape(35, U=5))
@program("thesis/nbody_local.lift", "nbody_local", *GROUPS)
def nbody(random, n, **_):
    """The pull of a mass m is at most 0.385 m / eps2."""
    pos, vel = random.normal(n, 4), random.normal(n, 4)
    pos[:, 3], vel[:, 3] = random.uniform(1, 4, n), 0
    dt, eps2 = random.uniform(0.05, 0.2), random.uniform(0.25, 1)
    pull = 0.385 * pos[:, 3].sum() / eps2
    speed = largest(vel) + dt * pull
    magnitude = largest(pos) + dt * speed, speed
    return Trial(dict(pos=pos, vel=vel, dt=dt, eps2=eps2), n + 24, magnitude)


@program("thesis/md.lift", "md", (2, 1), (9, 4), (60, 12))
def md(random, n, j):
    """Particles near the points of a lattice; no list holds the particle itself."""
    lattice = np.indices((4, 4, 4)).reshape(3, 64).T
    pos = random.uniform(0, 0.25, n, 4)
    pos[:, :3] += random.generator.permutation(lattice)[:n]
    neighbours = (np.arange(n, dtype=np.int32)[:, None] + 1 + random.below(n - 1, n, j)) % n
    cutsq, lj1, lj2 = random.uniform(3, 6), random.uniform(1, 2), random.uniform(1, 2)
    inputs = dict(pos=pos, neighbours=neighbours, cutsq=cutsq, lj1=lj1, lj2=lj2)
    r = np.linalg.norm(pos[:, None, :3] - pos[neighbours, :3], axis=2)
    magnitude = (lj1 * r**-13 + lj2 * r**-7).sum(axis=1, keepdims=True)
    return Trial(inputs, j + 32, magnitude)


@program("thesis/md_private.lift", "md_private", (3, 4), (60, 32), shape(7, 6, U=3))
def md_private(random, n, j, **_):
    trial = md(random, n, j)
    trial.inputs["neighbours"] = np.ascontiguousarray(trial.inputs["neighbours"].T)
    return trial


POINTS = (1, 1, 1), (40, 1, 6), (7, 3, 4), (60, 34, 5)
BLOCKED_POINTS = (1, 1, 5), (60, 34, 5), (300, 3, 10), shape(7, 3, 4, B=2)


@program("thesis/kmeans.lift", "kmeans", *POINTS)
@program("thesis/kmeans_global.lift", "kmeans_global", *POINTS)
@program("thesis/kmeans_private.lift", "kmeans_private", *BLOCKED_POINTS)
def kmeans(random, p, f, c, **_):
    return Trial(dict(features=random.quarters(f, p), clusters=random.quarters(c, f)))


@program("thesis/nn.lift", "nn", (1,), (77,))
@program("thesis/nn_global.lift", "nn_global", (4,), (300,), shape(77, E=7))
def nn(random, n, **_):
    records = random.uniform(-60, 60, n), random.uniform(0, 360, n)
    inputs = dict(records=records, lat=random.uniform(20, 40), lng=random.uniform(80, 100))
    return Trial(inputs, 8, result(expected.nn, inputs))


@program("thesis/mriq.lift", "phi_mag", (1,), (77,))
@program("thesis/mriq_private.lift", "phi_mag_global", (1,), (300,))
def phi_mag(random, k):
    return Trial(dict(re=random.normal(k), im=random.normal(k)), 4)


@program("thesis/mriq.lift", "q", (1, 1), (4, 5), (30, 70))
@program("thesis/mriq_private.lift", "q_private", (1, 8), (70, 72), shape(30, 70, U=5))
def q(random, x, k, **_):
    """Phases reach 6 pi, and their roundings count once for every unit."""
    inputs = {name: random.uniform(-1, 1, x) for name in ("x", "y", "z")}
    inputs.update({name: random.uniform(-1, 1, k) for name in ("kx", "ky", "kz", "mag")})
    return Trial(inputs, k + 128, np.abs(inputs["mag"]).sum())


WIDE = (8, 128), (24, 256), shape(6, 48, TX=8, TY=2, E=3)
TALL = (64, 32), (128, 96), shape(24, 20, TX=10, TY=4, E=3)


@program("thesis/convolution.lift", "convolution_row", (1, 1), (3, 4), (20, 33))
@program("thesis/convolution.lift", "convolution_column", (1, 1), (3, 4), (33, 20))
@program("thesis/convolution.lift", "convolution", (1, 1), (3, 4), (25, 19))
@program("thesis/convolution_tiled.lift", "convolution_row_tiled", *WIDE)
@program("thesis/convolution_tiled.lift", "convolution_column_tiled", *TALL)
def convolution(random, n, m, **_):
    return Trial(dict(taps=random.normal(17), image=random.normal(n, m)), 17 + 17 + 2)


@program("thesis/atax.lift", "atax", (1, 1), (3, 5), (50, 37))
@program("thesis/atax_local.lift", "atax_local", (32, 128), (96, 256), shape(15, 128, C=64, P=5))
def atax(random, m, n, **_):
    return Trial(dict(A=random.normal(m, n), x=random.normal(n)), m + n + 2)


@program("thesis/gemv.lift", "gemv", (1, 1), (3, 5), (50, 37))
def gemv(random, m, n):
    a, x, y = random.normal(m, n), random.normal(n), random.normal(m)
    return Trial(dict(alpha=random.normal(), A=a, x=x, beta=random.normal(), y=y), n + 4)


@program("thesis/gemv_coalesced.lift", "gemv_coalesced", (1, 128), (5, 384))
def gemv_coalesced(random, m, n):
    """128 sums, then a tree of them."""
    return Trial(gemv(random, m, n).inputs, n // 128 + 7 + 4)


PARTS = (32, 32), (96, 64), shape(15, 8, C=4, P=5)


@program("thesis/gemv.lift", "gemv_t", (1, 1), (3, 5), (50, 37))
@program("thesis/gemv_coalesced.lift", "gemv_t_coalesced", *PARTS)
def gemv_t(random, m, n, **_):
    a, x, y = random.normal(m, n), random.normal(m), random.normal(n)
    return Trial(dict(alpha=random.normal(), A=a, x=x, beta=random.normal(), y=y), m + 4)


@program("thesis/gesummv.lift", "gesummv", (1, 1), (3, 5), (50, 37))
@program("thesis/gesummv_local.lift", "gesummv_local", (1, 128), (5, 384))
def gesummv(random, m, n):
    a, b, x = random.normal(m, n), random.normal(m, n), random.normal(n)
    return Trial(dict(alpha=random.normal(), A=a, beta=random.normal(), B=b, x=x), n + 4)


@program("thesis/partial_dot.lift", "partial_dot", (128,), (640,))
def partial_dot(random, n):
    """Pairs of products, then a tree of 64 sums."""
    return Trial(dict(x=random.normal(n), y=random.normal(n)), 2 + 6 + 2)


@program("thesis/transpose_gather.lift", "transpose_gather", (1, 1), (3, 5), (50, 37))
def transpose_gather(random, m, n):
    return Trial(dict(xss=random.normal(n, m)))


@program("thesis/reverse_coalesced.lift", "reverse_coalesced", (64,), (192,), shape(35, T=5))
def reverse_coalesced(random, n, **_):
    return Trial(dict(xs=random.normal(n)))


# ---------------------------------------------------------------------------------------------
# Stencils

GRIDS = (1, 1), (1, 6), (3, 4), (50, 37)
SEVENS = shape(21, 35, T=7)
ROOMS = (1, 1, 1), (2, 3, 4), (5, 1, 3), (9, 12, 11)


@program("stencil/stencil2d.lift", "stencil2d", *GRIDS)
@program("stencil/jacobi2d_5.lift", "jacobi2d_5", *GRIDS)
@program("stencil/jacobi2d_5_tiled.lift", "jacobi2d_5_tiled", (16, 16), (32, 48), SEVENS)
@program("stencil/jacobi2d_9.lift", "jacobi2d_9", *GRIDS)
def nine_points(random, n, m, **_):
    return Trial(dict(grid=random.normal(n, m)), 9 + 4)


@program("stencil/gaussian_25.lift", "gaussian_25", *GRIDS)
def gaussian_25(random, n, m):
    return Trial(dict(image=random.normal(n, m)), 25 + 4)


@program("stencil/jacobi3d_7.lift", "jacobi3d_7", *ROOMS)
def jacobi3d_7(random, d, n, m):
    return Trial(dict(grid=random.normal(d, n, m)), 7 + 4)


@program("stencil/heat3d.lift", "heat3d", *ROOMS)
def heat3d(random, d, n, m):
    grid = random.normal(d, n, m)
    return Trial(dict(grid=grid), 16, 2.5 * largest(grid))


@program("stencil/acoustic3d.lift", "acoustic3d", *ROOMS)
def acoustic3d(random, d, n, m):
    before, now = random.normal(d, n, m), random.normal(d, n, m)
    inputs = dict(before=before, now=now, loss=random.uniform(0, 0.5))
    return Trial(inputs, 16, 6 * largest(now) + largest(before))


@program("stencil/gradient.lift", "gradient", *GRIDS)
def gradient(random, n, m):
    grid = random.normal(n, m)
    return Trial(dict(grid=grid), 16, expected.gradient(grid) - grid + np.abs(grid))


@program("stencil/srad1.lift", "srad1", *GRIDS)
def srad1(random, n, m):
    """Neighbours differ by a factor of 4 at most, which weighs their roundings up to 16 times."""
    return Trial(dict(image=random.uniform(0.5, 2, n, m), q0=random.uniform(0.1, 0.5)), 128, 1.0)


@program("stencil/srad2.lift", "srad2", *GRIDS)
def srad2(random, n, m):
    image, coeff = random.uniform(0.5, 2, n, m), random.uniform(0, 1, n, m)
    inputs = dict(image=image, coeff=coeff, rate=random.uniform(0.25, 1))
    return Trial(inputs, 16, 3 * largest(image))


@program("stencil/hotspot2d.lift", "hotspot2d", *GRIDS)
def hotspot2d(random, n, m):
    temp, power = random.uniform(320, 340, n, m), random.uniform(0, 5, n, m)
    inputs = dict(temp=temp, power=power, step=random.uniform(0, 0.2))
    inputs.update({name: random.uniform(0, 1) for name in ("rx", "ry", "rz")})
    return Trial(inputs, 16, 3 * largest(temp))


# ---------------------------------------------------------------------------------------------
# Reductions; the derived forms add in trees, so that their chains of roundings are short

LENGTHS = (1,), (7,), (1000,)


@program("reduce/sum.lift", "sum", *LENGTHS)
def sum_(random, n):
    return Trial(dict(xs=random.normal(n)), n, expect=expected.sum_)


@program("reduce/asum.lift", "asum", *LENGTHS)
def asum(random, n):
    return Trial(dict(xs=random.normal(n)), n)


@program("reduce/dot.lift", "dot", *LENGTHS)
def dot(random, n):
    return Trial(dict(x=random.normal(n), y=random.normal(n)), n + 1)


@program("reduce/min.lift", "minimum", *LENGTHS)
def minimum(random, n):
    return Trial(dict(xs=random.normal(n)))


@program("reduce/argmin.lift", "argmin", *LENGTHS)
def argmin(random, n):
    return Trial(dict(xs=random.quarters(n)))


def derived(name, *shapes, chunk, depth):
    """The five reductions in one derived form: chunks to a depth, then their results in a row."""

    def derivation(entry, function, rounded, names=("xs",), draw=Random.normal):
        @program(f"reduce/{name}.lift", entry, *shapes)
        def trial(random, n, **_):
            inputs = {x: draw(random, n) for x in names}
            roundings = rounded * (depth + n // chunk + 1)
            return Trial(inputs, roundings, expect=function)

    derivation(name, expected.sum_, True)
    derivation(f"{name}_asum", expected.asum, True)
    derivation(f"{name}_dot", expected.dot, True, ("x", "y"))
    derivation(f"{name}_min", expected.minimum, False)
    derivation(f"{name}_argmin", expected.argmin, False, draw=Random.quarters)


derived("llp1", (128,), (640,), chunk=128, depth=7)
derived("llp2", (256,), (1280,), chunk=256, depth=8)
derived("llp3", (1024,), (3072,), shape(768, E=3), chunk=384, depth=15)

# ---------------------------------------------------------------------------------------------
# Further programs


@program("extra/scal.lift", "scal", (1,), (77,))
def scal(random, n):
    return Trial(dict(alpha=random.normal(), x=random.normal(n)), 1)


@program("extra/axpy.lift", "axpy", (1,), (77,))
def axpy(random, n):
    return Trial(dict(alpha=random.normal(), x=random.normal(n), y=random.normal(n)), 2)


@program("extra/transpose.lift", "transposed", (1, 1), (3, 5), (50, 37))
def transposed(random, m, n):
    return Trial(dict(A=random.normal(m, n)))


@program("extra/pairwise_distance.lift", "pairwise_distance", (1, 1, 1), (3, 5, 7), (50, 37, 20))
def pairwise_distance(random, m, n, d):
    """Differences are rounded once and all terms are positive, so errors are relative ones."""
    inputs = dict(x=random.normal(m, d), y=random.normal(n, d))
    return Trial(inputs, d + 4, result(expected.pairwise_distance, inputs))


@program("extra/batched_mm.lift", "batched_mm", (1, 1, 1, 1), (2, 3, 5, 7), (5, 34, 17, 20))
def batched_mm(random, batch, m, k, n):
    return Trial(dict(a=random.normal(batch, m, k), b=random.normal(batch, k, n)), k + 2)


@program("extra/black_scholes.lift", "black_scholes", (1,), (300,))
def black_scholes(random, n):
    stock, strike, years = [random.uniform(*r, n) for r in ((5, 30), (2, 60), (0.25, 10))]
    inputs = dict(stock=stock, strike=strike, years=years)
    inputs.update(rate=random.uniform(0.01, 0.05), vol=random.uniform(0.2, 0.4))
    return Trial(inputs, 64, stock + strike)


@program("extra/mandelbrot.lift", "mandelbrot", (1, 1), (31, 22), shape(9, 14, K=25))
def mandelbrot(random, w, h, K=100):
    """Compared are the points whose neighbours at a small distance escape after as many steps."""
    xs, ys = random.uniform(-2.25, 0.75, w), random.uniform(-1.25, 1.25, h)
    expect = partial(expected.mandelbrot, k=K)
    counts = [expect(xs + d, ys + e) for d in (-1e-4, 0, 1e-4) for e in (-1e-4, 0, 1e-4)]
    settled = np.ptp(counts, axis=0) == 0
    return Trial(dict(xs=xs, ys=ys), expect=expect, compared=settled)


@program("extra/softmax.lift", "softmax", (1, 1), (3, 5), (40, 33))
def softmax(random, m, n):
    """Differences reach 32, and their roundings count once for every unit."""
    inputs = dict(xss=random.uniform(-16, 16, m, n))
    return Trial(inputs, n + 64, result(expected.softmax, inputs))


@program("extra/layernorm.lift", "layernorm", (1, 1), (3, 5), (40, 33))
def layernorm(random, m, n):
    xss, gamma, beta = random.normal(m, n), random.normal(n), random.normal(n)
    eps = random.uniform(0.001, 0.01)
    sizes = np.abs(xss) + np.abs(xss).mean(axis=1, keepdims=True)
    deviation = np.sqrt(xss.var(axis=1, keepdims=True) + eps)
    magnitude = sizes / deviation * np.abs(gamma) + np.abs(beta)
    return Trial(dict(xss=xss, gamma=gamma, beta=beta, eps=eps), 2 * n + 16, magnitude)


# ---------------------------------------------------------------------------------------------
# As users write them


def users_trial(chosen, random, *sizes, **parameters):
    """Close relative to the element, or to the mean size of elements where that is larger."""
    inputs = chosen.inputs(random.generator, *sizes, **parameters)
    want = chosen.expected(**inputs)
    if chosen.exact:
        return Trial(inputs, expect=lambda *_: want)
    size = lambda part: np.maximum(np.abs(part), np.abs(part).mean())
    return Trial(inputs, chosen.tolerance * 2**24, each(size, want), lambda *_: want)


def shape_of(chosen, sizes):
    """What arguments have, in the order of `inputs`, and what they do not."""
    found = [value for name, value in sizes.items() if name not in chosen.params]
    return shape(*found, **{name: sizes[name] for name in chosen.params})


for name, chosen in USERS.items():
    shapes = [shape_of(chosen, sizes) for sizes in (chosen.small, chosen.larger())]
    program(f"users/{name}.lift", name, *shapes)(partial(users_trial, chosen))


# ---------------------------------------------------------------------------------------------
# Domains


@program("domain/fig71.lift", "fig71", (1, 1), (3, 5), (50, 37))
def fig71(random, h, w):
    m = random.normal(h, w)
    size = np.abs(m)
    return Trial(dict(m=m), 16, size * w * (1 + h + size + size.max()) * size)


@program("domain/triangles.lift", "skew", (1,), (2,), (3,), (50,), (71,))
def skew(random, n):
    a = random.normal(n, n)
    return Trial(dict(a=a), 2, (np.abs(a) + np.abs(a.T))[np.triu_indices(n, 1)])


@program("domain/triangles.lift", "syrk", (1, 1), (3, 5), (50, 37))
def syrk(random, n, k):
    return Trial(dict(a=random.normal(n, k)), k + 1)


@program("domain/triangles.lift", "parts", (1,), (3,), (50,))
def parts(random, n):
    return Trial(dict(a=random.normal(n, n)), n * n)


@program("domain/triangles.lift", "symv", (1,), (5,), (50,))
def symv(random, n):
    return Trial(dict(a=random.normal(n * (n + 1) // 2), x=random.normal(n)), n + 1)


@program("domain/pairs.lift", "energy", (2,), (50,))
def energy(random, n):
    return Trial(dict(p=random.normal(n, 4)), n * n, 10 * n * n)


@program("domain/pairs.lift", "tetra_sum", (1,), (5,), (30,))
def tetra_sum(random, n):
    return Trial(dict(v=random.normal(n)), n**3 + 2)


@program("domain/pairs.lift", "triples", (1,), (5,), (30,))
def triples(random, n):
    return Trial(dict(v=random.normal(n)), 3)


@program("domain/rows.lift", "spmv", (1, 1, 1), (20, 30, 100), (70, 50, 400))
def spmv(random, rows, columns, entries):
    inner = np.sort(random.below(entries + 1, rows - 1))
    starts = np.concatenate([[0], inner, [entries]]).astype(np.int32)
    cols, vals = random.below(columns, entries), random.normal(entries)
    return Trial(dict(starts=starts, cols=cols, vals=vals, x=random.normal(columns)), entries + 1)


@program("domain/rows.lift", "ell", (1, 1, 1), (20, 30, 5))
def ell(random, rows, columns, k):
    cols, vals = random.below(columns, rows, k), random.normal(rows, k)
    return Trial(dict(cols=cols, vals=vals, x=random.normal(columns)), k + 1)


@program("domain/recurrences.lift", "trsv", (1,), (3,), (40,))
def trsv(random, n):
    l = (np.tril(random.normal(n, n)) / n + 2 * np.eye(n)).astype(np.float32)
    return Trial(dict(l=l, b=random.normal(n)), 64 * n, 4.0)


@program("domain/recurrences.lift", "smith_waterman", (1, 1), (5, 7), (30, 40))
def smith_waterman(random, m, n):
    letters = [random.below(4, size).astype(np.uint8) for size in (m, n)]
    return Trial(dict(a=letters[0], b=letters[1]))


@program("domain/bands.lift", "tridiagonal", (1,), (2,), (3,), (50,))
def tridiagonal(random, n):
    count = expected.in_band(n).sum()
    return Trial(dict(a=random.normal(count), x=random.normal(n)), n + 1)


@program("domain/bands.lift", "reds", (1, 1), (3, 4), (50, 37))
def reds(random, h, w):
    return Trial(dict(a=random.normal(h, w)), h * w)


@program("domain/bands.lift", "relaxed", (1, 1), (3, 4), (50, 37))
def relaxed(random, h, w):
    return Trial(dict(a=random.normal(h, w)), 5)


@program("domain/bands.lift", "with_diagonal", (1,), (5,), (40,))
def with_diagonal(random, n):
    return Trial(dict(a=random.normal(n, n), d=random.normal(n)))


@program("domain/bands.lift", "turn", (1, 1), (3, 4), (50, 37))
def turn(random, h, w):
    return Trial(dict(a=random.normal(h, w)))


@program("domain/factors.lift", "covariance", (2, 1), (5, 3), (60, 20))
def covariance(random, n, d):
    x = random.normal(n, d)
    return Trial(dict(x=x), 4 * n, 4 * np.abs(x).max() ** 2 * n)


@program("domain/factors.lift", "cholesky", (1,), (3,), (30,))
def cholesky(random, n):
    l = np.tril(random.normal(n, n)) / n + 2 * np.eye(n)
    return Trial(dict(a=expected.syrk(l).astype(np.float32)), 64 * n, 8.0)


@program("domain/factors.lift", "forces", (1,), (2,), (40,))
def forces(random, n):
    return Trial(dict(p=random.normal(n)), 1000, 100.0)


@program("domain/factors.lift", "floyd_step", (1,), (5,), (40,))
def floyd_step(random, n):
    return Trial(dict(d=np.abs(random.normal(n, n)), k=int(random.below(n, 1)[0])), 2)


# ---------------------------------------------------------------------------------------------
# Images, sequences and graphs


@program("extra/otsu.lift", "otsu", (1, 1), (3, 4), (50, 37))
def otsu(random, h, w):
    return Trial(dict(image=random.below(256, h, w).astype(np.uint8)))


@program("extra/viterbi.lift", "viterbi", (1, 1, 2), (2, 3, 5), (7, 4, 40))
def viterbi(random, s, o, t):
    likely = dict(moves=random.quarters(s, s), shows=random.quarters(s, o), first=random.quarters(s))
    return Trial(dict(**likely, seen=random.below(o, t)))


@program("extra/thomas.lift", "thomas", (1, 1), (2, 3), (40, 5))
def thomas(random, n, b):
    below, above = random.normal(n), random.normal(n)
    diagonal = np.abs(below) + np.abs(above) + np.float32(1)
    inputs = dict(below=below, diagonal=diagonal, above=above, rights=random.normal(b, n))
    return Trial(inputs, 64 * n, largest(inputs["rights"]))


@program("extra/runs.lift", "runs", (1,), (2,), (300,))
def runs(random, n):
    return Trial(dict(xs=random.below(3, n).astype(np.uint8)))


@program("domain/dither.lift", "dither", (1, 1), (1, 9), (9, 1), (30, 41))
def dither(random, h, w):
    return Trial(dict(image=random.below(256, h, w).astype(np.uint8)))


@program("domain/levels.lift", "levels", (1, 1), (3, 4), (40, 60))
def levels(random, n, e):
    starts = np.sort(np.append(random.below(e + 1, n - 1), [0, e])).astype(np.int32)
    return Trial(dict(starts=starts, sources=random.below(n, e), **{"from": 0}))
