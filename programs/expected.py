"""What the programs of this folder compute, with numpy and scipy.

Every function below has the name and the parameters of a def and works out its result by a route
of its own. An array of vectors has the lanes as its last axis; an array of tuples is a tuple of
arrays. reference.py writes tests from these results, judge.py compares them with what `lift`
gives on random inputs.
"""

import math

import numpy as np
from scipy import linalg, ndimage, sparse, special
from scipy.spatial import distance

# ---------------------------------------------------------------------------------------------
# Matrix multiplication


def mm(a, b):
    return a @ b


mm_cpu = mm


def mm_local(at, b):
    return np.matmul(at.T, b)


mm_at = mm_register = mm_local


def mm_mali(a, bt):
    return np.einsum("ik,jk->ij", a, bt)


mm_bt = mm_vectorised = mm_mali

# ---------------------------------------------------------------------------------------------
# The programs of the thesis


def nbody(pos, vel, dt, eps2):
    """All pairs at once: the softened pull of every body on every other."""
    place, mass = pos[:, :3], pos[:, 3]
    towards = place[None, :, :] - place[:, None, :]
    softened = distance.cdist(place, place, "sqeuclidean") + eps2
    acceleration = np.zeros_like(pos)
    acceleration[:, :3] = np.einsum("ijc,ij,j->ic", towards, softened**-1.5, mass)
    return pos + dt * vel + 0.5 * dt**2 * acceleration, vel + dt * acceleration


nbody_local = nbody_vector = nbody


def md(pos, neighbours, cutsq, lj1, lj2):
    """Unit vectors times the derivative of the potential; lists are cut off beforehand."""
    forces = np.zeros_like(pos)
    for i, js in enumerate(neighbours):
        for j in js:
            r = np.linalg.norm(pos[i, :3] - pos[j, :3])
            if r < math.sqrt(cutsq):
                forces[i, :3] += (pos[i, :3] - pos[j, :3]) / r * (lj1 * r**-13 - lj2 * r**-7)
    return forces


def md_private(pos, neighbours, cutsq, lj1, lj2):
    return md(pos, neighbours.T, cutsq, lj1, lj2)


def kmeans(features, clusters):
    return distance.cdist(features.T, clusters, "sqeuclidean").argmin(axis=1)


kmeans_global = kmeans_private = kmeans


def nn(records, lat, lng):
    return np.hypot(records[0] - lat, records[1] - lng)


nn_global = nn


def phi_mag(re, im):
    return np.abs(re + 1j * im) ** 2


def q(x, y, z, kx, ky, kz, mag):
    """The contributions as complex exponentials, summed by a matrix product."""
    places, samples = np.stack([x, y, z]), np.stack([kx, ky, kz])
    sums = np.exp(2j * np.pi * places.T @ samples) @ mag
    return sums.real, sums.imag


phi_mag_global, q_private = phi_mag, q


def convolution_row(taps, image):
    return ndimage.correlate1d(image, taps, axis=1, mode="constant")


def convolution_column(taps, image):
    return ndimage.correlate1d(image, taps, axis=0, mode="constant")


def convolution(taps, image):
    return ndimage.correlate(image, np.outer(taps, taps), mode="constant")


convolution_row_tiled, convolution_column_tiled = convolution_row, convolution_column


def atax(a, x):
    return a.T @ a @ x


atax_local = atax


def gemv(alpha, a, x, beta, y):
    return alpha * (a @ x) + beta * y


def gemv_t(alpha, a, x, beta, y):
    return alpha * (x @ a) + beta * y


gemv_coalesced, gemv_t_coalesced = gemv, gemv_t


def gesummv(alpha, a, beta, b, x):
    return (alpha * a + beta * b) @ x


gesummv_local = gesummv


def partial_dot(x, y):
    return np.add.reduceat(x * y, np.arange(0, len(x), 128))


def transpose_gather(xss):
    return xss.T


def reverse_coalesced(xs):
    return np.flip(xs)


# ---------------------------------------------------------------------------------------------
# Stencils; outside the grid "nearest" repeats the edge

CROSS = ndimage.generate_binary_structure(2, 1).astype(float)
CROSS3 = ndimage.generate_binary_structure(3, 1).astype(float)


def edge(weights, grid):
    return ndimage.correlate(grid, np.asarray(weights, dtype=float), mode="nearest")


def steps(grid):
    """The differences to the neighbours above, below, left and right, 0 across the edge."""
    down, right = np.diff(grid, axis=0), np.diff(grid, axis=1)
    return (
        np.pad(-down, ((1, 0), (0, 0))), np.pad(down, ((0, 1), (0, 0))),
        np.pad(-right, ((0, 0), (1, 0))), np.pad(right, ((0, 0), (0, 1))),
    )


def stencil2d(grid):
    corners, nearest = [0.05, 0.15, 0.05], [0.15, 0.25, 0.15]
    return edge([corners, nearest, corners], grid)


def srad1(image, q0):
    n, s, w, e = (d / image for d in steps(image))
    laplacian = n + s + w + e
    variance = (n**2 + s**2 + w**2 + e**2) / 2 - laplacian**2 / 16
    speckle = variance / (1 + laplacian / 4) ** 2
    return np.minimum(np.maximum(q0 * (1 + q0) / (q0 * q0 + speckle), 0), 1)


def srad2(image, coeff, rate):
    """A flow leaves each pixel downwards and rightwards, by the coefficient of its target."""
    bottom, last = (n - 1 for n in image.shape)
    moved = image.copy()
    for y, x in np.ndindex(image.shape):
        below, right = min(y + 1, bottom), min(x + 1, last)
        above, left = max(y - 1, 0), max(x - 1, 0)
        flow = coeff[y, x] * (image[above, x] + image[y, left] - 2 * image[y, x])
        flow += coeff[below, x] * (image[below, x] - image[y, x])
        flow += coeff[y, right] * (image[y, right] - image[y, x])
        moved[y, x] += rate / 4 * flow
    return moved


def hotspot2d(temp, power, step, rx, ry, rz):
    bend = [1, -2, 1]
    flow_x = ndimage.correlate1d(temp, bend, axis=1, mode="nearest")
    flow_y = ndimage.correlate1d(temp, bend, axis=0, mode="nearest")
    return temp + step * (power + ry * flow_y + rx * flow_x + rz * (80 - temp))


def gradient(grid):
    return grid + (1e-4 + sum(d**2 for d in steps(grid))) ** -0.5


def jacobi2d_5(grid):
    return edge(CROSS / 5, grid)


jacobi2d_5_tiled = jacobi2d_5


def jacobi2d_9(grid):
    return ndimage.uniform_filter(grid, 3, mode="nearest")


def gaussian_25(image):
    outer, middle, inner = [2, 4, 5, 4, 2], [4, 9, 12, 9, 4], [5, 12, 15, 12, 5]
    weights = np.array([outer, middle, inner, middle, outer])
    return edge(weights / weights.sum(), image)


def jacobi3d_7(grid):
    return edge(CROSS3 / 7, grid)


def heat3d(grid):
    return grid + ndimage.laplace(grid, mode="nearest") / 8


def acoustic3d(before, now, loss):
    faces = CROSS3.copy()
    faces[1, 1, 1] = 0
    around = ndimage.convolve(now, faces, mode="constant")
    inside = ndimage.convolve(np.ones_like(now), faces, mode="constant")
    drag = loss / 2 * (6 - inside)
    laplacian = around - inside * now
    return (2 * now - before + laplacian / 3 + drag * before) / (1 + drag)


# ---------------------------------------------------------------------------------------------
# Reductions; llp1_dot and the like are dot and the like


def sum_(xs):
    return math.fsum(xs)


def asum(xs):
    return np.linalg.norm(xs, 1)


def dot(x, y):
    return np.inner(x, y)


def minimum(xs):
    return sorted(xs)[0]


def argmin(xs):
    return np.argmin(xs)


# ---------------------------------------------------------------------------------------------
# Further programs


def scal(alpha, x):
    return alpha * x


def axpy(alpha, x, y):
    return y + alpha * x


def transposed(a):
    return a.T


def pairwise_distance(x, y):
    return distance.cdist(x, y, "sqeuclidean")


def batched_mm(a, b):
    return np.einsum("bik,bkj->bij", a, b)


def black_scholes(stock, strike, years, rate, vol):
    """With the exact normal distribution; the put by put-call parity."""
    d = np.log(stock / strike) / (vol * np.sqrt(years)) + (rate / vol) * np.sqrt(years)
    half = 0.5 * vol * np.sqrt(years)
    owed = strike * np.exp(-rate * years)
    calls = stock * special.ndtr(d + half) - owed * special.ndtr(d - half)
    return calls, calls - stock + owed


def mandelbrot(xs, ys, k=100):
    c = xs[None, :] + 1j * ys[:, None]
    z, counts = np.zeros_like(c), np.zeros(c.shape, dtype=int)
    for _ in range(k):
        bounded = abs(z) <= 2
        counts += bounded
        z = np.where(bounded, z * z + c, z)
    return counts


def softmax(xss):
    return special.softmax(xss, axis=1)


def layernorm(xss, gamma, beta, eps):
    centred = xss - np.mean(xss, axis=1, keepdims=True)
    return gamma * centred / np.sqrt(np.var(xss, axis=1, keepdims=True) + eps) + beta

# ---------------------------------------------------------------------------------------------
# Domains: packed triangles are the elements row by row


def fig71(m):
    x, y = np.indices(m.shape)
    corner = m[492 % m.shape[0], 958 % m.shape[1]]
    return m * (y * (((0.585229 + ((x - m) - corner)) * (m / 767.6984)) * 661.48236))


def skew(a):
    return (0.5 * (a - a.T))[np.triu_indices(len(a), 1)]


def syrk(a):
    return (a @ a.T)[np.tril_indices(len(a))]


def parts(a):
    return np.triu(a, 1).sum(), np.trace(a), np.tril(a, -1).sum()


def symv(a, x):
    full = np.zeros((len(x), len(x)))
    full[np.tril_indices(len(x))] = a
    return (full + np.tril(full, -1).T) @ x


def energy(p):
    return (1 / np.sqrt(distance.pdist(p, "sqeuclidean") + 0.01)).sum()


def tetra_sum(v):
    return triples(v).sum()


def triples(v):
    products = np.einsum("i,j,k->ijk", v, v, v)
    i, j, k = np.indices(products.shape, sparse=True)
    return products[(i <= j) & (j <= k)]


def spmv(starts, cols, vals, x):
    return sparse.csr_array((vals, cols, starts), shape=(len(starts) - 1, len(x))) @ x


def ell(cols, vals, x):
    return (vals * x[cols]).sum(axis=1)


def trsv(l, b):
    return linalg.solve_triangular(l, b, lower=True)


def pascal(n=8):
    return np.rint(special.comb(*np.tril_indices(n))).astype(int)


def smith_waterman(a, b):
    best = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = best[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            best[i, j] = max(0, match, best[i - 1, j] - 2, best[i, j - 1] - 2)
    return best.max()


def in_band(n, k=1):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= k


def is_red(shape):
    return np.indices(shape).sum(axis=0) % 2 == 0


def tridiagonal(a, x):
    full = np.zeros((len(x), len(x)))
    full[in_band(len(x))] = a
    return full @ x


def reds(a):
    return a[is_red(a.shape)].sum()


def relaxed(a):
    cross = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 4
    return np.where(is_red(a.shape), ndimage.convolve(a, cross, mode="constant"), a)


def with_diagonal(a, d):
    return np.where(np.eye(len(d), dtype=bool), d, a)


def turn(a):
    return a.T


def covariance(x):
    return np.atleast_2d(np.cov(x, rowvar=False))[np.tril_indices(x.shape[1])]


def cholesky(a):
    n = int(np.sqrt(2 * len(a)))
    full = np.zeros((n, n))
    full[np.tril_indices(n)] = a
    return linalg.cholesky(full, lower=True)[np.tril_indices(n)]


def forces(p):
    i, j = np.triu_indices(len(p), 1)
    return 1 / ((p[j] - p[i]) ** 2 + 0.01)


def floyd_step(d, k):
    return np.minimum(d, np.add.outer(d[:, k], d[k]))


# ---------------------------------------------------------------------------------------------
# Images, sequences and graphs


def otsu(image):
    counts, greys = np.bincount(image.ravel(), minlength=256), np.arange(256)
    dark, sums = np.cumsum(counts).astype(float), np.cumsum(counts * greys).astype(float)
    off = sums[-1] * dark / image.size - sums
    between = (dark > 0) & (dark < image.size)
    spread = np.zeros(256)
    spread[between] = (off**2 / (dark * (image.size - dark) + ~between))[between]
    cut = int(spread.argmax())
    return cut, np.where(image > cut, 255, 0).astype(np.uint8)


def viterbi(moves, shows, first, seen):
    best, ways = first + shows[:, seen[0]], []
    for o in seen[1:]:
        into = best[:, None] + moves
        ways.append(into.argmax(axis=0))
        best = into.max(axis=0) + shows[:, o]
    states = [best.argmax()]
    for way in reversed(ways):
        states.append(way[states[-1]])
    return np.array(states[::-1], dtype=np.int32), best.max()


def thomas(below, diagonal, above, rights):
    full = np.diag(diagonal) + np.diag(below[1:], -1) + np.diag(above[:-1], 1)
    return np.linalg.solve(full, rights.T).T


def runs(xs):
    starts = np.flatnonzero(np.concatenate([[True], xs[1:] != xs[:-1]]))
    rest = len(xs) - len(starts)
    lengths = np.diff(np.append(starts, len(xs)))
    return np.pad(xs[starts], (0, rest)), np.pad(lengths, (0, rest)), len(starts)


def dither(image):
    height, width = image.shape
    greys, new = image.astype(int), np.zeros_like(image)
    for y in range(height):
        for x in range(width):
            new[y, x] = 255 if greys[y, x] >= 128 else 0
            off = greys[y, x] - new[y, x]
            for sixteenths, dy, dx in (7, 0, 1), (3, 1, -1), (5, 1, 0), (1, 1, 1):
                if y + dy < height and 0 <= x + dx < width:
                    greys[y + dy, x + dx] += int(sixteenths * off / 16)
    return new


def levels(starts, sources, origin):
    """By the classic queue."""
    into = [sources[a:b] for a, b in zip(starts, starts[1:])]
    level = np.full(len(into), -1)
    level[origin] = 0
    queue = [origin]
    for node in queue:
        for other, sources_of in enumerate(into):
            if node in sources_of and level[other] < 0:
                level[other] = level[node] + 1
                queue.append(other)
    # The last round finds nothing new, unless there was no room for it.
    return level, min(int(level.max()) + 1, len(into))
