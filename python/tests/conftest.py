"""What tests share. Nothing that the user has tuned matters, and nothing of the user's is written."""

import os
import pathlib
import tempfile

_folder = tempfile.TemporaryDirectory()
os.environ["XDG_DATA_HOME"] = _folder.name

import pytest  # noqa: E402

import lift  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

MM = r"""
def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\row -> transpose(B) |> map(\col ->
    zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+))));
"""


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def mm():
    return lift.program(MM).mm
