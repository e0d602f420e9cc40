"""Tensors of torch on the host, and definitions as operators that torch compiles and differentiates."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch takes gigabytes: what needs it is tested by gpu_check.py where it is installed")

import lift  # noqa: E402
import lift.torch  # noqa: E402

LAYER = lift.program(r"""
def layer[M, K, N](x: [[f32; K]; M], w: [[f32; N]; K]) -> [[f32; N]; M] =
  x |> map(\row -> transpose(w) |> map(\col ->
    zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+))));

def layer_gradient[M, K, N](x: [[f32; K]; M], w: [[f32; N]; K], g: [[f32; N]; M]) -> ([[f32; K]; M], [[f32; N]; K]) =
  (g |> map(\row -> w |> map(\col -> zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+)))),
   transpose(x) |> map(\row -> transpose(g) |> map(\col -> zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+)))));
""")


def numbers(*shape):
    return torch.randint(-4, 5, shape).to(torch.float32)


def test_tensors_are_read_where_they_are_and_come_back_as_tensors(mm):
    a, b = numbers(4, 3), numbers(3, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = mm(a, b)
    assert isinstance(result, torch.Tensor) and torch.equal(result, a @ b)
    with pytest.raises(lift.Error, match="`A` of `mm`.*gradient"):
        mm(a.requires_grad_(), b)


def test_an_operator_passes_the_checks_of_torch():
    layer = lift.torch.function(LAYER.layer, gradient=LAYER.layer_gradient)
    x, w = numbers(4, 3).requires_grad_(), numbers(3, 5).requires_grad_()
    torch.library.opcheck(layer, (x, w))


def test_gradients_are_what_torch_has():
    layer = lift.torch.function(LAYER.layer, gradient=LAYER.layer_gradient)
    x, w = numbers(4, 3), numbers(3, 5)
    found, wanted = [], []
    for compute, into in ((layer, found), (torch.matmul, wanted)):
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        (compute(a, b) ** 2).sum().backward()
        into += [a.grad, b.grad]
    assert all(torch.equal(have, want) for have, want in zip(found, wanted))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_functions_have_it_as_one_operator(dynamic):
    layer = lift.torch.function(LAYER.layer, gradient=LAYER.layer_gradient)
    graphs = []

    def seen(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(lambda x, w: torch.relu(layer(x, w)) + 1, backend=seen, fullgraph=True, dynamic=dynamic)
    for m in (4, 6, 8):
        x, w = numbers(m, 3), numbers(3, 5)
        assert torch.equal(compiled(x, w), torch.relu(x @ w) + 1)
    assert any("lift.layer" in str(node.target) for node in graphs[0].graph.nodes)
    assert len(graphs) == 1 if dynamic else len(graphs) >= 1, "the shape of the result is that of the types"


def test_numbers_tuples_and_several_results():
    program = lift.program(r"""
def both[N](k: f32, n: i32, ps: [(f32, i32); N]) -> ([f32; N], i32) =
  (ps |> map(\(a, b) -> k * a + (b as f32)), ps |> map(\(a, b) -> b + n) |> reduce(0, (+)));""")
    both = lift.torch.function(program.both)
    xs, ns = numbers(5), torch.arange(5, dtype=torch.int32)
    scaled, total = both(2.0, 1, [xs, ns])
    assert torch.equal(scaled, 2 * xs + ns) and total.shape == () and int(total) == 15
    torch.library.opcheck(both, (2.0, 1, [xs, ns]))


def test_lengths_that_are_computed_and_parameters():
    program = lift.program("def halves[N; T = 2](xs: [f32; N]) -> [[f32; T]; N / T] where N % T == 0 = xs |> split(T);")
    thirds = lift.torch.function(program.halves, T=3)
    xs = numbers(12)
    compiled = torch.compile(thirds, backend="aot_eager", fullgraph=True, dynamic=True)
    assert torch.equal(thirds(xs), xs.reshape(4, 3)) and torch.equal(compiled(xs), xs.reshape(4, 3))
    with pytest.raises(lift.Error, match="N % T == 0"):
        thirds(numbers(10))


def test_gradients_that_do_not_fit_are_refused():
    with pytest.raises(lift.Error, match="takes 3 arguments, those of the definition and the gradients of its results, not 2"):
        lift.torch.function(LAYER.layer, gradient=LAYER.layer)
    with pytest.raises(lift.Error, match="has 3 results, one for each array of floats, not 2"):
        wide = lift.program(r"def wide[N](a: [f32; N], b: [f32; N], c: [f32; N]) -> [f32; N] = zip(a, b, c) |> map(\(x, y, z) -> x + y * z);"
                            r"def slim[N](a: [f32; N], b: [f32; N], c: [f32; N], g: [f32; N]) -> ([f32; N], [f32; N]) = (a, b);")
        lift.torch.function(wide.wide, gradient=wide.slim)


def test_shapes_that_do_not_agree_are_named_while_torch_traces():
    layer = lift.torch.function(LAYER.layer)
    with pytest.raises(Exception, match="`K` is 3, from `x`"):
        torch.compile(layer, backend="eager")(numbers(4, 3), numbers(4, 3))


def test_layouts_are_copied_and_said_once():
    double = lift.program(r"def double_torch[N](xs: [f32; N]) -> [f32; N] = xs |> map(\x -> x + x);").double_torch
    xs = numbers(8)
    with pytest.warns(lift.CopyWarning, match="`xs` of `double_torch`"):
        assert torch.equal(double(xs[::2]), 2 * xs[::2])
    assert np.array_equal(double(xs.numpy()), 2 * xs.numpy())
