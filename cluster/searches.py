"""What tests of clusters share: searches as processes, and what they leave in their databases."""

import json
import pathlib
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Three sizes of matrix multiplication, small enough for a processor that is shared.
SIZES = ["M=32,K=32,N=32", "M=64,K=32,N=32", "M=64,K=64,N=32"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds, ask):
    end = time.time() + seconds
    while time.time() < end:
        if ask():
            return
        time.sleep(0.2)
    sys.exit(f"{what}: not after {seconds} s")


def tune(lift, folder, sizes, database, *more, environment=None):
    """A search that goes on by itself. Its choices depend on nothing that is measured."""
    command = [lift, "tune", str(ROOT / "programs/mm.lift"), "--size", sizes, "--search", "random", "--seed", "5",
               "--trials", "6", "--db", str(database), "-o", str(folder / "best.lift"), *more]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def rows(lift, database):
    listed = subprocess.run([lift, "db", "list", "--db", str(database), "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)


def candidates(lift, database, problem):
    shown = subprocess.run([lift, "db", "show", str(problem), "--most", "1000", "--db", str(database), "--json"],
                           capture_output=True, text=True, check=True)
    # Whether one that is right is timed again depends on times.
    right = {"ok": "right", "skipped": "right"}
    return sorted((c["id"], right.get(c["outcome"], c["outcome"])) for c in json.loads(shown.stdout)["candidates"])


def finish(process, seconds=240):
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
        sys.exit(f"the search did not end:\n{said}")
    if process.returncode != 0:
        sys.exit(f"the search failed:\n{said}")
    return said


def same_as_alone(lift, folder, names, environment=None):
    """Asserts that the searches of these names have tried what one process finds alone, each once."""
    for sizes, name in zip(SIZES, names):
        alone = folder / f"alone-{name}.db"
        finish(tune(lift, folder, sizes, alone, environment=environment))
        found, expected = candidates(lift, folder / f"{name}.db", 1), candidates(lift, alone, 1)
        assert found == expected, (sizes, found, expected)


def stay_apart(lift, folder, workers, environment=None):
    """Asserts that workers on `cpu` and on `opencl:0`, who come to one search, each have a problem of their own."""
    database = folder / "apart.db"
    command = [lift, "tune", str(ROOT / "programs/mm.lift"), "--size", SIZES[0], "--search", "random", "--trials", "1000000",
               "--time", "15", "--db", str(database), "--devices", "any", "--json"]
    finish(subprocess.Popen([*command, *workers], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    found = rows(lift, database)
    kinds = sorted(row["fingerprint"].split()[0] for row in found)
    assert kinds == ["cpu", "opencl"] and all(row["best_ms"] for row in found), found


def merged(lift, folder, names):
    """The problems of the merged databases of these names."""
    files = [str(folder / f"{name}.db") for name in names]
    subprocess.run([lift, "db", "merge", *files, "-o", str(folder / "all.db")], check=True)
    return rows(lift, folder / "all.db")
