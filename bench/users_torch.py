"""How torch does the programs of users/: the peers of the suite `users`.

Every class has the name of a program. `torch` is the problem, `steps` what is run where that is more
than one call.
"""

import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "programs"))
from users_expected import (  # noqa: E402, F401
    USERS,
    bilateral_by,
    harris_by,
    heat_step,
    lbm_step,
    life_step,
    parts,
    shifts,
    sweep_by,
)

TORCH = {}


class Peer:
    compiled = True  # whether torch.compile is asked
    graphs = True  # whether the work can be recorded in a CUDA graph

    def prepare(self, torch, x):
        """Torch's inputs from the tensors of Lift's: outside what is timed."""
        return x

    def steps(self, torch, x, compile):
        """A function of no arguments that does the problem."""
        f = lambda *a: self.torch(torch, *a)  # noqa: E731
        if compile:
            f = torch.compile(f, dynamic=False)
        args = list(x.values())
        return lambda: f(*args)


def has_arrays(inputs):
    """Whether results can be had in double precision by giving doubles."""
    return any(isinstance(value, (tuple, np.ndarray)) for value in inputs.values())


def peer(cls):
    TORCH[cls.__name__] = cls()
    return cls


def tpad(torch, x, n):
    return torch.nn.functional.pad(x[None, None], (n, n, n, n), mode="replicate")[0, 0]


@peer
class linear_relu(Peer):
    def torch(self, t, x, w, b):
        return t.relu(t.addmm(b, x, w))


@peer
class mlp(Peer):
    def torch(self, t, x, w1, b1, w2, b2):
        return t.addmm(b2, t.relu(t.addmm(b1, x, w1)), w2)


@peer
class batched_mm(Peer):
    def torch(self, t, x, y):
        return x @ y


@peer
class mm_tn(Peer):
    def torch(self, t, at, b):
        return at.T @ b


@peer
class mm_nt(Peer):
    def torch(self, t, a, bt):
        return a @ bt.T


@peer
class mm_i8(Peer):
    def torch(self, t, a, b):
        return t._int_mm(a, b)


@peer
class mm_complex(Peer):
    def prepare(self, t, x):
        return {k: t.complex(*v) for k, v in x.items()}

    def torch(self, t, a, b):
        return a @ b


@peer
class attention(Peer):
    def torch(self, t, q, k, v):
        return t.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]


@peer
class softmax(Peer):
    def torch(self, t, x):
        return t.softmax(x, 1)


@peer
class logsumexp(Peer):
    def torch(self, t, x):
        return t.logsumexp(x, 1)


@peer
class layernorm(Peer):
    def torch(self, t, x, gamma, beta):
        return t.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)


@peer
class rmsnorm(Peer):
    def torch(self, t, x, gamma):
        return t.nn.functional.rms_norm(x, (x.shape[1],), gamma, 1e-5)


@peer
class colsum(Peer):
    def torch(self, t, x):
        return x.sum(0)


@peer
class argmax(Peer):
    def torch(self, t, x):
        return x.argmax(1)


@peer
class variance(Peer):
    def torch(self, t, x):
        return t.var(x, correction=0)


@peer
class prefix_sum(Peer):
    def torch(self, t, x):
        return t.cumsum(x, 0)


@peer
class conv3x3(Peer):
    def torch(self, t, x, w):
        return t.nn.functional.conv2d(x, w, padding=1)


@peer
class depthwise(Peer):
    def torch(self, t, x, w):
        return t.nn.functional.conv2d(x, w[:, None], padding=1, groups=x.shape[1])


@peer
class maxpool(Peer):
    def torch(self, t, x):
        return t.nn.functional.max_pool2d(x, 2)


@peer
class harris(Peer):
    def torch(self, t, image):
        return harris_by(lambda x: shifts(tpad(t, x, 1), 3), image)


@peer
class bilateral(Peer):
    def torch(self, t, image, space, k):
        return bilateral_by(t.exp, shifts(tpad(t, image, 2), 5), image, space, k)


@peer
class heat10(Peer):
    def torch(self, t, grid):
        return heat_step(shifts(tpad(t, grid, 1), 3))

    def steps(self, t, x, compile):
        f = lambda g: self.torch(t, g)  # noqa: E731
        f = t.compile(f, dynamic=False) if compile else f

        def run():
            g = x["grid"]
            for _ in range(10):
                g = f(g)
            return g

        return run


@peer
class life10(heat10):
    def torch(self, t, cells):
        return life_step(t.roll, lambda c: c.to(t.uint8), cells)

    def steps(self, t, x, compile):
        return heat10.steps(self, t, dict(grid=x["cells"]), compile)


@peer
class lbm(Peer):
    def steps(self, t, x, compile):
        f = lambda c, o: lbm_step(t.roll, c, o)  # noqa: E731
        f = t.compile(f, dynamic=False) if compile else f
        return lambda: f(f(x["cells"], x["omega"]), x["omega"])


@peer
class kmeans_step(Peer):
    def torch(self, t, points, centres):
        i = t.addmm((centres * centres).sum(1), points, centres.T, alpha=-2).argmin(1)
        one = (i[None] == t.arange(len(centres), device=i.device)[:, None]).to(points.dtype)
        return (one @ points) / one.sum(1).clamp(min=1)[:, None]


@peer
class cosine(Peer):
    def torch(self, t, x):
        x = x * t.rsqrt((x * x).sum(1, keepdim=True))
        return x @ x.T


@peer
class fft(Peer):
    compiled = False

    def prepare(self, t, x):
        return dict(x=t.complex(*x["x"]))

    def torch(self, t, x):
        return t.fft.fft(x)


@peer
class lu(Peer):
    graphs = False
    compiled = False

    def torch(self, t, a):
        return t.linalg.lu_factor(a, pivot=False)[0]


@peer
class floyd(Peer):
    def steps(self, t, x, compile):
        f = lambda d, c, r: t.minimum(d, c + r)  # noqa: E731
        f = t.compile(f, dynamic=False) if compile else f

        def run():
            d = x["d"]
            for k in range(len(d)):
                d = f(d, d[:, k : k + 1].contiguous(), d[k])
            return d

        return run


@peer
class histogram(Peer):
    graphs = False

    def torch(self, t, x):
        return t.bincount(x, minlength=256)


@peer
class montecarlo(Peer):
    def torch(self, t, P, T):
        c = t.arange(P * T, device="cuda", dtype=t.int64) + 12345
        low = 0xFFFFFFFF

        def uniform(x):
            x = x & low
            a = ((x + (x >> 16)) * 73244475) & low
            b = ((a + (a >> 16)) & low) * 73244475 & low
            return ((((b + (b >> 16)) & low) >> 8).to(t.float32) + 0.5) * 2.0**-24

        z = t.sqrt(-2 * t.log(uniform(2 * c + 1))) * t.cos(2 * math.pi * uniform(2 * c + 2))
        s = 100 * t.exp(t.cumsum((0.0005 + 0.05 * z).reshape(P, T), 1))
        return t.clamp(s.mean(1) - 105, min=0).mean()

    def steps(self, t, x, compile):
        f = lambda: self.torch(t, *USERS["montecarlo"].size)  # noqa: E731
        return t.compile(f, dynamic=False) if compile else f


@peer
class kalman(Peer):
    def torch(self, t, tracks):
        x = v = pxv = total = t.zeros_like(tracks[:, 0])
        pxx = pvv = t.ones_like(x)
        for measured in tracks.unbind(1):
            x, pxx, pxv, pvv = x + v, pxx + 2 * pxv + pvv + 0.01, pxv + pvv, pvv + 0.01
            spread, off = pxx + 0.5, measured - x
            kx, kv = pxx / spread, pxv / spread
            x, v = x + kx * off, v + kv * off
            pxx, pxv, pvv = (1 - kx) * pxx, (1 - kx) * pxv, pvv - kv * pxv
            total = total - 0.5 * (off * off / spread + t.log(2 * math.pi * spread))
        return x, v, total


@peer
class spectrogram(Peer):
    compiled = False

    def torch(self, t, signal):
        k = USERS["spectrogram"].half
        fade = t.hann_window(2 * k, dtype=signal.dtype, device=signal.device)
        turned = t.fft.rfft(signal.unfold(0, 2 * k, k) * fade)[:, :k]
        return turned.real**2 + turned.imag**2


@peer
class bigrams(Peer):
    def torch(self, t, texts, table):
        scores = table[texts[:, :-1], texts[:, 1:]]
        return scores.mean(1), scores.argmin(1)


@peer
class red_black(Peer):
    def steps(self, t, x, compile):
        u, f = x["u"], x["f"]
        at = lambda n: t.arange(n, device=u.device)  # noqa: E731
        red = (at(u.shape[0])[:, None] + at(u.shape[1])) % 2 == 0
        around = lambda v: t.nn.functional.pad(v, (1, 1, 1, 1))  # noqa: E731
        sweep = lambda v, colour: sweep_by(around, t.where, v, f, red, colour)  # noqa: E731
        sweep = t.compile(sweep, dynamic=False) if compile else sweep

        def run():
            v = u
            for step in range(20):
                v = sweep(v, step % 2)
            return v

        return run


# Other ways to say a program have its peer.
for name in [name for name, program in USERS.items() if program.variant]:
    TORCH[name] = next(TORCH[base.__name__] for base in type(USERS[name]).__mro__[1:] if base.__name__ in TORCH)
