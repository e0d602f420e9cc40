"""Custom kernels for arrays, from programs of a few lines.

    >>> import lift, numpy as np
    >>> twice = lift.program(r"def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x + x);").twice
    >>> twice(np.arange(3, dtype=np.float32))
    array([0., 2., 4.], dtype=float32)
"""

from ._arrays import CopyWarning
from ._lift import Device, Error, Function, Program, Tuned, devices, load, program

__all__ = ["CopyWarning", "Device", "Error", "Function", "Program", "Tuned", "devices", "load", "program"]
