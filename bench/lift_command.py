"""What scripts ask of the `lift` command: signatures, tests, kernels, times; and of the suites."""

import functools
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A command that did not succeed, with the first line it said about it."""


def programs(suites=None):
    """(file, def or None, problem of the suites) for every program of the suites, or of those named, each once."""
    found = {}
    for suite in sorted((ROOT / "bench" / "suites").glob("*.json")):
        if suites is not None and suite.stem not in suites:
            continue
        for problem in json.loads(suite.read_text())["problems"]:
            for program in problem["programs"]:
                file, _, entry = program.partition(":")
                found.setdefault(program, (str(ROOT / "programs" / file), entry or None, problem))
    return list(found.values())


def wanted(program, words):
    """Whether the name of a program, its def or its problem holds one of the words, if there are any."""
    path, entry, problem = program
    names = (pathlib.Path(path).stem, entry or "", problem["problem"])
    return not words or any(word in name for word in words for name in names)


def target(device):
    """The language of a device's kernels."""
    kind = device.split(":")[0]
    return "c" if kind == "cpu" else kind


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


def run(lift, path, device, sizes, entry=None, repeat=1, timeout=300, flags=()):
    """One `lift run` on random arrays, numbers being 0.5: what it reports."""
    found = signature(lift, path, entry)
    command = [lift, "run", path, "--device", device, "--json", "--repeat", str(repeat)]
    command += [*size_flags(sizes), *flags, "--entry", found["name"]]
    fill = lambda type_: "random:1" if type_.startswith("[") else "0.5"
    command += [f"{p['name']}={fill(p['type'])}" for p in found["params"]]
    return json.loads(output_of(command, timeout))
