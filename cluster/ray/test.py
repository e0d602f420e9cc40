#!/usr/bin/env python3
"""Tunes on a real Ray of this machine's own, which it starts and which ends with it.

  PYTHON cluster/ray/test.py --lift target/debug/lift

PYTHON has Ray, from PyPI."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from searches import ROOT, SIZES, merged, same_as_alone  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lift", required=True)
    lift = str(pathlib.Path(parser.parse_args().lift).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lift-ray-test-"))
    try:
        for sizes, name in zip(SIZES, "abc"):
            command = [sys.executable, str(HERE / "tune.py"), "--workers", "2", "--num-cpus", "0.5", "--lift", lift, "--",
                       str(ROOT / "programs/mm.lift"), "--size", sizes, "--search", "random", "--seed", "5", "--trials", "6",
                       "--db", str(folder / f"{name}.db"), "-o", str(folder / "best.lift")]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
            assert ran.returncode == 0, ran.stderr
            assert "actor 0 at" in ran.stderr or "actor 1 at" in ran.stderr, ran.stderr
        same_as_alone(lift, folder, "abc")
        problems = merged(lift, folder, "abc")
        assert len(problems) == 3, problems
        print(f"Ray: {len(problems)} problems tuned by actors and merged")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
