"""cuBLAS, as torch calls it, for problems that are products. TF32 is off."""

from protocol import PROBLEMS, is_gpu, serve

from libraries import Missing
from torch_timing import prepare


def product(question):
    if not is_gpu(question):
        raise Missing("cuBLAS runs on GPUs")
    if not getattr(PROBLEMS.get(question["problem"]), "blas", False):
        raise Missing(f"{question['problem']} is no product of BLAS")
    run, about = prepare(question)
    return run, f"cuBLAS through {about}"


serve("cublas", product)
