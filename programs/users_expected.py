"""What the programs of users/ compute, with numpy, and random inputs for them.

Every class has the name of a program. `inputs` makes its arguments for the sizes of its definition,
`numpy` works out its result, as fast as numpy does it in the precision of its inputs, so that it is
a peer as well; `expected` is the result in double precision. `small` are sizes that a reader can
follow. An array of tuples is a tuple of arrays; programs that numpy does with complex numbers have
pairs.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

USERS = {}


class Program:
    params = ()  # sizes that are found in no argument
    exact = False
    tolerance = 1e-3  # relative to the element or the mean size of elements
    variant = False  # another way to say a program of the suite
    extra = False  # none of those that the suite's mean is of

    def numpy_prepare(self, **inputs):
        """numpy's inputs: outside what is timed."""
        return inputs

    def larger(self):
        """Sizes that are no longer for readers."""
        return {name: 6 * size for name, size in self.small.items()}

    def expected(self, **inputs):
        """The result in double precision, or exact."""
        doubled = {name: doubles(value) for name, value in inputs.items()}
        return parts(self.numpy(**self.numpy_prepare(**doubled)))


def program(cls):
    USERS[cls.__name__] = cls()
    return cls


def doubles(value):
    if isinstance(value, tuple):
        return tuple(map(doubles, value))
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        return value.astype(np.float64)
    return value


def parts(result):
    """A complex result as the pair that programs have."""
    return (result.real, result.imag) if np.iscomplexobj(result) else result


def u(r, *shape, lo=-1.0, hi=1.0):
    x = r.random(shape, dtype=np.float32)
    if (lo, hi) != (0.0, 1.0):
        x *= np.float32(hi - lo)
        x += np.float32(lo)
    return x


def pad(x, n, mode="edge"):
    return np.pad(x, [(0, 0)] * (x.ndim - 2) + [(n, n), (n, n)], mode=mode)


def shifts(x, n):
    """The n*n shifted views of a padded image."""
    h, w = x.shape[-2] - n + 1, x.shape[-1] - n + 1
    return [[x[..., i : i + h, j : j + w] for j in range(n)] for i in range(n)]


@program
class linear_relu(Program):
    small = dict(M=3, K=4, N=5)

    def inputs(self, r, M, K, N):
        return dict(x=u(r, M, K), w=u(r, K, N), b=u(r, N))

    def numpy(self, x, w, b):
        return np.maximum(x @ w + b, 0)


@program
class mlp(Program):
    small = dict(M=2, K=3, H=4, N=3)

    def inputs(self, r, M, K, H, N):
        return dict(x=u(r, M, K), w1=u(r, K, H), b1=u(r, H), w2=u(r, H, N), b2=u(r, N))

    def numpy(self, x, w1, b1, w2, b2):
        return np.maximum(x @ w1 + b1, 0) @ w2 + b2


@program
class batched_mm(Program):
    small = dict(B=2, M=3, K=4, N=2)

    def inputs(self, r, B, M, K, N):
        return dict(x=u(r, B, M, K), y=u(r, B, K, N))

    def numpy(self, x, y):
        return x @ y


@program
class mm_tn(Program):
    small = dict(M=3, K=4, N=2)

    def inputs(self, r, M, K, N):
        return dict(at=u(r, K, M), b=u(r, K, N))

    def numpy(self, at, b):
        return at.T @ b


@program
class mm_nt(Program):
    small = dict(M=3, K=4, N=2)

    def inputs(self, r, M, K, N):
        return dict(a=u(r, M, K), bt=u(r, N, K))

    def numpy(self, a, bt):
        return a @ bt.T


@program
class mm_i8(Program):
    small = dict(M=3, K=4, N=2)
    exact = True

    def inputs(self, r, M, K, N):
        whole = lambda *shape: r.integers(-100, 100, shape, dtype=np.int8)
        return dict(a=whole(M, K), b=whole(K, N))

    def expected(self, a, b):
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int32)

    def numpy(self, a, b):  # by way of floats, exact up to 2^24: numpy's own integer product is 50 times slower
        return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.int32)


@program
class mm_complex(Program):
    small = dict(M=2, K=3, N=4)

    def inputs(self, r, M, K, N):
        return dict(a=(u(r, M, K), u(r, M, K)), b=(u(r, K, N), u(r, K, N)))

    def numpy_prepare(self, a, b):
        return dict(a=a[0] + 1j * a[1], b=b[0] + 1j * b[1])

    def numpy(self, a, b):
        return a @ b


@program
class attention(Program):
    small = dict(H=2, N=3, D=4)

    def inputs(self, r, H, N, D):
        return dict(q=u(r, H, N, D), k=u(r, H, N, D), v=u(r, H, N, D))

    def numpy(self, q, k, v):
        s = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        s = np.exp(s - s.max(-1, keepdims=True))
        return (s / s.sum(-1, keepdims=True)) @ v


class Rows(Program):
    small = dict(M=3, N=5)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N, lo=-4.0, hi=4.0))


@program
class softmax(Rows):
    def numpy(self, x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)


@program
class logsumexp(Rows):
    def numpy(self, x):
        top = x.max(1)
        return top + np.log(np.exp(x - top[:, None]).sum(1))


@program
class layernorm(Program):
    small = dict(M=3, N=5)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N), gamma=u(r, N), beta=u(r, N))

    def numpy(self, x, gamma, beta):
        d = x - x.mean(1, keepdims=True)
        return d / np.sqrt((d * d).mean(1, keepdims=True) + x.dtype.type(1e-5)) * gamma + beta


@program
class rmsnorm(Program):
    small = dict(M=3, N=5)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N), gamma=u(r, N))

    def numpy(self, x, gamma):
        return x / np.sqrt((x * x).mean(1, keepdims=True) + x.dtype.type(1e-5)) * gamma


@program
class colsum(Program):
    small = dict(M=3, N=5)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N, lo=0.0))

    def numpy(self, x):
        return x.sum(0)


@program
class argmax(Rows):
    exact = True

    def numpy(self, x):
        return x.argmax(1).astype(np.int32)


@program
class variance(Program):
    small = dict(N=7)

    def inputs(self, r, N):
        return dict(x=u(r, N, lo=0.0))

    def numpy(self, x):
        return x.var()


@program
class prefix_sum(Program):
    small = dict(N=9)

    def inputs(self, r, N):
        return dict(x=u(r, N))

    def numpy(self, x):
        return np.cumsum(x)


@program
class conv3x3(Program):
    small = dict(B=2, C=2, O=1, H=3, W=4)

    def inputs(self, r, B, C, O, H, W):
        return dict(x=u(r, B, C, H, W), w=u(r, O, C, 3, 3))

    def numpy(self, x, w):
        v = sliding_window_view(pad(x, 1, "constant"), (3, 3), axis=(2, 3))
        b, c, h, k = v.shape[:4]
        rows = v.transpose(0, 2, 3, 1, 4, 5).reshape(b, h * k, c * 9)
        return (rows @ w.reshape(len(w), -1).T).transpose(0, 2, 1).reshape(b, len(w), h, k)


@program
class depthwise(Program):
    small = dict(B=1, C=2, H=3, W=4)

    def inputs(self, r, B, C, H, W):
        return dict(x=u(r, B, C, H, W), w=u(r, C, 3, 3))

    def numpy(self, x, w):
        s = shifts(pad(x, 1, "constant"), 3)
        return sum(s[i][j] * w[None, :, i, j, None, None] for i in range(3) for j in range(3))


@program
class maxpool(Program):
    small = dict(B=1, C=2, H=4, W=6)

    def inputs(self, r, B, C, H, W):
        return dict(x=u(r, B, C, H, W))

    def numpy(self, x):
        b, c, h, w = x.shape
        return x.reshape(b, c, h // 2, 2, w // 2, 2).max((3, 5))


def harris_by(windows, image):
    w = windows(image)
    dx = (w[0][2] - w[0][0] + 2 * (w[1][2] - w[1][0]) + w[2][2] - w[2][0]) * 0.125
    dy = (w[2][0] - w[0][0] + 2 * (w[2][1] - w[0][1]) + w[2][2] - w[0][2]) * 0.125
    box = lambda x: sum(v for row in windows(x) for v in row)  # noqa: E731
    a, b, c = box(dx * dx), box(dy * dy), box(dx * dy)
    return a * b - c * c - 0.04 * (a + b) * (a + b)


@program
class harris(Program):
    small = dict(N=4, M=5)

    def inputs(self, r, N, M):
        return dict(image=u(r, N, M, lo=0.0))

    def numpy(self, image):
        return harris_by(lambda x: shifts(pad(x, 1), 3), image)


def bilateral_by(exp, views, image, space, k):
    total = sum_ = 0
    for i in range(5):
        for j in range(5):
            d = views[i][j] - image
            w = space[i, j] * exp(-k * d * d)
            total, sum_ = total + w, sum_ + w * views[i][j]
    return sum_ / total


@program
class bilateral(Program):
    small = dict(N=3, M=5)

    def inputs(self, r, N, M):
        at = np.arange(-2, 3)
        space = np.exp(-(at[:, None] ** 2 + at**2) / 8.0).astype(np.float32)
        return dict(image=u(r, N, M, lo=0.0), space=space, k=8.0)

    def numpy(self, image, space, k):
        return bilateral_by(np.exp, shifts(pad(image, 2), 5), image, space, image.dtype.type(k))


def heat_step(w):
    return w[1][1] + 0.1 * (w[0][1] + w[2][1] + w[1][0] + w[1][2] - 4 * w[1][1])


@program
class heat10(Program):
    small = dict(N=4, M=5)

    def inputs(self, r, N, M):
        return dict(grid=u(r, N, M))

    def numpy(self, grid):
        for _ in range(10):
            grid = heat_step(shifts(pad(grid, 1), 3))
        return grid


def life_step(roll, where, g):
    s = roll(g, 1, 0) + g + roll(g, -1, 0)
    n = roll(s, 1, 1) + s + roll(s, -1, 1) - g
    return where((n == 3) | ((n == 2) & (g == 1)))


@program
class life10(heat10):
    exact = True

    def inputs(self, r, N, M):
        return dict(cells=r.integers(0, 2, (N, M), dtype=np.uint8))

    def numpy(self, cells):
        for _ in range(10):
            cells = life_step(np.roll, lambda c: c.astype(np.uint8), cells)
        return cells


LBM_X, LBM_Y = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)


LBM_W = (4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4


def lbm_step(roll, f, omega):
    f = [roll(roll(v, -y, 0), x, 1) for v, x, y in zip(f, LBM_X, LBM_Y)]
    rho = sum(f)
    ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
    uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
    u2 = ux * ux + uy * uy
    out = []
    for v, x, y, w in zip(f, LBM_X, LBM_Y, LBM_W):
        a = x * ux + y * uy
        out.append(v + omega * (w * rho * (1 + 3 * a + 4.5 * a * a - 1.5 * u2) - v))
    return tuple(out)


@program
class lbm(Program):
    small = dict(N=2, M=3)

    def inputs(self, r, N, M):
        return dict(cells=tuple(u(r, N, M, lo=0.9, hi=1.1) * np.float32(w) for w in LBM_W), omega=1.5)

    def numpy(self, cells, omega):
        return lbm_step(np.roll, lbm_step(np.roll, cells, cells[0].dtype.type(omega)), cells[0].dtype.type(omega))


@program
class kmeans_step(Program):
    small = dict(P=9, F=2, C=3)
    tolerance = 1e-2  # a point between two centres may go to either

    def inputs(self, r, P, F, C):
        return dict(points=u(r, P, F), centres=u(r, C, F))

    def numpy(self, points, centres):
        i = ((centres * centres).sum(1) - 2 * points @ centres.T).argmin(1)
        one = (i[:, None] == np.arange(len(centres))).astype(points.dtype)
        return one.T @ points / np.maximum(one.sum(0), 1)[:, None]


@program
class cosine(Program):
    small = dict(N=4, D=3)

    def inputs(self, r, N, D):
        return dict(x=u(r, N, D))

    def numpy(self, x):
        x = x / np.sqrt((x * x).sum(1, keepdims=True))
        return x @ x.T


@program
class fft(Program):
    small = dict(N=8, L=3)
    params = ("L",)

    def larger(self):
        return dict(N=64, L=6)

    def inputs(self, r, N, L):
        return dict(x=(u(r, N), u(r, N)))

    def numpy_prepare(self, x):
        return dict(x=x[0] + 1j * x[1])

    def numpy(self, x):
        return np.fft.fft(x)


@program
class lu(Program):
    small = dict(N=4)

    def inputs(self, r, N):
        return dict(a=u(r, N, N) + np.float32(N) * np.eye(N, dtype=np.float32))

    def numpy(self, a):
        a = a.copy()
        for k in range(len(a) - 1):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
        return a


@program
class floyd(Program):
    small = dict(N=4)

    def inputs(self, r, N):
        return dict(d=u(r, N, N, lo=0.0))

    def numpy(self, d):
        for k in range(len(d)):
            d = np.minimum(d, d[:, k, None] + d[k])
        return d


@program
class histogram(Program):
    small = dict(N=20)
    exact = True

    def inputs(self, r, N):
        return dict(x=r.integers(0, 256, N, dtype=np.uint8))

    def numpy(self, x):
        return np.bincount(x, minlength=256).astype(np.int32)


@program
class lu_seq(lu):
    variant = True


@program
class floyd_seq(floyd):
    variant = True


@program
class conv3x3_let(conv3x3):
    variant = True


@program
class kmeans_let(kmeans_step):
    variant = True


@program
class kmeans_all(kmeans_step):
    variant = True


@program
class histogram_all(histogram):
    variant = True


def mix_np(x):
    c, s = np.uint32(73244475), np.uint32(16)
    a = (x + (x >> s)) * c
    b = (a + (a >> s)) * c
    return b + (b >> s)


@program
class montecarlo(Program):
    small = dict(P=16, T=4)
    params = ("P", "T")

    def inputs(self, r, P, T):
        self.size = P, T
        return dict(seed=12345)

    def expected(self, seed):
        return self.by(seed, np.float64)

    def by(self, seed, f):
        P, T = self.size
        c = np.arange(P * T, dtype=np.uint32) + np.uint32(seed)
        uniform = lambda x: ((mix_np(x) >> np.uint32(8)).astype(f) + f(0.5)) * f(2.0**-24)  # noqa: E731
        two = np.uint32(2)
        a, b = uniform(two * c + np.uint32(1)), uniform(two * c + two)
        z = np.sqrt(f(-2) * np.log(a)) * np.cos(f(2 * math.pi) * b)
        s = f(100) * np.exp(np.cumsum((f(0.0005) + f(0.05) * z).reshape(P, T), 1))
        return np.maximum(s.mean(1) - f(105), 0).mean()

    def numpy(self, seed):
        return self.by(seed, np.float32)


# ---------------------------------------------------------------------------------------------
# Programs that no schedule was written for


@program
class kalman(Program):
    small = dict(B=3, T=5)
    extra = True

    def inputs(self, r, B, T):
        return dict(tracks=np.cumsum(u(r, B, T), 1, dtype=np.float32))

    def numpy(self, tracks):
        f = tracks.dtype.type
        x = v = pxv = total = np.zeros(len(tracks), f)
        pxx = pvv = np.ones(len(tracks), f)
        for measured in tracks.T:
            x, pxx, pxv, pvv = x + v, pxx + f(2) * pxv + pvv + f(0.01), pxv + pvv, pvv + f(0.01)
            spread, off = pxx + f(0.5), measured - x
            kx, kv = pxx / spread, pxv / spread
            x, v = x + kx * off, v + kv * off
            pxx, pxv, pvv = (f(1) - kx) * pxx, (f(1) - kx) * pxv, pvv - kv * pxv
            total = total - f(0.5) * (off * off / spread + np.log(f(2 * math.pi) * spread))
        return x, v, total


@program
class spectrogram(Program):
    small = dict(N=16, K=4)
    params = ("K",)
    extra = True

    def inputs(self, r, N, K):
        self.half = K
        return dict(signal=u(r, N))

    def numpy(self, signal):
        k, f = self.half, signal.dtype.type
        at = np.arange(2 * k)
        fade = (0.5 - 0.5 * np.cos(np.pi * at / k)).astype(f)
        turned = np.fft.rfft(sliding_window_view(signal, 2 * k)[::k] * fade)[:, :k]
        return (turned.real**2 + turned.imag**2).astype(f)


@program
class bigrams(Program):
    small = dict(D=3, L=6, V=4)
    extra = True

    def inputs(self, r, D, L, V):
        return dict(texts=r.integers(0, V, (D, L + 1), dtype=np.int32), table=-u(r, V, V, lo=0.0, hi=8.0))

    def numpy(self, texts, table):
        scores = table[texts[:, :-1], texts[:, 1:]]
        return scores.mean(1), scores.argmin(1).astype(np.int32)


def sweep_by(pad, where, u, f, red, colour):
    w = shifts(pad(u), 3)
    return where(red == (colour == 0), 0.25 * (w[0][1] + w[2][1] + w[1][0] + w[1][2] - f), u)


@program
class red_black(Program):
    small = dict(N=4, M=5)
    extra = True

    def inputs(self, r, N, M):
        return dict(u=u(r, N, M), f=u(r, N, M))

    def numpy(self, u, f):
        red = np.add.outer(np.arange(u.shape[0]), np.arange(u.shape[1])) % 2 == 0
        for step in range(20):
            u = sweep_by(lambda x: pad(x, 1, "constant"), np.where, u, f, red, step % 2).astype(u.dtype)
        return u
