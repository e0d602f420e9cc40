"""Inputs for programs, and how far their results are from those in double precision.

Reads a JSON object a line and answers with one, until standard input ends:

    {"ask": "inputs", "problem": ..., "sizes": ..., "seed": ..., "gpu": false,
     "params": [{"name": "A", "extents": [512, 512]}, ...]}
        {"arguments": {"A": "/tmp/.../A.npy", "alpha": "0.75"}, "folder": "/tmp/..."}
    {"ask": "error", "result": "/tmp/.../result.npy"}
        {"error": 1.2e-7, "tolerance": 0.001}, for the problem of the last inputs

and {"failed": "why"} where that cannot be. The files are gone when it ends.
"""

import json
import pathlib
import sys
import tempfile

import numpy as np
from libraries import Missing, NumpyLike, Torch
from users_problems import PROBLEMS

# So many rows of an all-pairs table fit a GPU in double precision.
ROWS = 2048


def main():
    with tempfile.TemporaryDirectory(prefix="lift-bench-") as folder:
        asked = None
        for line in sys.stdin:
            question = json.loads(line)
            try:
                if question["ask"] == "inputs":
                    asked = question
                    answer = inputs(question, pathlib.Path(folder))
                else:
                    answer = judged(asked, pathlib.Path(question["result"]))
            except (Missing, ValueError, OSError) as why:
                answer = {"failed": str(why)}
            except MemoryError:
                answer = {"failed": "there is not enough memory for the reference"}
            print(json.dumps(answer), flush=True)


def posed(question):
    found = PROBLEMS.get(question["problem"])
    if not found:
        raise Missing(f"problems.py has no problem {question['problem']}")
    return found(question["sizes"], question["seed"])


def inputs(question, folder):
    """Writes what the program's parameters are given."""
    for old in folder.iterdir():
        old.unlink()
    problem = posed(question)
    arguments = {}
    for param in question["params"]:
        name, value = param["name"], fitting(problem, **param)
        if isinstance(value, tuple):
            arguments[name] = str(folder / f"{name}.npz")
            np.savez(arguments[name], **{str(k): part for k, part in enumerate(value)})
        elif isinstance(value, np.ndarray):
            arguments[name] = str(folder / f"{name}.npy")
            np.save(arguments[name], value)
        else:
            arguments[name] = repr(value)
    return {"arguments": arguments, "folder": str(folder)}


def fitting(problem, name, extents):
    """The input of a name whose outer extents are these."""
    for given in (problem.given, problem.layouts):
        value = given.get(name)
        first = value[0] if isinstance(value, tuple) else value
        if value is not None and list(np.shape(first)[: len(extents)]) == extents:
            return value
    raise Missing(f"the problem has no input {name} of extents {extents}")


def judged(question, result):
    if question is None:
        raise Missing("there were no inputs")
    problem = posed(question)
    loaded = np.load(result)
    parts = [loaded[k] for k in sorted(loaded, key=int)] if result.suffix == ".npz" else [loaded]
    error = problem.error([np.asarray(part) for part in parts], library(question))
    # JSON has no infinity.
    return {"error": error if np.isfinite(error) else None, "tolerance": problem.tolerance}


def library(question):
    """What computes the reference: the GPU where programs run on one, which is faster."""
    if question.get("gpu"):
        try:
            return Torch(gpu=True, rows=ROWS)
        except Missing:
            pass
    return NumpyLike()


if __name__ == "__main__":
    main()
