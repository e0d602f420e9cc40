#!/usr/bin/env python3
"""Programs of the kind users write, in Lift, against numpy and torch.

    python3 users.py --lift PATH --device cpu --small        against numpy, result compared in float64
    python3 users.py --lift PATH --device cuda:0             against torch eager and torch.compile (no TF32)
    python3 users.py --device cuda:0 --peers                 only the extra peers (sparse, syrk, f16, bf16)
    python3 users.py --lift PATH --device cpu --check        only whether they are right, at small sizes

Each program is the file users/NAME.lift. Sizes: `gpu` and `small` below; --small takes the latter.
Lift's time is `kernel_ms` of `lift run --untuned --json`; torch's is by CUDA events, numpy's by the clock; medians, on cpu
the best of --rounds turns.
`ratio` is the best peer's time over Lift's: above 1, Lift is faster. Exits 1 where a program is wrong or fails.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

FOLDER = pathlib.Path(__file__).resolve().parent / "users"
PROGRAMS = {}


class Program:
    """One program: sizes, inputs, what numpy and torch do. `params` are sizes found in no argument."""

    params = ()
    exact = False
    tolerance = 1e-3
    compiled = True  # whether torch.compile is asked
    graphs = True  # whether torch's work can be recorded in a CUDA graph
    variant = False  # another way to say a program of the suite: not part of the mean

    def prepare(self, torch, x):
        """Torch's inputs from the tensors of Lift's: outside what is timed."""
        return x

    def steps(self, torch, x, compile):
        """A function of no arguments that does the problem, by torch."""
        f = lambda *a: self.torch(torch, *a)  # noqa: E731
        if compile:
            f = torch.compile(f, dynamic=False)
        args = list(x.values())
        return lambda: f(*args)


def program(cls):
    PROGRAMS[cls.__name__] = cls()
    return cls


def u(r, *shape, lo=-1.0, hi=1.0):
    x = r.random(shape, dtype=np.float32)
    if (lo, hi) != (0.0, 1.0):
        x *= np.float32(hi - lo)
        x += np.float32(lo)
    return x


def pad(x, n, mode="edge"):
    return np.pad(x, [(0, 0)] * (x.ndim - 2) + [(n, n), (n, n)], mode=mode)


def tpad(torch, x, n):
    return torch.nn.functional.pad(x[None, None], (n, n, n, n), mode="replicate")[0, 0]


def shifts(x, n):
    """The n*n shifted views of a padded image."""
    h, w = x.shape[-2] - n + 1, x.shape[-1] - n + 1
    return [[x[..., i : i + h, j : j + w] for j in range(n)] for i in range(n)]


# --- products


@program
class linear_relu(Program):
    gpu, small = dict(M=4096, K=1024, N=4096), dict(M=512, K=512, N=512)

    def inputs(self, r, M, K, N):
        return dict(x=u(r, M, K), w=u(r, K, N), b=u(r, N))

    def numpy(self, x, w, b):
        return np.maximum(x @ w + b, 0)

    def torch(self, t, x, w, b):
        return t.relu(t.addmm(b, x, w))


@program
class mlp(Program):
    gpu, small = dict(M=4096, K=1024, H=4096, N=1024), dict(M=256, K=256, H=1024, N=256)

    def inputs(self, r, M, K, H, N):
        return dict(x=u(r, M, K), w1=u(r, K, H), b1=u(r, H), w2=u(r, H, N), b2=u(r, N))

    def numpy(self, x, w1, b1, w2, b2):
        return np.maximum(x @ w1 + b1, 0) @ w2 + b2

    def torch(self, t, x, w1, b1, w2, b2):
        return t.addmm(b2, t.relu(t.addmm(b1, x, w1)), w2)


@program
class batched_mm(Program):
    gpu, small = dict(B=64, N=512), dict(B=8, N=128)

    def inputs(self, r, B, N):
        return dict(x=u(r, B, N, N), y=u(r, B, N, N))

    def numpy(self, x, y):
        return x @ y

    def torch(self, t, x, y):
        return x @ y


@program
class mm_tn(Program):
    gpu, small = dict(N=2048), dict(N=512)

    def inputs(self, r, N):
        return dict(at=u(r, N, N), b=u(r, N, N))

    def numpy(self, at, b):
        return at.T @ b

    def torch(self, t, at, b):
        return at.T @ b


@program
class mm_nt(Program):
    gpu, small = dict(N=2048), dict(N=512)

    def inputs(self, r, N):
        return dict(a=u(r, N, N), bt=u(r, N, N))

    def numpy(self, a, bt):
        return a @ bt.T

    def torch(self, t, a, bt):
        return a @ bt.T


@program
class mm_i8(Program):
    gpu, small = dict(N=2048), dict(N=512)
    exact = True

    def inputs(self, r, N):
        return dict(a=r.integers(-100, 100, (N, N), dtype=np.int8), b=r.integers(-100, 100, (N, N), dtype=np.int8))

    def reference(self, a, b):
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int32)

    def numpy(self, a, b):  # by way of floats, exact up to 2^24: numpy's own integer product is 50 times slower
        return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.int32)

    def torch(self, t, a, b):
        return t._int_mm(a, b)


@program
class mm_complex(Program):
    gpu, small = dict(N=1024), dict(N=256)

    def inputs(self, r, N):
        return dict(a=(u(r, N, N), u(r, N, N)), b=(u(r, N, N), u(r, N, N)))

    def numpy_prepare(self, a, b):
        return dict(a=a[0] + 1j * a[1], b=b[0] + 1j * b[1])

    def numpy(self, a, b):
        return a @ b

    def prepare(self, t, x):
        return {k: t.complex(*v) for k, v in x.items()}

    def torch(self, t, a, b):
        return a @ b


@program
class attention(Program):
    gpu, small = dict(H=16, N=1024, D=64), dict(H=4, N=256, D=64)

    def inputs(self, r, H, N, D):
        return dict(q=u(r, H, N, D), k=u(r, H, N, D), v=u(r, H, N, D))

    def numpy(self, q, k, v):
        s = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        s = np.exp(s - s.max(-1, keepdims=True))
        return (s / s.sum(-1, keepdims=True)) @ v

    def torch(self, t, q, k, v):
        return t.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]


# --- rows and columns


class Rows(Program):
    gpu, small = dict(M=8192, N=8192), dict(M=1024, N=1024)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N, lo=-4.0, hi=4.0))


@program
class softmax(Rows):
    def numpy(self, x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def torch(self, t, x):
        return t.softmax(x, 1)


@program
class logsumexp(Rows):
    def numpy(self, x):
        top = x.max(1)
        return top + np.log(np.exp(x - top[:, None]).sum(1))

    def torch(self, t, x):
        return t.logsumexp(x, 1)


@program
class layernorm(Program):
    gpu, small = dict(M=8192, N=4096), dict(M=1024, N=1024)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N), gamma=u(r, N), beta=u(r, N))

    def numpy(self, x, gamma, beta):
        d = x - x.mean(1, keepdims=True)
        return d / np.sqrt((d * d).mean(1, keepdims=True) + x.dtype.type(1e-5)) * gamma + beta

    def torch(self, t, x, gamma, beta):
        return t.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)


@program
class rmsnorm(Program):
    gpu, small = dict(M=8192, N=4096), dict(M=1024, N=1024)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N), gamma=u(r, N))

    def numpy(self, x, gamma):
        return x / np.sqrt((x * x).mean(1, keepdims=True) + x.dtype.type(1e-5)) * gamma

    def torch(self, t, x, gamma):
        return t.nn.functional.rms_norm(x, (x.shape[1],), gamma, 1e-5)


@program
class colsum(Program):
    gpu, small = dict(M=16384, N=4096), dict(M=2048, N=1024)

    def inputs(self, r, M, N):
        return dict(x=u(r, M, N, lo=0.0))

    def numpy(self, x):
        return x.sum(0)

    def torch(self, t, x):
        return x.sum(0)


@program
class argmax(Rows):
    exact = True

    def numpy(self, x):
        return x.argmax(1).astype(np.int32)

    def torch(self, t, x):
        return x.argmax(1)


@program
class variance(Program):
    gpu, small = dict(N=2**26), dict(N=2**22)

    def inputs(self, r, N):
        return dict(x=u(r, N, lo=0.0))

    def numpy(self, x):
        return x.var()

    def torch(self, t, x):
        return t.var(x, correction=0)


@program
class prefix_sum(Program):
    gpu, small = dict(N=2**28), dict(N=2**22)

    def inputs(self, r, N):
        return dict(x=u(r, N))

    def numpy(self, x):
        return np.cumsum(x)

    def torch(self, t, x):
        return t.cumsum(x, 0)


# --- images and grids


@program
class conv3x3(Program):
    gpu, small = dict(B=32, C=64, O=64, S=56), dict(B=1, C=16, O=16, S=56)

    def inputs(self, r, B, C, O, S):
        return dict(x=u(r, B, C, S, S), w=u(r, O, C, 3, 3))

    def numpy(self, x, w):
        v = sliding_window_view(pad(x, 1, "constant"), (3, 3), axis=(2, 3))
        b, c, h, k = v.shape[:4]
        rows = v.transpose(0, 2, 3, 1, 4, 5).reshape(b, h * k, c * 9)
        return (rows @ w.reshape(len(w), -1).T).transpose(0, 2, 1).reshape(b, len(w), h, k)

    def torch(self, t, x, w):
        return t.nn.functional.conv2d(x, w, padding=1)


@program
class depthwise(Program):
    gpu, small = dict(B=32, C=256, S=56), dict(B=2, C=32, S=56)

    def inputs(self, r, B, C, S):
        return dict(x=u(r, B, C, S, S), w=u(r, C, 3, 3))

    def numpy(self, x, w):
        s = shifts(pad(x, 1, "constant"), 3)
        return sum(s[i][j] * w[None, :, i, j, None, None] for i in range(3) for j in range(3))

    def torch(self, t, x, w):
        return t.nn.functional.conv2d(x, w[:, None], padding=1, groups=x.shape[1])


@program
class maxpool(Program):
    gpu, small = dict(B=32, C=64, S=112), dict(B=2, C=16, S=112)

    def inputs(self, r, B, C, S):
        return dict(x=u(r, B, C, S, S))

    def numpy(self, x):
        b, c, h, w = x.shape
        return x.reshape(b, c, h // 2, 2, w // 2, 2).max((3, 5))

    def torch(self, t, x):
        return t.nn.functional.max_pool2d(x, 2)


def harris_by(windows, image):
    w = windows(image)
    dx = (w[0][2] - w[0][0] + 2 * (w[1][2] - w[1][0]) + w[2][2] - w[2][0]) * 0.125
    dy = (w[2][0] - w[0][0] + 2 * (w[2][1] - w[0][1]) + w[2][2] - w[0][2]) * 0.125
    box = lambda x: sum(v for row in windows(x) for v in row)  # noqa: E731
    a, b, c = box(dx * dx), box(dy * dy), box(dx * dy)
    return a * b - c * c - 0.04 * (a + b) * (a + b)


@program
class harris(Program):
    gpu, small = dict(N=4096), dict(N=512)

    def inputs(self, r, N):
        return dict(image=u(r, N, N, lo=0.0))

    def numpy(self, image):
        return harris_by(lambda x: shifts(pad(x, 1), 3), image)

    def torch(self, t, image):
        return harris_by(lambda x: shifts(tpad(t, x, 1), 3), image)


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
    gpu, small = dict(N=2048), dict(N=256)

    def inputs(self, r, N):
        at = np.arange(-2, 3)
        space = np.exp(-(at[:, None] ** 2 + at**2) / 8.0).astype(np.float32)
        return dict(image=u(r, N, N, lo=0.0), space=space, k=8.0)

    def numpy(self, image, space, k):
        return bilateral_by(np.exp, shifts(pad(image, 2), 5), image, space, image.dtype.type(k))

    def torch(self, t, image, space, k):
        return bilateral_by(t.exp, shifts(tpad(t, image, 2), 5), image, space, k)


def heat_step(w):
    return w[1][1] + 0.1 * (w[0][1] + w[2][1] + w[1][0] + w[1][2] - 4 * w[1][1])


@program
class heat10(Program):
    gpu, small = dict(N=4096), dict(N=512)

    def inputs(self, r, N):
        return dict(grid=u(r, N, N))

    def numpy(self, grid):
        for _ in range(10):
            grid = heat_step(shifts(pad(grid, 1), 3))
        return grid

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


def life_step(roll, where, g):
    s = roll(g, 1, 0) + g + roll(g, -1, 0)
    n = roll(s, 1, 1) + s + roll(s, -1, 1) - g
    return where((n == 3) | ((n == 2) & (g == 1)))


@program
class life10(heat10):
    exact = True

    def inputs(self, r, N):
        return dict(cells=r.integers(0, 2, (N, N), dtype=np.uint8))

    def numpy(self, cells):
        for _ in range(10):
            cells = life_step(np.roll, lambda c: c.astype(np.uint8), cells)
        return cells

    def torch(self, t, cells):
        return life_step(t.roll, lambda c: c.to(t.uint8), cells)

    def steps(self, t, x, compile):
        return heat10.steps(self, t, dict(grid=x["cells"]), compile)


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
    gpu, small = dict(N=2048), dict(N=256)

    def inputs(self, r, N):
        return dict(cells=tuple(u(r, N, N, lo=0.9, hi=1.1) * np.float32(w) for w in LBM_W), omega=1.5)

    def numpy(self, cells, omega):
        return lbm_step(np.roll, lbm_step(np.roll, cells, cells[0].dtype.type(omega)), cells[0].dtype.type(omega))

    def steps(self, t, x, compile):
        f = lambda c, o: lbm_step(t.roll, c, o)  # noqa: E731
        f = t.compile(f, dynamic=False) if compile else f
        return lambda: f(f(x["cells"], x["omega"]), x["omega"])


# --- others


@program
class kmeans_step(Program):
    gpu, small = dict(P=2**20, F=16, C=32), dict(P=2**14, F=16, C=32)
    tolerance = 1e-2  # a point between two centres may go to either

    def inputs(self, r, P, F, C):
        return dict(points=u(r, P, F), centres=u(r, C, F))

    def numpy(self, points, centres):
        i = ((centres * centres).sum(1) - 2 * points @ centres.T).argmin(1)
        one = (i[:, None] == np.arange(len(centres))).astype(points.dtype)
        return one.T @ points / np.maximum(one.sum(0), 1)[:, None]

    def torch(self, t, points, centres):
        i = t.addmm((centres * centres).sum(1), points, centres.T, alpha=-2).argmin(1)
        one = (i[None] == t.arange(len(centres), device=i.device)[:, None]).to(points.dtype)
        return (one @ points) / one.sum(1).clamp(min=1)[:, None]


@program
class cosine(Program):
    gpu, small = dict(N=4096, D=256), dict(N=512, D=128)

    def inputs(self, r, N, D):
        return dict(x=u(r, N, D))

    def numpy(self, x):
        x = x / np.sqrt((x * x).sum(1, keepdims=True))
        return x @ x.T

    def torch(self, t, x):
        x = x * t.rsqrt((x * x).sum(1, keepdim=True))
        return x @ x.T


@program
class fft(Program):
    gpu, small = dict(N=2**20, L=20), dict(N=2**14, L=14)
    params = ("L",)
    compiled = False

    def inputs(self, r, N, L):
        return dict(x=(u(r, N), u(r, N)))

    def numpy_prepare(self, x):
        return dict(x=x[0] + 1j * x[1])

    def numpy(self, x):
        return np.fft.fft(x)

    def prepare(self, t, x):
        return dict(x=t.complex(*x["x"]))

    def torch(self, t, x):
        return t.fft.fft(x)


@program
class lu(Program):
    gpu, small = dict(N=512), dict(N=128)
    graphs = False
    compiled = False

    def inputs(self, r, N):
        return dict(a=u(r, N, N) + np.float32(N) * np.eye(N, dtype=np.float32))

    def numpy(self, a):
        a = a.copy()
        for k in range(len(a) - 1):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
        return a

    def torch(self, t, a):
        return t.linalg.lu_factor(a, pivot=False)[0]


@program
class floyd(Program):
    gpu, small = dict(N=512), dict(N=128)

    def inputs(self, r, N):
        return dict(d=u(r, N, N, lo=0.0))

    def numpy(self, d):
        for k in range(len(d)):
            d = np.minimum(d, d[:, k, None] + d[k])
        return d

    def steps(self, t, x, compile):
        f = lambda d, c, r: t.minimum(d, c + r)  # noqa: E731
        f = t.compile(f, dynamic=False) if compile else f

        def run():
            d = x["d"]
            for k in range(len(d)):
                d = f(d, d[:, k : k + 1].contiguous(), d[k])
            return d

        return run


@program
class histogram(Program):
    gpu, small = dict(N=2**24), dict(N=2**18)
    graphs = False
    exact = True

    def inputs(self, r, N):
        return dict(x=r.integers(0, 256, N, dtype=np.uint8))

    def numpy(self, x):
        return np.bincount(x, minlength=256).astype(np.int32)

    def torch(self, t, x):
        return t.bincount(x, minlength=256)


class lu_seq(lu):
    variant = True


class floyd_seq(floyd):
    variant = True


class conv3x3_let(conv3x3):
    variant = True


class kmeans_let(kmeans_step):
    variant = True


class kmeans_all(kmeans_step):
    variant = True


class histogram_all(histogram):
    variant = True


def mix_np(x):
    c, s = np.uint32(73244475), np.uint32(16)
    a = (x + (x >> s)) * c
    b = (a + (a >> s)) * c
    return b + (b >> s)


@program
class montecarlo(Program):
    gpu, small = dict(P=2**22, T=16), dict(P=2**16, T=16)
    params = ("P", "T")

    def inputs(self, r, P, T):
        self.size = P, T
        return dict(seed=12345)

    def reference(self, seed, f=np.float64):
        P, T = self.size
        c = np.arange(P * T, dtype=np.uint32) + np.uint32(seed)
        uniform = lambda x: ((mix_np(x) >> np.uint32(8)).astype(f) + f(0.5)) * f(2.0**-24)  # noqa: E731
        two = np.uint32(2)
        a, b = uniform(two * c + np.uint32(1)), uniform(two * c + two)
        z = np.sqrt(f(-2) * np.log(a)) * np.cos(f(2 * math.pi) * b)
        s = f(100) * np.exp(np.cumsum((f(0.0005) + f(0.05) * z).reshape(P, T), 1))
        return np.maximum(s.mean(1) - f(105), 0).mean()

    def numpy(self, seed):
        return self.reference(seed, np.float32)

    def torch(self, t, device, double=False):
        P, T = self.size
        f = t.float64 if double else t.float32
        c = t.arange(P * T, device=device, dtype=t.int64) + 12345
        low = 0xFFFFFFFF

        def uniform(x):
            x = x & low
            a = ((x + (x >> 16)) * 73244475) & low
            b = ((a + (a >> 16)) & low) * 73244475 & low
            return ((((b + (b >> 16)) & low) >> 8).to(f) + 0.5) * 2.0**-24

        z = t.sqrt(-2 * t.log(uniform(2 * c + 1))) * t.cos(2 * math.pi * uniform(2 * c + 2))
        s = 100 * t.exp(t.cumsum((0.0005 + 0.05 * z).reshape(P, T), 1))
        return t.clamp(s.mean(1) - 105, min=0).mean()

    def steps(self, t, x, compile):
        double = x.get("double", False)
        f = lambda: self.torch(t, "cuda", double)  # noqa: E731
        return t.compile(f, dynamic=False) if compile else f


for variant in (lu_seq, floyd_seq, conv3x3_let, kmeans_let, kmeans_all, histogram_all):
    program(variant)


# --- running


def written(name, value, folder):
    if isinstance(value, tuple):
        path = folder / f"{name}.npz"
        np.savez(path, **{str(i): part for i, part in enumerate(value)})
        return str(path)
    if isinstance(value, np.ndarray):
        path = folder / f"{name}.npy"
        np.save(path, value)
        return str(path)
    return repr(value)


def lift(options, p, name, sizes, files, repeat, output=None):
    """(json, None) or (None, why)."""
    command = [options.lift, "run", str(FOLDER / f"{name}.lift"), "--device", options.device, "--untuned", "--json"]
    command += ["--repeat", str(repeat)]
    for k in p.params:
        command += ["--size", f"{k}={sizes[k]}"]
    command += [f"{k}={v}" for k, v in files.items()]
    if output:
        command += ["-o", str(output)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None, f"not done after {options.timeout} s"
    if done.returncode:
        return None, f"exit {done.returncode}: " + " ".join(done.stderr.decode(errors="replace").split())[:300]
    try:
        return json.loads(done.stdout), None
    except ValueError:
        return None, "no JSON: " + done.stdout.decode(errors="replace")[:200]


def loaded(path, count):
    got = np.load(path)
    return tuple(got[str(i)] for i in range(count)) if count else got


def error(got, want, exact):
    """The largest difference, relative to the element or the mean size of elements; for exact ones how many differ."""
    if isinstance(want, tuple):
        return max(error(g, w, exact) for g, w in zip(got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return math.inf
    if exact:
        return float((got.astype(np.int64) != want.astype(np.int64)).sum())
    want = want.astype(np.float64)
    e = np.abs(got.astype(np.float64) - want) / np.maximum(np.abs(want), np.abs(want).mean())
    return float(e.max()) if np.isfinite(e).all() else math.inf


def wide(x):
    if isinstance(x, tuple):
        return tuple(wide(v) for v in x)
    if isinstance(x, np.ndarray) and x.dtype == np.float32:
        return x.astype(np.float64)
    return x


def parts(x):
    """What Lift gives for a complex result."""
    return (x.real, x.imag) if np.iscomplexobj(x) else x


def clock(f, seconds):
    f()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
        if times[-1] > seconds:
            break
    return float(np.median(times)) * 1e3


def events(torch, f, graphs=True, seconds=0.4):
    """The device's time for f: the device sleeps until all calls are queued, or replays a graph of f; the shorter."""
    for _ in range(2):
        f()
    torch.cuda.synchronize()
    start = time.perf_counter()
    f()
    host = time.perf_counter() - start
    torch.cuda.synchronize()
    once = time.perf_counter() - start
    n = int(min(50, max(3, seconds / max(once, 1e-6))))

    def median(call):
        marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(n)]
        torch.cuda._sleep(int(min(0.5, 2 * n * host + 0.002) * 2e9))
        for a, b in marks:
            a.record()
            call()
            b.record()
        torch.cuda.synchronize()
        return float(np.median([a.elapsed_time(b) for a, b in marks]))

    times = [median(f)]
    if not graphs:
        return times[0]
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            f()
        for _ in range(2):
            graph.replay()
        times.append(median(graph.replay))
    except Exception:  # what waits for the device cannot be a graph
        torch.cuda.synchronize()
    return min(times)


def lift_row(options, p, name, sizes, inputs, folder, want, row):
    files = {k: written(k, v, folder) for k, v in inputs.items()}
    count = len(want) if isinstance(want, tuple) else 0
    out = folder / ("out.npz" if count else "out.npy")
    start = time.perf_counter()
    result, why = lift(options, p, name, sizes, files, 1, out)
    row["lift_wall_s"] = round(time.perf_counter() - start, 2)
    if why:
        row["failed"] = why
        return
    row["lift_ms"], row["kernels"] = result["kernel_ms"], len(result["kernels"])
    got = loaded(out, count)
    row["error"] = error(got, want, p.exact)
    row["right"] = row["error"] == 0 if p.exact else row["error"] <= p.tolerance
    if row["lift_ms"] < 500 and not options.check:
        result, why = lift(options, p, name, sizes, files, 3 if row["lift_ms"] > 50 else 20)
        if not why:
            row["lift_ms"] = result["kernel_ms"]
            row["each"] = sorted((round(k["ms"], 4), k["name"]) for k in result["kernels"])[::-1][:4]


def on_paper(p, sizes, folder):
    """Inputs, the folder they go to, and the result in double precision."""
    inputs = p.inputs(np.random.default_rng(7), **sizes)
    if hasattr(p, "reference"):
        return inputs, folder, p.reference(**inputs)
    return inputs, folder, parts(p.numpy(**ready_for(p, {k: wide(v) for k, v in inputs.items()})))


def ready_for(p, inputs):
    return p.numpy_prepare(**inputs) if hasattr(p, "numpy_prepare") else inputs


def on_cpu(options, p, name, sizes, folder, row):
    inputs, folder, want = on_paper(p, sizes, folder)
    if options.check:
        return lift_row(options, p, name, sizes, inputs, folder, want, row)
    ready = ready_for(p, inputs)
    best = {}
    for _ in range(options.rounds):  # in turns; the round that others disturbed least counts
        best["numpy_ms"] = min(clock(lambda: p.numpy(**ready), 0.15), best.get("numpy_ms", math.inf))
        lift_row(options, p, name, sizes, inputs, folder, want, row)
        if "failed" in row:
            break
        best["lift_ms"] = min(row["lift_ms"], best.get("lift_ms", math.inf))
    row.update(best)


def on_gpu(options, p, name, sizes, folder, row):
    import torch

    inputs = p.inputs(np.random.default_rng(7), **sizes)

    def sent(v):
        if isinstance(v, tuple):
            return tuple(sent(x) for x in v)
        return torch.from_numpy(v).cuda() if isinstance(v, np.ndarray) else v

    def doubled(v):
        if isinstance(v, tuple):
            return tuple(doubled(x) for x in v)
        if not isinstance(v, torch.Tensor):
            return v
        return v.to(torch.complex128 if v.is_complex() else torch.float64) if v.is_floating_point() or v.is_complex() else v

    torch._dynamo.reset()  # else one function's programs share its limit of compilations
    torch.backends.cudnn.benchmark = True
    x = p.prepare(torch, {k: sent(v) for k, v in inputs.items()})
    double = None
    with torch.no_grad():
        for kind in ("eager", "compile"):
            if p.variant or (kind == "compile" and not (p.compiled and options.compile)):
                continue
            try:
                start = time.perf_counter()
                f = p.steps(torch, x, kind == "compile")
                row[f"{kind}_ms"] = events(torch, f, p.graphs)
                row[f"{kind}_wall_s"] = round(time.perf_counter() - start, 2)
            except Exception as problem:  # what torch cannot do is part of the table
                row[f"{kind}_failed"] = str(problem)[:200]
        try:
            double = {k: doubled(v) for k, v in x.items()}
            if name == "montecarlo":
                double["double"] = True
            want = p.steps(torch, double, False)()
        except Exception as problem:
            row["reference"] = "float32: " + str(problem)[:100]
            want = p.steps(torch, x, False)()
        get = lambda v: tuple(get(a) for a in v) if isinstance(v, tuple) else parts(v.cpu().numpy())  # noqa: E731
        want = get(want)
    del x, double
    torch.cuda.empty_cache()
    lift_row(options, p, name, sizes, inputs, folder, want, row)
    if "failed" in row and not options.small:  # whether it is right at all
        small = {}
        lift_row(options, p, name, p.small, *on_paper(p, p.small, folder), small)
        row["at_small"] = small


def extra_peers(save):
    """What torch does for problems that have no program yet."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    rows = []

    def note(name, ms, **more):
        rows.append(dict(program=name, eager_ms=ms, **more))
        print(rows[-1], flush=True)
        save(rows)

    r = np.random.default_rng(3)
    n = 1_000_000
    for kind in ("uniform", "power-law"):
        if kind == "uniform":
            counts = np.full(n, 10)
        else:
            counts = np.minimum((r.pareto(1.2, n) + 1) * 2.2, 200_000).astype(np.int64)
            counts = np.maximum((counts * (1e7 / counts.sum())).astype(np.int64), 1)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        nnz = int(ptr[-1])
        cols = r.integers(0, n, nnz)
        rows_of = np.repeat(np.arange(n), counts)
        order = np.lexsort((cols, rows_of))
        values = torch.rand(nnz, device="cuda")
        for index in (torch.int32, torch.int64):
            a = torch.sparse_csr_tensor(
                torch.from_numpy(ptr).to(index).cuda(), torch.from_numpy(cols[order]).to(index).cuda(), values, (n, n)
            )
            v = torch.rand(n, device="cuda")
            try:
                ms = events(torch, lambda: a @ v)
                note(f"spmv {kind} {index}", ms, nnz=nnz, longest=int(counts.max()), gb_per_s=nnz * 8 / ms / 1e6)
            except Exception as problem:
                print("spmv", kind, index, str(problem)[:200], flush=True)
    a = torch.rand(8192, 1024, device="cuda")
    ms = events(torch, lambda: a @ a.T)
    note("syrk as full A A^T 8192x1024 f32", ms, tflops=2 * 8192 * 8192 * 1024 / ms / 1e9)
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        a, b = (torch.randn(4096, 4096, device="cuda").to(kind) for _ in range(2))
        ms = events(torch, lambda: a @ b)
        note(f"mm 4096^3 {kind}", ms, tflops=2 * 4096**3 / ms / 1e9)
    a = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    ms = events(torch, lambda: b.copy_(a))
    note("copy 1 GiB", ms, gb_per_s=2 * 2**30 / ms / 1e6)


def best(row):
    return min((row[k] for k in ("numpy_ms", "eager_ms", "compile_ms") if k in row), default=None)


def shown(row):
    text = f"{row['program']:12} {row['size']:32}"
    for key in ("numpy_ms", "eager_ms", "compile_ms", "lift_ms"):
        text += f" {key[:-3]} {row[key]:.4g}" if key in row else ""
    if "lift_ms" in row:
        text += f" kernels {row['kernels']} ratio {row.get('ratio', math.nan):.3g}"
        text += f" {'right' if row['right'] else 'WRONG'} ({row['error']:.1e})"
    return text + f" [{row.get('lift_wall_s', 0)} s]" + ("  " + row["failed"] if "failed" in row else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=1, help="on cpu, turns of numpy and Lift")
    parser.add_argument("--lift", default=shutil.which("lift") or "lift")
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--peers", action="store_true", help="only torch, for problems without a program")
    parser.add_argument("--check", action="store_true", help="small sizes, no times")
    parser.add_argument("--scratch", help="where inputs and results are put")
    options = parser.parse_args()
    rows = []

    def save(rows):
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))

    if options.peers:
        return extra_peers(save)
    options.small |= options.check
    gpu = options.device != "cpu" and not options.check
    if gpu:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
    only = [w for o in options.only for w in o.split(",")]
    skip = [w for o in options.skip for w in o.split(",")]
    for name, p in PROGRAMS.items():
        if (only and name not in only) or name in skip:
            continue
        sizes = p.small if options.small else p.gpu
        row = dict(program=name, size=",".join(f"{k}={v}" for k, v in sizes.items()), device=options.device)
        folder = pathlib.Path(tempfile.mkdtemp(dir=options.scratch))
        try:
            (on_gpu if gpu else on_cpu)(options, p, name, sizes, folder, row)
        except Exception as problem:
            row["failed"] = row.get("failed", "") + f" {type(problem).__name__}: {problem}"[:300]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        peer = best(row)
        if peer and row.get("lift_ms"):
            row["ratio"] = peer / row["lift_ms"]
        rows.append(row)
        print(shown(row), flush=True)
        save(rows)
    good = [r["ratio"] for r in rows if r.get("right") and r.get("ratio") and not PROGRAMS[r["program"]].variant]
    if good:
        print(f"geometric mean of {len(good)} right ones of {len(rows)}: {math.exp(np.mean(np.log(good))):.4g}")
    wrong = [r["program"] for r in rows if not r.get("right")]
    if not rows or wrong:
        return f"of {len(rows)} programs {len(wrong)} are wrong or failed: {', '.join(wrong)}"
    print(f"{len(rows)} programs are right")


if __name__ == "__main__":
    sys.exit(main())
