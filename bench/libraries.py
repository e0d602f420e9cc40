"""Array libraries behind one face, so that problems.py says every problem once.

A library has `xp`, the module with the functions that numpy and torch name alike, and what they do
not: `array`, `index` and `numpy` convert, `pad` adds a border, `packed` lays a view out anew.
`rows` is how many rows of an all-pairs table are worked out at a time.
"""

import importlib


class Missing(Exception):
    """Something that is not installed, or cannot do what is asked, and why."""


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"Python has no {name}") from error


class NumpyLike:
    """numpy, or cupy, which is called the same way."""

    rows = 512

    def __init__(self, name="numpy"):
        self.xp = module(name)

    def array(self, values, double=False):
        found = self.xp.asarray(values)
        return found.astype("float64") if double and found.dtype.kind == "f" else found

    def numpy(self, found):
        return found.get() if hasattr(found, "get") else self.xp.asarray(found)

    def pad(self, grid, width, edge=True):
        return self.xp.pad(grid, width, mode="edge" if edge else "constant")

    def packed(self, view):
        return self.xp.ascontiguousarray(view)

    def index(self, places):
        return places

    def rsqrt(self, x):
        return 1.0 / self.xp.sqrt(x)

    def gemv(self, alpha, a, x, beta, y):
        return alpha * (a @ x) + beta * y

    def filtered(self, image, taps, axis):
        """The image correlated with taps along an axis, 0 outside."""
        reach, length = len(taps) // 2, image.shape[axis]
        border = [(reach, reach) if k == axis else (0, 0) for k in range(2)]
        padded = self.xp.pad(image, border)
        along = lambda k: padded[k : k + length] if axis == 0 else padded[:, k : k + length]
        return sum(taps[k] * along(k) for k in range(len(taps)))


class Torch:
    """torch, on the GPU where there is one and it is wanted."""

    def __init__(self, gpu, rows=None):
        self.xp = module("torch")
        self.rows = rows
        if gpu and not self.xp.cuda.is_available():
            raise Missing("torch sees no GPU")
        self.place = "cuda" if gpu else "cpu"
        self.xp.backends.cuda.matmul.allow_tf32 = False
        self.xp.backends.cudnn.allow_tf32 = False

    def array(self, values, double=False):
        found = self.xp.from_numpy(values).to(self.place)
        return found.double() if double and found.is_floating_point() else found

    def numpy(self, found):
        return found.cpu().numpy()

    def pad(self, grid, width, edge=True):
        sides, mode = (width,) * 2 * grid.ndim, "replicate" if edge else "constant"
        return self.xp.nn.functional.pad(grid[None, None], sides, mode=mode)[0, 0]

    def packed(self, view):
        return view.contiguous()

    def index(self, places):
        return places.long()

    def rsqrt(self, x):
        return self.xp.rsqrt(x)

    def gemv(self, alpha, a, x, beta, y):
        return self.xp.addmv(y, a, x, alpha=alpha, beta=beta)

    def filtered(self, image, taps, axis):
        reach = len(taps) // 2
        shape, border = ((-1, 1), (reach, 0)) if axis == 0 else ((1, -1), (0, reach))
        window = taps.reshape(1, 1, *shape)
        return self.xp.nn.functional.conv2d(image[None, None], window, padding=border)[0, 0]
