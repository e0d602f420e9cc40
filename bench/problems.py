"""The problems of the benchmarks: inputs and results, each said once for all array libraries.

Every problem is a class with

    inputs      random inputs in numpy, by the names that the programs' parameters have
    result      what is computed, in a library of libraries.py: in double precision it is what
                programs are compared with, in single precision the library is a peer
    tolerance   the largest error that counts as rounding, see `error`

Where programs want an input in another layout, `layouts` holds it, by name. Sizes, programs and
peers are in suites/. The problems of the suite `users` are in users_problems.py.
"""

import math

import numpy as np

PROBLEMS = {}


def problem(name):
    """Registers a class under the name that the suites use."""

    def register(cls):
        PROBLEMS[name] = cls
        return cls

    return register


class Problem:
    tolerance = 1e-3
    # Whether it is made of products that BLAS has.
    blas = False

    def __init__(self, sizes, seed=1):
        self.random = np.random.default_rng(seed)
        self.layouts = {}
        self.given = self.inputs(**sizes)

    def uniform(self, *shape, low=0.0, high=1.0):
        values = self.random.random(shape, dtype=np.float32)
        if (low, high) != (0.0, 1.0):
            values *= np.float32(high - low)
            values += np.float32(low)
        return values

    def arrays(self, library, double=False):
        """The inputs as the library's own."""
        convert = lambda v: library.array(v, double) if isinstance(v, np.ndarray) else v
        every = lambda v: tuple(map(convert, v)) if isinstance(v, tuple) else convert(v)
        return {name: every(value) for name, value in self.given.items()}

    def call(self, library, compile=None):
        """The result as a function of nothing, with `compile` by what that makes of functions."""
        arrays = self.arrays(library)
        function = lambda **given: self.result(library, **given)
        if compile:
            function = compile(function)
        return lambda: function(**arrays)

    def some(self):
        """The rows of the result that are compared, or nothing where all are."""
        return None

    def expected(self, library):
        """The parts of the result in double precision."""
        some = self.some()
        more = {} if some is None else {"some": some}
        result = self.result(library, **self.arrays(library, double=True), **more)
        parts = result if isinstance(result, tuple) else (result,)
        return [np.atleast_1d(library.numpy(part)) for part in parts]

    def error(self, found, library):
        """The largest difference from what is expected, relative to the size of the values."""
        worst, some = 0.0, self.some()
        for own, other in zip(found, self.expected(library), strict=True):
            own = own if some is None else own[some]
            if own.size != other.size:
                return math.inf
            own = own.astype(np.float64).reshape(other.shape)
            size = np.maximum(np.abs(other), np.abs(other).mean())
            with np.errstate(invalid="ignore", divide="ignore"):
                own -= other
                difference = np.abs(own) / size
            # Where all is zero, zero is right.
            difference[(own == 0) & (size == 0)] = 0.0
            largest = difference.max()
            worst = max(worst, largest if math.isfinite(largest) else math.inf)
        return float(worst)


# ---------------------------------------------------------------------------------------------
# Linear algebra


@problem("mm")
class Product(Problem):
    blas = True

    def inputs(self, M, K, N):
        a, b = self.uniform(M, K), self.uniform(K, N)
        self.layouts = {"At": np.ascontiguousarray(a.T), "Bt": np.ascontiguousarray(b.T)}
        return {"A": a, "B": b}

    def result(self, library, A, B):
        return A @ B


@problem("batched_mm")
class Products(Problem):
    def inputs(self, B, M, K, N):
        return {"a": self.uniform(B, M, K), "b": self.uniform(B, K, N)}

    def result(self, library, a, b):
        return a @ b


@problem("gemv")
class Gemv(Problem):
    blas = True

    def inputs(self, M, N):
        given = {"A": self.uniform(M, N), "x": self.uniform(N), "y": self.uniform(M)}
        return given | {"alpha": 0.75, "beta": 0.25}

    def result(self, library, A, x, y, alpha, beta):
        return library.gemv(alpha, A, x, beta, y)


@problem("gemv_t")
class GemvTransposed(Gemv):
    def inputs(self, M, N):
        given = {"A": self.uniform(M, N), "x": self.uniform(M), "y": self.uniform(N)}
        return given | {"alpha": 0.75, "beta": 0.25}

    def result(self, library, A, x, y, alpha, beta):
        return library.gemv(alpha, A.T, x, beta, y)


@problem("atax")
class Atax(Problem):
    blas = True

    def inputs(self, M, N):
        return {"A": self.uniform(M, N), "x": self.uniform(N)}

    def result(self, library, A, x):
        return A.T @ (A @ x)


@problem("gesummv")
class Gesummv(Problem):
    blas = True

    def inputs(self, M, N):
        given = {"A": self.uniform(M, N), "B": self.uniform(M, N), "x": self.uniform(N)}
        return given | {"alpha": 0.75, "beta": 0.25}

    def result(self, library, A, B, x, alpha, beta):
        return library.gemv(beta, B, x, alpha, A @ x)


@problem("pairwise_distance")
class Distances(Problem):
    def inputs(self, M, N, D):
        return {"x": self.uniform(M, D), "y": self.uniform(N, D)}

    def result(self, library, x, y):
        squares = lambda p: (p * p).sum(1)
        return squares(x)[:, None] + squares(y)[None, :] - 2.0 * (x @ y.T)


# ---------------------------------------------------------------------------------------------
# Particles and points


def pieces(count, rows):
    """Slices of so many rows, or one of all."""
    step = rows or count
    return [slice(k, k + step) for k in range(0, count, step)]


@problem("nbody")
class Bodies(Problem):
    """All pairs take so long in double precision that some bodies are compared."""

    def inputs(self, N):
        vel = self.uniform(N, 4, low=-1.0)
        vel[:, 3] = 0.0
        return {"pos": self.uniform(N, 4), "vel": vel, "dt": 0.125, "eps2": 0.0078125}

    def some(self):
        return spread(len(self.given["pos"]))

    def result(self, library, pos, vel, dt, eps2, some=None):
        targets = pos if some is None else pos[some]
        vel = vel if some is None else vel[some]
        parts = [self.pull(library, targets[k], pos, eps2) for k in pieces(len(targets), library.rows)]
        a = library.xp.concatenate(parts) if len(parts) > 1 else parts[0]
        return targets + vel * dt + a * (0.5 * dt * dt), vel + a * dt

    def pull(self, library, p, pos, eps2):
        xp = library.xp
        d = [pos[None, :, k] - p[:, None, k] for k in range(3)]
        inv = library.rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2)
        weight = pos[None, :, 3] * inv * inv * inv
        return xp.stack([*((weight * part).sum(1) for part in d), xp.zeros_like(p[:, 0])], 1)


def spread(count, most=2048):
    """Some places of so many, the first and the last among them."""
    if count <= most:
        return None
    inner = np.random.default_rng(count).choice(count - 2, most - 2, replace=False) + 1
    return np.sort(np.concatenate([[0, count - 1], inner]))


@problem("md")
class Molecules(Problem):
    """A jittered lattice in random order; the neighbours of a particle are the nearest places."""

    def inputs(self, N, J):
        side = math.ceil(N ** (1 / 3) - 1e-9)
        place = np.arange(N)
        cell = np.stack([place // side**2, place // side % side, place % side], 1)
        pos = np.zeros((N, 4), np.float32)
        pos[:, :3] = cell + self.uniform(N, 3, low=-0.3, high=0.3)
        around = np.stack(np.meshgrid(*[np.arange(-4, 5)] * 3, indexing="ij"), 3).reshape(-1, 3)
        order = np.argsort((around * around).sum(1), kind="stable")[1 : J + 1]
        near = (cell[:, None, :] + around[order][None]) % side
        near = ((near[..., 0] * side + near[..., 1]) * side + near[..., 2]) % N
        near = np.where(near == place[:, None], (near + 1) % N, near)
        shuffled = self.random.permutation(N)
        found, lists = np.empty_like(pos), np.empty(near.shape, np.int32)
        found[shuffled], lists[shuffled] = pos, shuffled[near]
        self.layouts = {"neighbours": np.ascontiguousarray(lists.T)}
        given = {"pos": found, "neighbours": lists}
        return given | {"cutsq": 7.0, "lj1": 1.5, "lj2": 2.0}

    def result(self, library, pos, neighbours, cutsq, lj1, lj2):
        xp = library.xp
        r = pos[:, None, :3] - pos[:, :3][library.index(neighbours)]
        r2 = (r * r).sum(2)
        inv2 = 1.0 / r2
        inv6 = inv2 * inv2 * inv2
        weight = xp.where(r2 < cutsq, inv2 * inv6 * (lj1 * inv6 - lj2), xp.zeros_like(r2))
        force = (r * weight[:, :, None]).sum(1)
        return xp.concatenate([force, xp.zeros_like(force[:, :1])], 1)


@problem("kmeans")
class Clusters(Problem):
    def inputs(self, P, F, C):
        return {"features": self.uniform(F, P), "clusters": self.uniform(C, F)}

    def distances(self, library, features, clusters):
        parts = [((features - centre[:, None]) ** 2).sum(0) for centre in clusters]
        return library.xp.stack(parts)

    def result(self, library, features, clusters):
        return self.distances(library, features, clusters).argmin(0)

    def error(self, found, library):
        """How much farther the found cluster is than the nearest: rounding may decide a tie."""
        far = library.numpy(self.distances(library, **self.arrays(library, double=True)))
        chosen = found[0].astype(np.int64)
        if chosen.shape != far.shape[1:] or chosen.min() < 0 or chosen.max() >= len(far):
            return math.inf
        reached = np.take_along_axis(far, chosen[None], 0)[0]
        return float((reached / far.min(0) - 1.0).max())


@problem("nn")
class Nearest(Problem):
    def inputs(self, N):
        return {"records": (self.uniform(N), self.uniform(N)), "lat": 0.25, "lng": 0.5}

    def result(self, library, records, lat, lng):
        dx, dy = records[0] - lat, records[1] - lng
        return library.xp.sqrt(dx * dx + dy * dy)


@problem("q")
class Reconstruction(Problem):
    """All pairs again."""

    def inputs(self, X, K):
        given = {name: self.uniform(X) for name in ("x", "y", "z")}
        return given | {name: self.uniform(K) for name in ("kx", "ky", "kz", "mag")}

    def some(self):
        return spread(len(self.given["x"]))

    def result(self, library, x, y, z, kx, ky, kz, mag, some=None):
        xp = library.xp
        x, y, z = (part if some is None else part[some] for part in (x, y, z))
        sums = []
        for k in pieces(len(x), library.rows):
            phase = kx * x[k][:, None] + ky * y[k][:, None] + kz * z[k][:, None]
            phase = 6.2831853 * phase
            sums.append(((mag * xp.cos(phase)).sum(1), (mag * xp.sin(phase)).sum(1)))
        return tuple(xp.concatenate(list(part)) for part in zip(*sums)) if len(sums) > 1 else sums[0]


@problem("phi_mag")
class Magnitudes(Problem):
    def inputs(self, K):
        return {"re": self.uniform(K), "im": self.uniform(K)}

    def result(self, library, re, im):
        return re * re + im * im


# ---------------------------------------------------------------------------------------------
# Images and grids


class Filter(Problem):
    def inputs(self, N, M):
        return {"taps": self.uniform(17), "image": self.uniform(N, M)}


@problem("convolution")
class Convolution(Filter):
    def result(self, library, taps, image):
        return library.filtered(library.filtered(image, taps, 1), taps, 0)


@problem("convolution_row")
class RowPass(Filter):
    def result(self, library, taps, image):
        return library.filtered(image, taps, 1)


@problem("convolution_column")
class ColumnPass(Filter):
    def result(self, library, taps, image):
        return library.filtered(image, taps, 0)


def shifted(padded, width, *by):
    """A padded grid without its border, moved by so much in every dimension."""
    sides = zip(by, padded.shape)
    return padded[tuple(slice(width + d, extent - width + d) for d, extent in sides)]


class Grid(Problem):
    def inputs(self, N, M):
        return {"grid": self.uniform(N, M)}

    def around(self, library, grid):
        """The neighbours above, below, left and right."""
        p = library.pad(grid, 1)
        return [shifted(p, 1, *by) for by in ((-1, 0), (1, 0), (0, -1), (0, 1))]

    def square(self, library, grid, weights):
        """The weighted sum of a square around every point."""
        width = len(weights) // 2
        p = library.pad(grid, width)
        reach = range(-width, width + 1)
        terms = [(weights[y + width][x + width], y, x) for y in reach for x in reach]
        return sum(weight * shifted(p, width, y, x) for weight, y, x in terms)


@problem("jacobi2d_5")
class Jacobi5(Grid):
    def result(self, library, grid):
        n, s, w, e = self.around(library, grid)
        return 0.2 * (grid + n + s + w + e)


@problem("jacobi2d_9")
class Jacobi9(Grid):
    def result(self, library, grid):
        return self.square(library, grid, [[1 / 9] * 3] * 3)


@problem("stencil2d")
class Stencil(Grid):
    def result(self, library, grid):
        corners, nearest = [0.05, 0.15, 0.05], [0.15, 0.25, 0.15]
        return self.square(library, grid, [corners, nearest, corners])


@problem("gradient")
class Gradient(Grid):
    def result(self, library, grid):
        squares = sum((other - grid) ** 2 for other in self.around(library, grid))
        return grid + library.rsqrt(squares + 1e-4)


@problem("gaussian_25")
class Gaussian(Grid):
    def inputs(self, N, M):
        return {"image": self.uniform(N, M)}

    def result(self, library, image):
        outer, middle, inner = [2, 4, 5, 4, 2], [4, 9, 12, 9, 4], [5, 12, 15, 12, 5]
        weights = [[w / 159 for w in row] for row in (outer, middle, inner, middle, outer)]
        return self.square(library, image, weights)


@problem("hotspot2d")
class Hotspot(Grid):
    def inputs(self, N, M):
        given = {"temp": self.uniform(N, M, low=60, high=90), "power": self.uniform(N, M)}
        return given | {"step": 0.125, "rx": 0.25, "ry": 0.5, "rz": 0.125}

    def result(self, library, temp, power, step, rx, ry, rz):
        n, s, w, e = self.around(library, temp)
        flow = ry * (n + s - 2.0 * temp) + rx * (w + e - 2.0 * temp) + rz * (80.0 - temp)
        return temp + step * (power + flow)


@problem("srad1")
class Speckle(Grid):
    def inputs(self, N, M):
        return {"image": self.uniform(N, M, low=0.5, high=1.5), "q0": 0.5}

    def result(self, library, image, q0):
        n, s, w, e = ((other - image) / image for other in self.around(library, image))
        total = n + s + w + e
        variance = 0.5 * (n * n + s * s + w * w + e * e) - total * total / 16.0
        scale = 1.0 + 0.25 * total
        speckle = variance / (scale * scale)
        return library.xp.clip(1.0 / (1.0 + (speckle - q0) / (q0 * (1.0 + q0))), 0.0, 1.0)


@problem("srad2")
class Diffusion(Grid):
    def inputs(self, N, M):
        given = {"image": self.uniform(N, M, low=0.5, high=1.5), "coeff": self.uniform(N, M)}
        return given | {"rate": 0.5}

    def result(self, library, image, coeff, rate):
        n, s, w, e = (other - image for other in self.around(library, image))
        _, below, _, right = self.around(library, coeff)
        return image + 0.25 * rate * (coeff * (n + w) + below * s + right * e)


class Room(Problem):
    def inputs(self, D, N, M):
        return {"grid": self.uniform(D, N, M)}

    def faces(self, library, grid, edge=True):
        """The sum of the six neighbours."""
        p = library.pad(grid, 1, edge)
        sides = [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
        return sum(shifted(p, 1, *by) for by in sides)


@problem("jacobi3d_7")
class Jacobi7(Room):
    def result(self, library, grid):
        return (grid + self.faces(library, grid)) / 7.0


@problem("heat3d")
class Heat(Room):
    def result(self, library, grid):
        return grid + 0.125 * (self.faces(library, grid) - 6.0 * grid)


@problem("acoustic3d")
class Wave(Room):
    def inputs(self, D, N, M):
        return {"before": self.uniform(D, N, M), "now": self.uniform(D, N, M), "loss": 0.25}

    def result(self, library, before, now, loss):
        inside = self.faces(library, library.xp.ones_like(now), edge=False)
        drag = 0.5 * loss * (6.0 - inside)
        flow = self.faces(library, now, edge=False) - inside * now
        return (2.0 * now - before + flow / 3.0 + drag * before) / (1.0 + drag)


# ---------------------------------------------------------------------------------------------
# Programs that do little more than copy


@problem("scal")
class Scaled(Problem):
    def inputs(self, N):
        return {"alpha": 0.75, "x": self.uniform(N)}

    def result(self, library, alpha, x):
        return alpha * x


@problem("axpy")
class ScaledSum(Problem):
    def inputs(self, N):
        return {"alpha": 0.75, "x": self.uniform(N), "y": self.uniform(N)}

    def result(self, library, alpha, x, y):
        return alpha * x + y


@problem("transposed")
class Transposed(Problem):
    tolerance = 0.0

    def inputs(self, M, N):
        matrix = self.uniform(M, N)
        self.layouts = {"xss": matrix}
        return {"A": matrix}

    def result(self, library, A):
        return library.packed(A.T)


@problem("reverse")
class Reversed(Problem):
    tolerance = 0.0

    def inputs(self, N):
        return {"xs": self.uniform(N)}

    def result(self, library, xs):
        return library.packed(library.xp.flip(xs, (0,)))


@problem("black_scholes")
class Options(Problem):
    def inputs(self, N):
        given = {"stock": self.uniform(N, low=5, high=30), "strike": self.uniform(N, low=1, high=100)}
        return given | {"years": self.uniform(N, low=0.25, high=10), "rate": 0.02, "vol": 0.3}

    def result(self, library, stock, strike, years, rate, vol):
        xp = library.xp
        spread = vol * xp.sqrt(years)
        d1 = (xp.log(stock / strike) + (rate + 0.5 * vol * vol) * years) / spread
        d2 = d1 - spread
        now = strike * xp.exp(-rate * years)
        call = stock * self.normal(xp, d1) - now * self.normal(xp, d2)
        return call, now * self.normal(xp, -d2) - stock * self.normal(xp, -d1)

    def normal(self, xp, d):
        k = 1.0 / (1.0 + 0.2316419 * xp.abs(d))
        poly = -1.821255978 + k * 1.330274429
        for c in (1.781477937, -0.356563782, 0.31938153):
            poly = c + k * poly
        tail = 0.39894228 * xp.exp(-0.5 * d * d) * (k * poly)
        return xp.where(d > 0.0, 1.0 - tail, tail)


@problem("mandelbrot")
class Mandelbrot(Problem):
    # Of the points, those whose count differs: near the border rounding decides.
    tolerance = 0.02

    def inputs(self, W, H):
        across = lambda low, high, count: np.linspace(low, high, count, dtype=np.float32)
        return {"xs": across(-2.0, 0.75, W), "ys": across(-1.25, 1.25, H)}

    def result(self, library, xs, ys):
        xp = library.xp
        cx, cy = xs[None, :] + 0.0 * ys[:, None], ys[:, None] + 0.0 * xs[None, :]
        x, y = xp.zeros_like(cx), xp.zeros_like(cx)
        counts = xp.zeros_like(cx)
        for _ in range(100):
            bounded = x * x + y * y <= 4.0
            counts = counts + bounded
            x, y = (
                xp.where(bounded, x * x - y * y + cx, x),
                xp.where(bounded, 2.0 * x * y + cy, y),
            )
        return counts

    def error(self, found, library):
        expected = self.expected(library)[0]
        if found[0].shape != expected.shape:
            return math.inf
        return float((found[0] != expected).mean())


@problem("softmax")
class Softmax(Problem):
    def inputs(self, M, N):
        return {"xss": self.uniform(M, N, low=-4.0, high=4.0)}

    def result(self, library, xss):
        xp = library.xp
        powers = xp.exp(xss - xp.amax(xss, 1)[:, None])
        return powers / powers.sum(1)[:, None]


@problem("layernorm")
class Normalised(Problem):
    def inputs(self, M, N):
        given = {"xss": self.uniform(M, N), "gamma": self.uniform(N), "beta": self.uniform(N)}
        return given | {"eps": 0.0078125}

    def result(self, library, xss, gamma, beta, eps):
        centred = xss - xss.mean(1)[:, None]
        spread = library.xp.sqrt((centred * centred).mean(1) + eps)
        return gamma * (centred / spread[:, None]) + beta


# ---------------------------------------------------------------------------------------------
# Folds


@problem("sum")
class Sum(Problem):
    def inputs(self, N):
        return {"xs": self.uniform(N)}

    def result(self, library, xs):
        return xs.sum()


@problem("asum")
class AbsoluteSum(Problem):
    def inputs(self, N):
        return {"xs": self.uniform(N, low=-1.0)}

    def result(self, library, xs):
        return library.xp.abs(xs).sum()


@problem("dot")
class Dot(Problem):
    blas = True

    def inputs(self, N):
        return {"x": self.uniform(N), "y": self.uniform(N)}

    def result(self, library, x, y):
        return x @ y


@problem("min")
class Least(Problem):
    tolerance = 0.0

    def inputs(self, N):
        return {"xs": self.uniform(N, low=-1.0)}

    def result(self, library, xs):
        return xs.min()


@problem("argmin")
class LeastPlace(Problem):
    tolerance = 0.0

    def inputs(self, N):
        return {"xs": self.uniform(N)}

    def result(self, library, xs):
        return xs.argmin()

    def error(self, found, library):
        """How much more than the least the element at the place is."""
        xs, place = self.given["xs"], int(found[0].reshape(()))
        return float(xs[place] - xs.min()) if 0 <= place < len(xs) else math.inf


@problem("partial_dot")
class ChunkProducts(Problem):
    def inputs(self, N):
        return {"x": self.uniform(N), "y": self.uniform(N)}

    def result(self, library, x, y):
        return (x * y).reshape(-1, 128).sum(1)
