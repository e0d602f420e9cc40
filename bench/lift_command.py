"""What the benchmark scripts ask of the `lift` command: signatures, checks, times."""

import functools
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCALARS = {"bool": 1, "f16": 2, "f32": 4, "f64": 8}
SCALARS |= {f"{sign}{bits}": bits // 8 for sign in "iu" for bits in (8, 16, 32, 64)}


class Failed(Exception):
    """A command that did not succeed, with the first line it said about it."""


def program(name):
    """The one file of programs/ that has this name."""
    found = sorted((ROOT / "programs").glob(f"**/{name}.lift"))
    if len(found) != 1:
        raise Failed(f"{len(found)} programs are named {name}")
    return str(found[0])


def output_of(command, timeout=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"took more than {timeout} s") from late
    except OSError as error:
        raise Failed(str(error)) from error
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Failed(said[0] if said else f"exit status {done.returncode}")
    return done.stdout


@functools.cache
def signatures(lift, path):
    return json.loads(output_of([lift, "check", "--json", path]))


def signature(lift, path, entry=None):
    for found in signatures(lift, path):
        if found["name"] == entry or entry is None and found["entry"]:
            return found
    raise Failed(f"{path} has no def {entry or 'to run'}")


def shape_of(text, sizes):
    """The extents of an array type and its element, as in ([8, 4], "f32")."""
    extents = []
    while text.startswith("["):
        text, extent = text[1:-1].rsplit("; ", 1)
        extents.append(eval(extent.replace("/", "//"), {"min": min, "max": max}, dict(sizes)))
    return extents, text


def bytes_of(text, sizes):
    """The bytes of a value of a type, given as text."""
    extents, element = shape_of(text, sizes)
    count = functools.reduce(lambda a, b: a * b, extents, 1)
    return count * sum(scalar_bytes(part) for part in element.strip("()").split(", "))


def scalar_bytes(text):
    scalar, lanes = re.fullmatch(r"([a-z]+\d*?)(?:x(\d+))?", text).groups()
    return SCALARS[scalar] * int(lanes or 1)


def useful_bytes(lift, path, entry, sizes):
    """Every array of the parameters read once, the result written once."""
    found = signature(lift, path, entry)
    arrays = [p["type"] for p in found["params"] if p["type"].startswith("[")]
    return sum(bytes_of(text, sizes) for text in [*arrays, found["result"]])


def check(lift, path, device):
    """Runs the file's tests on the device; a file without any does not pass."""
    said = output_of([lift, "test", path, "--device", device], timeout=300)
    if not re.search(r"^[1-9]\d* passed", said, re.MULTILINE):
        raise Failed("no tests")


def passed(lift, paths, device, flags=()):
    """{path: whether its tests, of which it has some, pass on the device}."""
    command = [lift, "test", *paths, "--device", device, "--json", *flags]
    try:
        # A test that fails makes the exit status 1, and the report is there all the same.
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        rows = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Failed(f"lift test: {error}") from error
    right = {path: [row["passed"] for row in rows if row["file"] == path] for path in paths}
    return {path: bool(tests) and all(tests) for path, tests in right.items()}


def text(lift, path, target, sizes, entry=None, flags=()):
    """The kernels in a target's language."""
    name = signature(lift, path, entry)["name"]
    command = [lift, "compile", path, "--target", target, "--entry", name, *flags]
    return output_of([*command, *size_flags(sizes)], timeout=60)


def size_flags(sizes):
    return ["--size", ",".join(f"{name}={size}" for name, size in sizes.items())]


def run(
    lift, path, device, sizes, given, entry=None, repeat=1, output=None, timeout=300, flags=()
):
    """One `lift run`: what it reports. Parameters that are not given are random or 0.5."""
    found = signature(lift, path, entry)
    filled = {p["name"]: "random:1" if p["type"].startswith("[") else "0.5" for p in found["params"]}
    command = [lift, "run", path, "--device", device, "--json", "--repeat", str(repeat)]
    command += [*size_flags(sizes), *flags, "--entry", found["name"]]
    command += ["-o", str(output)] if output else []
    command += [f"{name}={value}" for name, value in (filled | given).items()]
    return json.loads(output_of(command, timeout))
