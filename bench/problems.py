"""The problems of the GPU benchmarks: inputs, results in double precision, and torch as the peer.

Every problem is a class with

    sizes       {label: (sizes, what the original LIFT's kernels took in ms, or None)}
    inputs      fresh random inputs by the names that the programs' parameters have
    reference   the result, from inputs of double precision
    peer        the same in single precision, as torch does it best; `how` names it
    flops       operations that count, from the sizes; nothing where memory is the bound
    copies      whether it does little more than copy, so that a copy is what to compare with
    tiny        sizes that only try the script

Where programs want an input in another layout, `transposed` holds it, by name or by shape.

The original's times were taken on an NVIDIA H200, default compiler options.
"""

import functools
import math

try:
    import torch
except ImportError:
    torch = None

DEVICE = "cuda" if torch and torch.cuda.is_available() else "cpu"
PROBLEMS = {}


def problem(name):
    """Registers a class under the name that the list of programs uses."""

    def register(cls):
        PROBLEMS[name] = cls
        return cls

    return register


def uniform(*shape, low=0.0, high=1.0):
    return torch.rand(*shape, device=DEVICE) * (high - low) + low


class Problem:
    how = "torch"
    flops = None
    copies = False
    transposed = {}

    def __init__(self, sizes):
        self.given = self.inputs(**sizes)

    def doubled(self):
        """The inputs with every float of double precision."""
        double = lambda v: v.double() if torch.is_tensor(v) and v.is_floating_point() else v
        widen = lambda v: tuple(map(double, v)) if isinstance(v, tuple) else double(v)
        return {name: widen(value) for name, value in self.given.items()}

    @functools.cached_property
    def expected(self):
        """The parts of the result, in double precision."""
        result = self.reference(**self.doubled())
        return result if isinstance(result, tuple) else (result,)

    def error(self, found):
        """The largest difference from what is expected, relative to the size of the values."""
        worst = 0.0
        for own, other in zip(found, self.expected, strict=True):
            own = own.to(DEVICE).double().reshape(other.shape)
            scale = torch.clamp(other.abs(), min=other.abs().mean().item())
            difference = ((own - other).abs() / scale).max().item()
            worst = max(worst, difference if math.isfinite(difference) else math.inf)
        return worst

    def peer(self, **inputs):
        return self.reference(**inputs)

    def peer_call(self):
        """What is timed: a function of nothing."""
        compiled = self.how == "torch.compile"
        function = torch.compile(self.peer, dynamic=False) if compiled else self.peer
        return lambda: function(**self.given)


# ---------------------------------------------------------------------------------------------
# Linear algebra


@problem("mm")
class Product(Problem):
    how = "cuBLAS"
    sizes = {
        "1024³": ({"M": 1024, "K": 1024, "N": 1024}, 2 * 1024**3 / 19.4e9),
        "4096³": ({"M": 4096, "K": 4096, "N": 4096}, 2 * 4096**3 / 32.3e9),
    }
    tiny = {"M": 128, "K": 32, "N": 128}
    flops = staticmethod(lambda M, K, N: 2 * M * K * N)

    def inputs(self, M, K, N):
        a, b = uniform(M, K), uniform(K, N)
        self.transposed = {"At": a.t().contiguous(), "Bt": b.t().contiguous()}
        return {"A": a, "B": b}

    def reference(self, A, B):
        return A @ B


class MatrixVector(Problem):
    how = "cuBLAS"
    tiny = {"M": 128, "N": 256}

    def inputs(self, M, N):
        given = {"A": uniform(M, N), "x": uniform(self.length_x(M, N))}
        return given | {"y": uniform(M + N - self.length_x(M, N)), "alpha": 0.75, "beta": 0.25}

    def length_x(self, M, N):
        return N

    def reference(self, A, x, y, alpha, beta):
        return torch.addmv(y, A, x, alpha=alpha, beta=beta)


def squares(small=None, large=None):
    """The two sizes of a matrix, with the original's time at each."""
    return {
        "4096²": ({"M": 4096, "N": 4096}, small),
        "8192²": ({"M": 8192, "N": 8192}, large),
    }


@problem("gemv")
class Gemv(MatrixVector):
    sizes = squares(4 * 4096**2 / 0.29e9, 4 * 8192**2 / 0.58e9)


@problem("gemv_t")
class GemvTransposed(MatrixVector):
    sizes = squares(4 * 4096**2 / 0.37e9, 4 * 8192**2 / 0.73e9)

    def length_x(self, M, N):
        return M

    def reference(self, A, x, y, alpha, beta):
        return torch.addmv(y, A.t(), x, alpha=alpha, beta=beta)


@problem("atax")
class Atax(Problem):
    how = "cuBLAS"
    sizes = squares()
    tiny = {"M": 128, "N": 256}

    def inputs(self, M, N):
        return {"A": uniform(M, N), "x": uniform(N)}

    def reference(self, A, x):
        return A.t() @ (A @ x)


@problem("gesummv")
class Gesummv(Problem):
    how = "cuBLAS"
    sizes = squares()
    tiny = {"M": 128, "N": 256}

    def inputs(self, M, N):
        given = {"A": uniform(M, N), "B": uniform(M, N), "x": uniform(N)}
        return given | {"alpha": 0.75, "beta": 0.25}

    def reference(self, A, B, x, alpha, beta):
        return torch.addmv(alpha * (A @ x), B, x, alpha=beta)


# ---------------------------------------------------------------------------------------------
# Particles and points


def pull(p, pos, eps2):
    d = [pos[None, :, k] - p[:, None, k] for k in range(3)]
    inv = torch.rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2)
    weight = pos[None, :, 3] * inv * inv * inv
    return [(weight * part).sum(1) for part in d]


@problem("nbody")
class Bodies(Problem):
    how = "torch.compile"
    sizes = {"16K": ({"N": 16384}, 0.577), "131K": ({"N": 131072}, 12.2)}
    tiny = {"N": 512}
    flops = staticmethod(lambda N: 20 * N * N)

    def inputs(self, N):
        vel = uniform(N, 4, low=-1.0)
        vel[:, 3] = 0.0
        return {"pos": uniform(N, 4), "vel": vel, "dt": 0.125, "eps2": 0.01}

    def reference(self, pos, vel, dt, eps2):
        parts = [torch.stack(pull(p, pos, eps2), 1) for p in pos.split(2048)]
        return self.moved(pos, vel, torch.cat(parts), dt)

    def peer(self, pos, vel, dt, eps2):
        return self.moved(pos, vel, torch.stack(pull(pos, pos, eps2), 1), dt)

    def moved(self, pos, vel, a, dt):
        a = torch.nn.functional.pad(a, (0, 1))
        return pos + vel * dt + a * (0.5 * dt * dt), vel + a * dt


@problem("md")
class Molecules(Problem):
    """A jittered lattice in random order; the neighbours of a particle are the 128 nearest places."""

    how = "torch.compile"
    sizes = {
        "12K": ({"N": 12288, "J": 128}, 0.035),
        "74K": ({"N": 73728, "J": 128}, 0.073),
    }
    tiny = {"N": 512, "J": 32}

    def inputs(self, N, J):
        side = math.ceil(N ** (1 / 3) - 1e-9)
        place = torch.arange(N, device=DEVICE)
        cell = torch.stack([place // side**2, place // side % side, place % side], 1)
        pos = torch.zeros(N, 4, device=DEVICE)
        pos[:, :3] = cell + uniform(N, 3, low=-0.3, high=0.3)
        around = torch.cartesian_prod(*[torch.arange(-4, 5, device=DEVICE)] * 3)
        order = torch.argsort((around * around).sum(1), stable=True)[1 : J + 1]
        near = (cell[:, None, :] + around[order][None]) % side
        near = ((near[..., 0] * side + near[..., 1]) * side + near[..., 2]) % N
        near = torch.where(near == place[:, None], (near + 1) % N, near)
        shuffled = torch.randperm(N, device=DEVICE)
        found, lists = torch.empty_like(pos), torch.empty_like(near)
        found[shuffled], lists[shuffled] = pos, shuffled[near]
        lists = lists.to(torch.int32)
        self.transposed = {"neighbours": lists.t().contiguous()}
        given = {"pos": found, "neighbours": lists}
        return given | {"cutsq": 7.0, "lj1": 1.5, "lj2": 2.0}

    def reference(self, pos, neighbours, cutsq, lj1, lj2):
        r = pos[:, None, :3] - pos[neighbours.long(), :3]
        r2 = (r * r).sum(2)
        inv2 = 1.0 / r2
        inv6 = inv2 * inv2 * inv2
        weight = torch.where(r2 < cutsq, inv2 * inv6 * (lj1 * inv6 - lj2), 0.0)
        return torch.nn.functional.pad((r * weight[:, :, None]).sum(1), (0, 1))


@problem("kmeans")
class Clusters(Problem):
    how = "torch.compile"
    sizes = {
        "0.2M": ({"P": 204800, "F": 34, "C": 5}, 0.0228),
        "0.8M": ({"P": 819200, "F": 34, "C": 5}, 0.0688),
    }
    tiny = {"P": 640, "F": 34, "C": 5}

    def inputs(self, P, F, C):
        return {"features": uniform(F, P), "clusters": uniform(C, F)}

    def distances(self, features, clusters):
        return ((features[None] - clusters[:, :, None]) ** 2).sum(1)

    def reference(self, features, clusters):
        return self.distances(features, clusters).argmin(0)

    def error(self, found):
        """How much farther the found cluster is than the nearest: rounding may decide a tie."""
        far = self.distances(**self.doubled())
        chosen = found[0].to(DEVICE).long()
        if chosen.min() < 0 or chosen.max() >= far.shape[0]:
            return math.inf
        return (far.gather(0, chosen[None])[0] / far.min(0).values - 1.0).max().item()


@problem("nn")
class Nearest(Problem):
    how = "torch.compile"
    copies = True
    sizes = {"8M": ({"N": 1 << 23}, 0.046), "34M": ({"N": 1 << 25}, 0.165)}
    tiny = {"N": 1024}

    def inputs(self, N):
        return {"records": (uniform(N), uniform(N)), "lat": 0.25, "lng": 0.5}

    def reference(self, records, lat, lng):
        dx, dy = records[0] - lat, records[1] - lng
        return torch.sqrt(dx * dx + dy * dy)


@problem("q")
class Reconstruction(Problem):
    how = "torch.compile"
    sizes = {
        "32K x 3072": ({"X": 32768, "K": 3072}, 0.644),
        "262K x 2048": ({"X": 262144, "K": 2048}, 1.268),
    }
    tiny = {"X": 256, "K": 64}
    flops = staticmethod(lambda X, K: 14 * X * K)

    def inputs(self, X, K):
        given = {name: uniform(X) for name in ("x", "y", "z")}
        return given | {name: uniform(K) for name in ("kx", "ky", "kz", "mag")}

    def reference(self, x, y, z, kx, ky, kz, mag):
        points = zip(*(part.split(8192) for part in (x, y, z)))
        parts = [self.sums(*some, kx, ky, kz, mag) for some in points]
        return tuple(torch.cat(part) for part in zip(*parts))

    def peer(self, **inputs):
        return self.sums(**inputs)

    def sums(self, x, y, z, kx, ky, kz, mag):
        phase = kx * x[:, None] + ky * y[:, None] + kz * z[:, None]
        phase = 6.2831853 * phase
        return (mag * torch.cos(phase)).sum(1), (mag * torch.sin(phase)).sum(1)


@problem("phi_mag")
class Magnitudes(Problem):
    sizes = {"3072": ({"K": 3072}, None)}
    tiny = {"K": 64}

    def inputs(self, K):
        return {"re": uniform(K), "im": uniform(K)}

    def reference(self, re, im):
        return re * re + im * im


# ---------------------------------------------------------------------------------------------
# Images


class Filter(Problem):
    how = "torch (cuDNN)"
    tiny = {"N": 128, "M": 128}

    def inputs(self, N, M):
        return {"taps": uniform(17), "image": uniform(N, M)}

    def row(self, taps, image):
        window = taps.view(1, 1, 1, 17)
        return torch.nn.functional.conv2d(image[None, None], window, padding=(0, 8))[0, 0]

    def column(self, taps, image):
        window = taps.view(1, 1, 17, 1)
        return torch.nn.functional.conv2d(image[None, None], window, padding=(8, 0))[0, 0]


def images(small=None, large=None):
    return {
        "4096²": ({"N": 4096, "M": 4096}, small),
        "8192²": ({"N": 8192, "M": 8192}, large),
    }


@problem("convolution")
class Convolution(Filter):
    sizes = images(None, 0.224 + 0.244)

    def reference(self, taps, image):
        return self.column(taps, self.row(taps, image))


@problem("convolution_row")
class RowPass(Filter):
    sizes = images(None, 0.244)

    def reference(self, taps, image):
        return self.row(taps, image)


@problem("convolution_column")
class ColumnPass(Filter):
    sizes = images(None, 0.224)

    def reference(self, taps, image):
        return self.column(taps, image)


@problem("jacobi2d_5")
class Jacobi(Problem):
    how = "torch.compile"
    copies = True
    sizes = images()
    tiny = {"N": 64, "M": 64}

    def inputs(self, N, M):
        return {"grid": uniform(N, M)}

    def reference(self, grid):
        p = torch.nn.functional.pad(grid[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
        return 0.2 * (p[1:-1, 1:-1] + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


# ---------------------------------------------------------------------------------------------
# Programs that do little more than copy


@problem("scal")
class Scaled(Problem):
    copies = True
    sizes = {"1 GiB": ({"N": 1 << 28}, None)}
    tiny = {"N": 1024}

    def inputs(self, N):
        return {"alpha": 0.75, "x": uniform(N)}

    def reference(self, alpha, x):
        return alpha * x


@problem("axpy")
class ScaledSum(Problem):
    how = "torch.compile"
    copies = True
    sizes = {"2 x 1 GiB": ({"N": 1 << 28}, None)}
    tiny = {"N": 1024}

    def inputs(self, N):
        return {"alpha": 0.75, "x": uniform(N), "y": uniform(N)}

    def reference(self, alpha, x, y):
        return alpha * x + y


@problem("transposed")
class Transposed(Problem):
    copies = True
    sizes = {"16384²": ({"M": 16384, "N": 16384}, None)}
    tiny = {"M": 64, "N": 64}

    def inputs(self, M, N):
        matrix = uniform(M, N)
        self.transposed = {"xss": matrix}
        return {"A": matrix}

    def reference(self, A):
        return A.t().contiguous()


@problem("reverse")
class Reversed(Problem):
    copies = True
    sizes = {"1 GiB": ({"N": 1 << 28}, None)}
    tiny = {"N": 1024}

    def inputs(self, N):
        return {"xs": uniform(N)}

    def reference(self, xs):
        return xs.flip(0)


@problem("black_scholes")
class Options(Problem):
    how = "torch.compile"
    copies = True
    sizes = {"64M": ({"N": 1 << 26}, None)}
    tiny = {"N": 1024}

    def inputs(self, N):
        given = {"stock": uniform(N, low=5, high=30), "strike": uniform(N, low=1, high=100)}
        return given | {"years": uniform(N, low=0.25, high=10), "rate": 0.02, "vol": 0.3}

    def reference(self, stock, strike, years, rate, vol):
        spread = vol * torch.sqrt(years)
        d1 = (torch.log(stock / strike) + (rate + 0.5 * vol * vol) * years) / spread
        d2 = d1 - spread
        now = strike * torch.exp(-rate * years)
        call = stock * self.normal(d1) - now * self.normal(d2)
        return call, now * self.normal(-d2) - stock * self.normal(-d1)

    def normal(self, d):
        k = 1.0 / (1.0 + 0.2316419 * d.abs())
        poly = -1.821255978 + k * 1.330274429
        for c in (1.781477937, -0.356563782, 0.31938153):
            poly = c + k * poly
        tail = 0.39894228 * torch.exp(-0.5 * d * d) * (k * poly)
        return torch.where(d > 0.0, 1.0 - tail, tail)


# ---------------------------------------------------------------------------------------------
# Sums


@problem("sum")
class Sum(Problem):
    sizes = {"1 GiB": ({"N": 1 << 28}, None)}
    copies = True
    tiny = {"N": 1024}

    def inputs(self, N):
        return {"xs": uniform(N)}

    def reference(self, xs):
        return xs.sum()


@problem("partial_dot")
class ChunkProducts(Problem):
    how = "torch.compile"
    copies = True
    sizes = {"2 x 256 MiB": ({"N": 1 << 26}, None)}
    tiny = {"N": 1024}

    def inputs(self, N):
        return {"x": uniform(N), "y": uniform(N)}

    def reference(self, x, y):
        return (x * y).view(-1, 128).sum(1)
