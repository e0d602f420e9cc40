"""Gravity between all pairs of bodies, without the matrix of pairs that numpy needs."""

import numpy as np

import lift

pull = lift.program(r"""
fn part(x: f32, a: f32, m: f32) -> f32 =
  let d = a - x;
  m * d * rsqrt((d * d + 0.01) * (d * d + 0.01) * (d * d + 0.01));

def pull[N](xs: [f32; N], ms: [f32; N]) -> [f32; N] =
  xs |> map(\x -> zip(xs, ms) |> map(\(a, m) -> part(x, a, m)) |> reduce(0.0, (+)));
""").pull

rng = np.random.default_rng(3)
xs, ms = rng.random(500, np.float32), rng.random(500, np.float32)
d = xs[None, :].astype(np.float64) - xs[:, None]
expected = (ms * d / (d * d + 0.01) ** 1.5).sum(axis=1)
found = pull(xs, ms)
assert np.allclose(found, expected, rtol=1e-3, atol=1e-2)
print("Lift and numpy agree on the pull of", len(xs), "bodies")
