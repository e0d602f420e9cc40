"""Arrays as libraries hold them: copied only where users expect it, and then said once."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

import lift

NEGATE = lift.program(r"def negate[M, N](xs: [[f32; N]; M]) -> [[f32; N]; M] = xs |> map(map(\x -> -x));").negate


def fresh(name):
    """A definition nobody has been warned of."""
    return lift.program(f"def {name}[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x + x);")[name]


def test_what_fits_is_not_copied(mm):
    a = np.ones((8, 8), np.float32)
    a.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mm(a, a)
        mm(a[2:6], a[:, :8])


@pytest.mark.parametrize(
    "why, change",
    [
        ("rows", lambda xs: np.repeat(xs, 2)[::2]),
        ("float64", lambda xs: xs.astype(np.float64)),
        ("int16", lambda xs: xs.astype(np.int16)),
        (">f4", lambda xs: xs.astype(">f4")),
        ("aligned", lambda xs: np.frombuffer(b"x" + xs.tobytes(), np.uint8)[1:].view(np.float32)),
    ],
)
def test_what_does_not_fit_is_copied_and_said_once(why, change):
    double = fresh(f"double_{abs(hash(why))}")
    xs = np.arange(6, dtype=np.float32)
    with pytest.warns(lift.CopyWarning, match=f"`xs` of `double_.*{why}"):
        assert np.array_equal(double(change(xs)), 2 * xs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(double(change(xs)), 2 * xs)


@pytest.mark.parametrize("wrong", [np.ones(3, complex), np.ones((3, 3), np.float32), np.array(["a"]), None, object()])
def test_what_cannot_be_read_is_an_error_with_what_is_wanted(wrong):
    with pytest.raises(lift.Error, match="`xs` of `f` is `\\[f32; N\\]`: an array of float32 with 1 dimension"):
        fresh("f")(wrong)


def test_floats_do_not_become_integers():
    f = lift.program(r"def f[N](xs: [i32; N]) -> [i32; N] = xs |> map(\x -> x + 1);").f
    with pytest.raises(lift.Error, match="astype\\(np.int32\\)"):
        f(np.ones(3))
    with pytest.raises(lift.Error):
        f([1.5])
    assert f([1, 2]).tolist() == [2, 3]


def test_shapes_that_do_not_agree_are_named(mm):
    with pytest.raises(lift.Error, match="`K` is 3, from `A`"):
        mm(np.ones((2, 3), np.float32), np.ones((4, 2), np.float32))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_layout_gives_the_same(data):
    rows, columns = data.draw(st.sampled_from([(1, 1), (3, 5), (4, 2)]))
    base = data.draw(arrays(data.draw(st.sampled_from([np.float32, np.float64, np.int16, np.float16])), (2 * rows, 3 * columns),
                            elements=st.integers(-100, 100)))
    view = data.draw(st.sampled_from([base[::2, ::3], base[::-2, ::-3], base[rows:, columns:2 * columns],
                                      base[:rows, :columns].copy().T.copy().T, base[:rows, :columns]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lift.CopyWarning)
        result = NEGATE(view)
    assert result.dtype == np.float32 and np.array_equal(result, -view.astype(np.float32))


def test_arrays_of_jax_come_back_as_arrays_of_jax(mm):
    jax = pytest.importorskip("jax")
    a, b = jax.numpy.ones((4, 3), "float32"), jax.numpy.full((3, 2), 2.0, "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = mm(a, b)
    assert isinstance(result, jax.Array) and np.array_equal(result, a @ b)
    pair = lift.program("def pair[N](xs: [f32; N]) -> ([f32; N], f32) = (xs |> map(\\x -> x), xs |> reduce(0.0, (+)));").pair
    same, total = pair(a[0])
    assert isinstance(same, jax.Array) and float(total) == 3


class Foreign:
    """An array of a library that has DLPack and nothing else of numpy's."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **more):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def from_dlpack(array):
    return Foreign(np.from_dlpack(array))


def test_any_library_with_dlpack_gets_its_own_arrays_back():
    xs = np.arange(5, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fresh("g")(Foreign(xs))
    assert isinstance(result, Foreign) and np.array_equal(result.array, 2 * xs)


def test_arrays_on_another_device_are_refused_with_advice():
    with pytest.raises(lift.Error, match="`xs` of `f`.*in the memory of the host"):
        fresh("f")(Foreign(np.ones(3, np.float32), device=(10, 0)))


def test_arrays_that_cannot_be_given_out_are_refused():
    class Closed(Foreign):
        def __dlpack__(self, **more):
            raise BufferError("it needs its gradient")

    with pytest.raises(lift.Error, match="`xs` of `f`.*it needs its gradient"):
        fresh("f")(Closed(np.ones(3, np.float32)))
