"""CuPy: the same operations as numpy, on the GPU."""

from protocol import is_gpu, posed, serve

from libraries import Missing, NumpyLike


def prepare(question):
    if not is_gpu(question):
        raise Missing("CuPy runs on GPUs")
    library = NumpyLike("cupy")
    cuda = library.xp.cuda
    call = posed(question).call(library)

    def run():
        start, end = cuda.Event(), cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        return cuda.get_elapsed_time(start, end)

    return run, f"CuPy {library.xp.__version__}"


serve("cupy", prepare)
