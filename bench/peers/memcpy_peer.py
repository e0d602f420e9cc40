"""memcpy on all threads, which may store past the caches."""

from protocol import is_gpu, serve

from copied import prepare
from libraries import Missing


def copied(question):
    if is_gpu(question):
        raise Missing("memcpy runs on the processor")
    return prepare(question, "memcpy")


serve("memcpy", copied)
