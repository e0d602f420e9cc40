from os import PathLike
from typing import Any, Callable, Optional, Union

class Error(Exception):
    """A program, its arguments or a device cannot do what is asked; the text says why and where."""

class CopyWarning(UserWarning):
    """An argument was copied, because kernels read rows of another type or in another order."""

class Function:
    """A definition of a program. Called with arrays and numbers, it is compiled for their sizes, once, and run."""

    @property
    def __name__(self) -> str: ...
    @property
    def signature(self) -> str: ...
    def __call__(self, *args: Any, device: Optional[str] = None, **kwargs: Any) -> Any: ...
    def compile(self, target: str, **sizes: int) -> str: ...
    def tune(
        self,
        *args: Any,
        time: Optional[float] = None,
        trials: int = 100,
        progress: Optional[Callable[[int, Optional[float]], object]] = None,
        device: Optional[str] = None,
        **kwargs: Any,
    ) -> Tuned: ...
    def predict(
        self,
        *args: Any,
        machine: Optional[Union[str, PathLike[str]]] = None,
        device: Optional[str] = None,
        **kwargs: Any,
    ) -> dict[str, Any]: ...

class Program:
    """A checked program. Its definitions are attributes: `program.mm(a, b)`."""

    @property
    def functions(self) -> list[Function]: ...
    @property
    def text(self) -> str: ...
    def __getattr__(self, name: str) -> Function: ...
    def __getitem__(self, name: str) -> Function: ...

class Tuned:
    """What tuning found."""

    @property
    def ms(self) -> Optional[float]: ...
    @property
    def default_ms(self) -> Optional[float]: ...
    @property
    def tried(self) -> int: ...
    @property
    def text(self) -> Optional[str]: ...
    @property
    def derivation(self) -> Optional[str]: ...

class Device:
    """A device that programs can run on."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def memory_bytes(self) -> int: ...

def program(text: str, *, name: str = "program", allow_extern: bool = False) -> Program: ...
def load(path: Union[str, PathLike[str]], *, allow_extern: bool = False) -> Program: ...
def devices() -> list[Device]: ...

__all__ = ["CopyWarning", "Device", "Error", "Function", "Program", "Tuned", "devices", "load", "program"]
