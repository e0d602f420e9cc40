"""How a peer is asked and answers: a JSON object a line, a line of answer for a line of question.

    {"problem": "mm", "sizes": {"M": 512, "K": 512, "N": 512}, "seed": 1, "bytes": 3145728,
     "device": {"id": "cpu", "kind": "cpu", "name": "..."}, "repeat": 5, "seconds": 2}

`bytes` is what the program reads and writes at least; `kind` is `cpu`, `gpu` or `accelerator`. The
answer has the times of `repeat` runs, fewer where they take more than `seconds`, one at least:

    {"peer": "numpy", "ms": 1.32, "samples": [1.31, 1.32, 1.4], "about": "numpy 1.24.2, ..."}

or, where the peer cannot do it here, {"missing": "why"}. The same question may come again, between
runs of others; what it needs is kept until another comes.
"""

import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from libraries import Missing  # noqa: E402
from users_problems import PROBLEMS  # noqa: E402


def serve(name, prepare):
    """Answers until there are no more questions.

    prepare(question) gives a function of nothing that runs once and returns its milliseconds, and
    words about the peer; it raises Missing where there is no such thing.
    """
    kept, run, about = None, None, ""
    for line in sys.stdin:
        question = json.loads(line)
        wanted = {key: question.get(key) for key in ("problem", "sizes", "seed", "bytes", "device")}
        try:
            if wanted != kept:
                kept = run = None
                run, about = prepare(question)
                warm_up(run, question)
                kept = wanted
            samples = timed(run, question)
            answer = {"peer": name, "ms": statistics.median(samples), "samples": samples}
            answer["about"] = about
        except Missing as why:
            answer = {"missing": str(why)}
        except MemoryError:
            answer = {"missing": "there is not enough memory"}
        print(json.dumps(answer), flush=True)


def warm_up(run, question):
    """Runs that do not count, three where they are short."""
    start = time.perf_counter()
    for _ in range(3):
        run()
        if time.perf_counter() - start > question["seconds"]:
            break


def timed(run, question):
    start, samples = time.perf_counter(), []
    for _ in range(question["repeat"]):
        samples.append(run())
        if time.perf_counter() - start > question["seconds"]:
            break
    return samples


def is_gpu(question):
    return question["device"]["kind"] != "cpu"


def posed(question):
    """The problem with its inputs."""
    found = PROBLEMS.get(question["problem"])
    if not found:
        raise Missing(f"problems.py has no problem {question['problem']}")
    return found(question["sizes"], question["seed"])


def by_clock(call):
    """A call's milliseconds by the clock of this machine."""

    def run():
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e3

    return run
