"""CLBlast on the OpenCL device, timed from the call to the end of its kernels."""

from ctypes import byref, c_float, c_int, c_size_t

import numpy as np
from opencl import Queue, library
from protocol import by_clock, posed, serve

from libraries import Missing, NumpyLike

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112


class Clblast:
    def __init__(self, question):
        self.calls = library("libclblast.so.1", "libclblast.so")
        self.queue = Queue(question)

    def call(self, function, *arguments):
        status = function(*arguments, byref(self.queue.handle), None)
        if status != 0:
            raise Missing(f"CLBlast failed with status {status}")

    def gemm(self, a, b, c, m, k, n):
        matrix = lambda buffer, width: (buffer, c_size_t(0), c_size_t(width))
        self.call(
            self.calls.CLBlastSgemm, c_int(ROW_MAJOR), c_int(PLAIN), c_int(PLAIN),
            c_size_t(m), c_size_t(n), c_size_t(k), c_float(1.0), *matrix(a, k), *matrix(b, n),
            c_float(0.0), *matrix(c, n),
        )

    def gemv(self, way, alpha, a, m, n, x, beta, y):
        vector = lambda buffer: (buffer, c_size_t(0), c_size_t(1))
        self.call(
            self.calls.CLBlastSgemv, c_int(ROW_MAJOR), c_int(way), c_size_t(m), c_size_t(n),
            c_float(alpha), a, c_size_t(0), c_size_t(n), *vector(x), c_float(beta), *vector(y),
        )


def mm(blas, given):
    (m, k), n = given["A"].shape, given["B"].shape[1]
    a, b, c = map(blas.queue.buffer, (given["A"], given["B"], np.zeros((m, n), np.float32)))
    return lambda: blas.gemm(a, b, c, m, k, n), c, (m, n)


def gemv(blas, given, way=PLAIN):
    """y is overwritten: the first of the runs is the one that is compared."""
    m, n = given["A"].shape
    a, x, y = map(blas.queue.buffer, (given["A"], given["x"], given["y"]))
    run = lambda: blas.gemv(way, given["alpha"], a, m, n, x, given["beta"], y)
    return run, y, given["y"].shape


def gemv_t(blas, given):
    return gemv(blas, given, TRANSPOSED)


def atax(blas, given):
    m, n = given["A"].shape
    a, x = map(blas.queue.buffer, (given["A"], given["x"]))
    between, y = (blas.queue.buffer(np.zeros(size, np.float32)) for size in (m, n))

    def run():
        blas.gemv(PLAIN, 1.0, a, m, n, x, 0.0, between)
        blas.gemv(TRANSPOSED, 1.0, a, m, n, between, 0.0, y)

    return run, y, (n,)


def gesummv(blas, given):
    m, n = given["A"].shape
    a, b, x = map(blas.queue.buffer, (given["A"], given["B"], given["x"]))
    y = blas.queue.buffer(np.zeros(m, np.float32))

    def run():
        blas.gemv(PLAIN, given["alpha"], a, m, n, x, 0.0, y)
        blas.gemv(PLAIN, given["beta"], b, m, n, x, 1.0, y)

    return run, y, (m,)


SOLVERS = {"mm": mm, "gemv": gemv, "gemv_t": gemv_t, "atax": atax, "gesummv": gesummv}


def prepare(question):
    solver = SOLVERS.get(question["problem"])
    if not solver:
        raise Missing(f"there is no call of CLBlast for {question['problem']}")
    blas, problem = Clblast(question), posed(question)
    run, result, shape = solver(blas, problem.given)
    run()
    blas.queue.finish()
    error = problem.error([blas.queue.read(result, shape)], NumpyLike())
    if not error <= problem.tolerance:
        raise Missing(f"CLBlast's result is wrong here, by {error:.0e}")

    def finished():
        run()
        blas.queue.finish()

    return by_clock(finished), "CLBlast"


serve("clblast", prepare)
