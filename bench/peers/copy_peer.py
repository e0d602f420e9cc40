"""A copy: a plain vectorised loop with ordinary stores on processors, torch's on GPUs."""

from protocol import serve

from copied import prepare

serve("copy", lambda question: prepare(question, "loop"))
