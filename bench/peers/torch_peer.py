"""torch as it stands: its own kernels, cuBLAS, cuDNN. TF32 is off."""

from protocol import serve

from torch_timing import prepare

serve("torch", prepare)
