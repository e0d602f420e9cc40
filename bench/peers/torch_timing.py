"""What torch runs, timed: by the device's events on GPUs."""

from protocol import by_clock, is_gpu, posed

from libraries import Torch


def by_events(library, call):
    cuda = library.xp.cuda

    def run():
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        cuda.synchronize()
        return start.elapsed_time(end)

    return run


def prepare(question, compiled=False):
    """The problem in torch, as it stands or compiled."""
    library = Torch(is_gpu(question))
    torch = library.xp
    if is_gpu(question):
        # What the problem before kept goes back to the device.
        torch.cuda.empty_cache()
    problem = posed(question)
    torch.compiler.reset()
    call = problem.call(library, compiled and (lambda function: torch.compile(function, dynamic=False)))
    run = by_events(library, call) if is_gpu(question) else by_clock(call)
    return run, f"torch {torch.__version__}"
