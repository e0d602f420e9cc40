"""The programs of docs/python.md and the scripts of examples/ run as written and print what stands there."""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs/python.md").read_text()
SHOWN = re.findall(r"```python (\S+)(?: needs (\w+))?\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
EXAMPLES = sorted((ROOT / "python/examples").glob("*.py"))


def run(path, folder):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, cwd=folder, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_five_programs_and_one_for_torch():
    assert len(SHOWN) == 6 and PAGE.count("```python") == 6
    assert [needs for _, needs, _, _ in SHOWN if needs] == ["torch"]


@pytest.mark.parametrize("name, needs, text, printed", SHOWN, ids=[name for name, *_ in SHOWN])
def test_programs_of_the_page(name, needs, text, printed, tmp_path):
    if needs:
        pytest.importorskip(needs, reason=f"{needs} is not installed here")
    (tmp_path / name).write_text(text)
    assert run(tmp_path / name, tmp_path) == printed


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples(path, tmp_path):
    if "import torch" in path.read_text():
        pytest.importorskip("torch", reason="torch is not installed here")
    assert "agree" in run(path, tmp_path)
