"""Copies of as many bytes as a program reads and writes, as what memory allows."""

import json
import os
import pathlib
import subprocess
import tempfile

from protocol import is_gpu

from libraries import Missing, Torch
from torch_timing import by_events

FLAGS = ["-O3", "-march=native", "-fopenmp", "-fno-tree-loop-distribute-patterns"]
SOURCE = pathlib.Path(__file__).with_name("copy.c")


def elements(question):
    """Floats to copy: each is read and written."""
    return max(question["bytes"] // 8, 1)


def on_gpu(question):
    library = Torch(gpu=True)
    source = library.xp.ones(elements(question), device=library.place)
    target = library.xp.empty_like(source)
    about = f"torch {library.xp.__version__}, Tensor.copy_"
    return by_events(library, lambda: target.copy_(source)), about


class Copies:
    """copy.c, compiled, which times a copy for every word that it is told."""

    def __init__(self, count):
        compiler = os.environ.get("CC", "cc").split()
        with tempfile.TemporaryDirectory() as folder:
            binary = f"{folder}/copy"
            output([*compiler, *FLAGS, str(SOURCE), "-o", binary])
            self.running = subprocess.Popen(
                [binary, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            # It has begun, so the file may go.
            if not self.running.stdout.readline():
                raise Missing(f"copy.c ended: there may be no memory for {2 * count} floats")
        self.about = output([*compiler, "--version"]).splitlines()[0]

    def ms(self, word):
        self.running.stdin.write(f"{word}\n")
        self.running.stdin.flush()
        return json.loads(self.running.stdout.readline())


def output(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Missing(f"there is no C compiler: {error}") from error
    if done.returncode != 0:
        raise Missing(f"{command[0]} does not compile copy.c: {done.stderr.strip()[:200]}")
    return done.stdout


def on_processor(question, word):
    copies = Copies(elements(question))
    return lambda: copies.ms(word), copies.about


def prepare(question, word):
    return on_gpu(question) if is_gpu(question) else on_processor(question, word)
