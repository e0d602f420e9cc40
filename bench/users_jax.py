"""What programs/users_expected.py says with numpy, as functions that jax compiles.

The same text is read with `jax.numpy` in place of numpy. What changes arrays in place cannot be said so; such programs
have no figure of jax.
"""

import pathlib

TEXT = pathlib.Path(__file__).resolve().parent.parent / "programs" / "users_expected.py"


def programs():
    """By name, with `numpy` methods that work on arrays of jax."""
    text = TEXT.read_text()
    for found, other in (
        ("import numpy as np\n", "import jax.numpy as np\n"),
        ("from numpy.lib.stride_tricks import sliding_window_view\n", ""),
    ):
        assert found in text, found
        text = text.replace(found, other)
    names = {"sliding_window_view": windows}
    exec(compile(text, str(TEXT), "exec"), names)
    return names["USERS"]


def windows(x, shape, axis=None):
    """numpy's `sliding_window_view`, as copies that a compiler sees through."""
    import jax
    import jax.numpy as jnp

    if axis is None:
        shape, axis = (shape,), (x.ndim - 1,)
    for length, a in zip(shape, axis):
        count = x.shape[a] - length + 1
        x = jnp.stack([jax.lax.slice_in_dim(x, i, i + count, axis=a % x.ndim) for i in range(length)], axis=-1)
    return x


def step(name, program, ready):
    """A function that computes a program from what numpy would be given and waits for the result. An error where jax cannot."""
    import jax

    own = programs()[name]
    vars(own).update(vars(program))  # what the inputs left there
    is_array = {k: hasattr(v, "dtype") or isinstance(v, tuple) for k, v in ready.items()}
    others = {k: v for k, v in ready.items() if not is_array[k]}
    cpu = jax.devices("cpu")[0]
    arrays = {k: jax.device_put(v, cpu) for k, v in ready.items() if is_array[k]}
    f = jax.jit(lambda given: own.numpy(**given, **others))
    jax.block_until_ready(f(arrays))
    return lambda: jax.block_until_ready(f(arrays))
