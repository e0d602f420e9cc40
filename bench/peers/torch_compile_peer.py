"""torch.compile, which fuses what torch would do in steps."""

from protocol import serve

from torch_timing import prepare

serve("torch_compile", lambda question: prepare(question, compiled=True))
