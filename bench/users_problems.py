"""The problems of the suite `users`: programs of programs/users, by numpy and torch."""

import numpy as np
from problems import PROBLEMS, Problem
from users_torch import TORCH, USERS, has_arrays, parts


def of(name):
    """The problem of a program, as classes of problems.py are."""
    program, peer = USERS[name], TORCH[name]

    class OfUsers(Problem):
        tolerance = 0.0 if program.exact else program.tolerance

        def inputs(self, **sizes):
            return program.inputs(self.random, **sizes)

        def call(self, library, compile=None):
            arrays = self.arrays(library)
            if is_torch(library):
                return peer.steps(library.xp, peer.prepare(library.xp, arrays), bool(compile))
            ready = program.numpy_prepare(**arrays)
            return lambda: program.numpy(**ready)

        def expected(self, library):
            if is_torch(library) and has_arrays(self.given):
                x = peer.prepare(library.xp, self.arrays(library, double=True))
                result = peer.steps(library.xp, x, False)()
                result = tuple(map(library.numpy, result)) if isinstance(result, tuple) else library.numpy(result)
                result = parts(result)
            else:
                result = program.expected(**self.given)
            return [np.atleast_1d(part) for part in (result if isinstance(result, tuple) else (result,))]

    return OfUsers


def is_torch(library):
    return hasattr(library, "place")


for name in USERS:
    PROBLEMS[f"users/{name}"] = of(name)
