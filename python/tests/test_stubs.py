"""The stubs name what there is, and all of it."""

import ast

from conftest import ROOT
from lift import _lift

STUB = ast.parse((ROOT / "python/lift/_lift.pyi").read_text())


def names(body):
    return {item.name for item in body if isinstance(item, (ast.FunctionDef, ast.ClassDef))}


def public(thing):
    return {name for name in vars(thing) if not name.startswith("__")}


def test_the_stubs_have_every_name_of_the_module():
    assert names(STUB.body) == public(_lift)


def test_the_stubs_have_every_name_of_every_class():
    for item in STUB.body:
        if isinstance(item, ast.ClassDef):
            found = vars(getattr(_lift, item.name))
            stub = names(item.body)
            assert {name for name in stub if not name.startswith("__")} == public(getattr(_lift, item.name)), item.name
            # `__call__` and others that are there for all; `__new__` and `__getattr__` have other names inside.
            assert {name for name in stub if name.startswith("__")} <= {*found, "__new__", "__getattr__"}, item.name


def test_everything_says_what_it_is():
    for name in public(_lift):
        thing = getattr(_lift, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for member in public(thing) - {"_repr_html_"}:
                assert vars(thing)[member].__doc__, f"{name}.{member}"
