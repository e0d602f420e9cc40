"""An attention layer in torch whose kernel is one of the repository's programs, compiled and compared with torch's own.

Runs on the GPU where there is one, in the order of torch's stream, and on the host otherwise.
"""

import pathlib

import torch

import lift
import lift.torch

program = lift.load(pathlib.Path(__file__).parents[2] / "programs/users/attention.lift")
attention = lift.torch.function(program.attention)


class Attention(torch.nn.Module):
    """Self-attention with several heads, without its last projection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.project = heads, torch.nn.Linear(width, 3 * width)

    def forward(self, x, attend=attention):
        length, width = x.shape
        q, k, v = self.project(x).view(length, 3, self.heads, width // self.heads).permute(1, 2, 0, 3).contiguous().unbind()
        return attend(q, k, v).transpose(0, 1).reshape(length, width)


torch.manual_seed(5)
device = "cuda" if torch.cuda.is_available() else "cpu"
layer, x = Attention(64, 4).to(device).requires_grad_(False), torch.randn(48, 64, device=device)
backend = "inductor" if device == "cuda" else "aot_eager"
found = torch.compile(layer, backend=backend, fullgraph=True)(x)
assert torch.allclose(found, layer(x, torch.nn.functional.scaled_dot_product_attention), rtol=1e-3, atol=1e-4)
print(f"Lift and torch agree on {device}")
