"""An attention layer from the repository's programs, compared with numpy in double precision."""

import pathlib

import numpy as np

import lift

attention = lift.load(pathlib.Path(__file__).parents[2] / "programs/users/attention.lift").attention
print(attention.signature)

rng = np.random.default_rng(5)
q, k, v = (rng.standard_normal((4, 48, 16)).astype(np.float32) for _ in range(3))
scores = q.astype(np.float64) @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
expected = weights / weights.sum(axis=-1, keepdims=True) @ v
assert np.allclose(attention(q, k, v), expected, rtol=1e-4, atol=1e-5)
print("Lift and numpy agree")
