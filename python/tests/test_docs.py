"""The programs of docs/python.md and the scripts of examples/ run as written and print what stands there."""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs/python.md").read_text()
SHOWN = re.findall(r"```python (\S+)\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
EXAMPLES = sorted((ROOT / "python/examples").glob("*.py"))


def run(path, folder):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, cwd=folder, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_five_programs():
    assert len(SHOWN) == 5 and PAGE.count("```python") == 5


@pytest.mark.parametrize("name, text, printed", SHOWN, ids=[name for name, _, _ in SHOWN])
def test_programs_of_the_page(name, text, printed, tmp_path):
    (tmp_path / name).write_text(text)
    assert run(tmp_path / name, tmp_path) == printed


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples(path, tmp_path):
    assert "agree" in run(path, tmp_path)
