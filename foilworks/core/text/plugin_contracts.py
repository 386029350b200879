"""What the module of a plug-in must have, per group: functions with their arguments, results and default constants.

Each registry states the contract of its group. `foilworks.core.text.registry.load` applies it to the modules of
plug-ins, so that a missing function, a wrong argument or a wrong result is one line that names the package.
"""

import math
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, Protocol

from foilworks.core.text.errors import ActionableError


class RegistryError(ActionableError):
    """An unknown slug, an invalid parameter value, or a row or plug-in that breaks its contract."""


class Row(Protocol):
    """What a contract reads of the row of a plug-in."""

    @property
    def path(self) -> str: ...
    @property
    def origin(self) -> str: ...


@dataclass(frozen=True)
class Call:
    """A function of the module: how it is called, and the classes of its result or of the values that it yields.

    `is_json`: its result is a dict of JSON values; NumPy's numbers and arrays in it become JSON.
    """

    arguments: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    returns: tuple[type, ...] = ()
    yields: tuple[type, ...] = ()
    is_json: bool = False
    is_required: bool = True


@dataclass(frozen=True)
class Contract:
    """What a module of the group has. If no function is required, one of them is enough.

    `defaults`: constants that a module need not have. `choices`: the values that a constant may have. `takes_params`:
    the functions get the parameters of the row as arguments of these names.
    """

    calls: Mapping[str, Call] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Collection[str]] = field(default_factory=dict)
    takes_params: bool = False

    def apply(self, row: Row, params: Collection[str], module: Any) -> Any:
        """Return the module with its defaults, whose functions check what they return.

        RegistryError: something is missing, or a function takes other arguments.
        """
        if not self.calls:
            return module
        constants = {**self.defaults, **{name: getattr(module, name) for name in dir(module)}}
        required: list[tuple[str, ...]] = [(name,) for name, call in self.calls.items() if call.is_required]
        for names in required or [tuple(self.calls)]:
            if not any(callable(constants.get(name)) for name in names):
                raise _broken(row, f"has no function {' or '.join(names)}", "write it as docs/how-to/plugins.md shows")
        for name, values in self.choices.items():
            if constants[name] not in values:
                remedy = f"set it to one of: {', '.join(sorted(values))}"
                raise _broken(row, f"has {name} = {constants[name]!r}", remedy)
        for name, call in self.calls.items():
            if callable(constants.get(name)):
                more = tuple(params) if self.takes_params else ()
                _require_arguments(row, name, constants[name], call, more)
                constants[name] = _checked(row, name, constants[name], call)
        return SimpleNamespace(**constants)


def _broken(row: Row, problem: str, remedy: str) -> RegistryError:
    module = row.path.partition(":")[0]
    return RegistryError(f"plug-in {row.origin}: {module} {problem}; {remedy}")


def _require_arguments(row: Row, name: str, function: Callable[..., Any], call: Call, more: Collection[str]) -> None:
    keywords = (*call.keywords, *more)
    try:
        signature(function).bind(*call.arguments, **dict.fromkeys(keywords))
    except TypeError as error:
        pieces = (*call.arguments, *(("*", *keywords) if keywords else ()))
        remedy = f"write {name}({', '.join(pieces)})"
        raise _broken(row, f"has {name} with other arguments ({error})", remedy) from error


def _checked(row: Row, name: str, function: Callable[..., Any], call: Call) -> Callable[..., Any]:
    """Return the function with a check of its result."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if call.yields:
            if not isinstance(result, Iterable):
                raise _wrong_class(row, f"{name} returned", result, call.yields, "yield")
            return _each_checked(row, name, result, call)
        if call.is_json:
            if not isinstance(result, Mapping):
                raise _wrong_class(row, f"{name} returned", result, (dict,), "return")
            remedy = "return only dicts, lists, text, numbers and None"
            return json_value(result, lambda problem: _broken(row, f"has {name}, whose result {problem}", remedy))
        if call.returns and not isinstance(result, call.returns):
            raise _wrong_class(row, f"{name} returned", result, call.returns, "return")
        return result

    return checked


def _each_checked(row: Row, name: str, results: Iterable[Any], call: Call) -> Generator[Any, None, None]:
    for result in results:
        if not isinstance(result, call.yields):
            raise _wrong_class(row, f"{name} yielded", result, call.yields, "yield")
        yield result


def _wrong_class(row: Row, did: str, result: Any, classes: Collection[type], do: str) -> RegistryError:
    names = " or ".join("None" if allowed is type(None) else allowed.__name__ for allowed in classes)
    return _broken(row, f"is wrong: {did} a {type(result).__name__}", f"{do} {names}")


def json_value(value: Any, broken: Callable[[str], Exception], place: str = "") -> Any:
    """Return the value as JSON: of NumPy's numbers and arrays, numbers and lists; NaN and infinity are None.

    What `broken` makes is raised for a value that JSON does not know.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): json_value(inner, broken, f"{place}.{name}".lstrip(".")) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(inner, broken, f"{place}[{index}]") for index, inner in enumerate(value)]
    raise broken(f"has a {type(value).__name__} at '{place}'")
