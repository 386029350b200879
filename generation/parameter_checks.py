"""Check the parameters of a run before its job exists. Loads rules only: no model, no tagger, no plug-in."""

import re
from collections.abc import Mapping
from typing import Any

from foilworks.core.text.language.tagger_names import check_tagger
from foilworks.core.text.registry import load, lookup
from generation.methods.registry import METHODS

# How every message names its parameter: "parameter 'pairs': …", "parameters 'top' and 'foils' …".
NAMED = re.compile(r"\bparameters? '(\w+)'")
NAMED_FILTER = re.compile(r"filter '(\w+)': ")


def check_parameters(method: str, params: Mapping[str, Any]) -> None:
    """Let the method check its full parameters (`check` of its module, if it has one).

    GenerationError, LanguageError: a value that would make the run fail. A plug-in is not loaded: its module may
    import a model library, which a web process must not have.
    """
    entry = lookup(METHODS, method, "method")
    if "tagger" in params:
        check_tagger(params["tagger"])
    if entry.origin:
        return
    module = load(entry)
    if hasattr(module, "check"):
        module.check(dict(params))


def named_filter(message: str) -> str | None:
    """Return the filter that an error message begins with."""
    match = NAMED_FILTER.match(message)
    return match[1] if match else None


def named_parameter(message: str) -> str | None:
    """Return the parameter that an error message names first."""
    match = NAMED.search(message)
    return match[1] if match else None
