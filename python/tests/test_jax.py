"""Definitions inside functions that JAX compiles."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import lift  # noqa: E402
import lift.jax  # noqa: E402


def test_a_definition_is_traced_by_jit(mm):
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.float32)
    layer = jax.jit(lambda a, b: 2 * lift.jax.function(mm)(a, b))
    assert np.array_equal(layer(a, b), 2 * (a @ b))
    with pytest.raises(lift.Error, match="`K` is 3, from `A`"):
        layer(a, a)
    with pytest.raises(lift.Error, match="other dimensions"):
        layer(a[0], a)


def test_vmap_calls_one_after_the_other(mm):
    a, b = np.ones((5, 2, 3), np.float32), np.ones((5, 3, 2), np.float32)
    assert np.array_equal(jax.vmap(lift.jax.function(mm))(a, b), a @ b)


def test_results_of_several_parts_and_numbers():
    both = lift.program("def both[N](a: f32, xs: [f32; N]) -> ([f32; N], f32) = (xs |> map(\\x -> a * x), xs |> reduce(0.0, (+)));").both
    scaled, total = jax.jit(lift.jax.function(both))(np.float32(2), np.ones(3, np.float32))
    assert scaled.tolist() == [2, 2, 2] and float(total) == 3
