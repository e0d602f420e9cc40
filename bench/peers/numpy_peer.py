"""numpy, whose products are those of the BLAS it is linked to, on the processor."""

import ctypes
import os
import re

# Some versions do not know newer processors and take what they know of older ones.
if "avx512vl" in open("/proc/cpuinfo").read():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")

from protocol import by_clock, is_gpu, posed, serve  # noqa: E402

from libraries import Missing, NumpyLike  # noqa: E402


def blas():
    """The BLAS that is loaded, by its own word where it has one."""
    paths = sorted(set(re.findall(r"/\S*blas\S*\.so\S*", open("/proc/self/maps").read(), re.I)))
    for path in paths:
        for ending in ("64_", ""):
            for start in ("scipy_openblas", "openblas"):
                words = [said(path, f"{start}_get_{what}{ending}") for what in ("config", "corename")]
                if words[0]:
                    return f"{' '.join(words[0].split()[:2])}, {words[1]}"
    return ", ".join(path.rsplit("/", 1)[-1] for path in paths) or "no BLAS"


def said(path, function):
    found = getattr(ctypes.CDLL(path), function, None)
    if found is None:
        return ""
    found.restype = ctypes.c_char_p
    return found().decode()


def prepare(question):
    if is_gpu(question):
        raise Missing("numpy runs on the processor")
    library = NumpyLike()
    return by_clock(posed(question).call(library)), f"numpy {library.xp.__version__}, {blas()}"


serve("numpy", prepare)
