"""An image filter: how strong edges are, by Sobel's two windows at once, compared with numpy."""

import numpy as np

import lift

edges = lift.program(r"""
def edges[M, N](image: [[f32; N]; M]) -> [[f32; N]; M] =
  image |> pad2(1, 1, clamp) |> slide2(3, 1) |> map(map(\w ->
    let dx = w[0][2] + 2.0 * w[1][2] + w[2][2] - w[0][0] - 2.0 * w[1][0] - w[2][0];
    let dy = w[2][0] + 2.0 * w[2][1] + w[2][2] - w[0][0] - 2.0 * w[0][1] - w[0][2];
    sqrt(dx * dx + dy * dy)));
""").edges


def with_numpy(image):
    p = np.pad(image, 1, "edge")
    rows, columns = image.shape

    def at(i, j):
        return p[i : i + rows, j : j + columns]

    dx = at(0, 2) + 2 * at(1, 2) + at(2, 2) - at(0, 0) - 2 * at(1, 0) - at(2, 0)
    dy = at(2, 0) + 2 * at(2, 1) + at(2, 2) - at(0, 0) - 2 * at(0, 1) - at(0, 2)
    return np.sqrt(dx * dx + dy * dy)


y, x = np.mgrid[0:20, 0:40]
disc = ((x - 20) ** 2 / 4 + (y - 10) ** 2 < 50).astype(np.float32)
found = edges(disc)
for row in found[::2]:
    print("".join("#" if strength > 1 else " " for strength in row))
assert np.allclose(found, with_numpy(disc), atol=1e-5)
print("Lift and numpy agree")
