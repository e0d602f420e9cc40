"""The heat equation on a plate: a hundred steps, compared with numpy, and a picture in letters."""

import numpy as np

import lift

step = lift.program(r"""
def step[M, N](u: [[f32; N]; M]) -> [[f32; N]; M] =
  u |> pad2(1, 1, clamp) |> slide2(3, 1) |> map(map(\w ->
    w[1][1] + 0.2 * (w[0][1] + w[2][1] + w[1][0] + w[1][2] - 4.0 * w[1][1])));
""").step


def with_numpy(u):
    p = np.pad(u, 1, "edge")
    sides = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return u + np.float32(0.2) * (sides - 4 * u)


plate = np.zeros((24, 48), np.float32)
plate[8:16, 16:32] = 100
ours, numpys = plate, plate
for _ in range(100):
    ours, numpys = step(ours), with_numpy(numpys)

for row in ours[::2]:
    print("".join(" .:-=+*#%@"[int(t) // 11] for t in row))
assert np.allclose(ours, numpys, atol=1e-3)
print("Lift and numpy agree")
