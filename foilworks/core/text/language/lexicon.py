"""Open lemminflect's lexicon of English word forms. The only module that imports lemminflect."""

import importlib.util
import sys
from functools import cache
from types import ModuleType
from typing import Any


@cache
def lemmatizer() -> Any:
    """Return the lemminflect object that looks up what a word can be."""
    _skip_package_file()
    from lemminflect.core.Lemmatizer import Lemmatizer

    return Lemmatizer()


@cache
def inflections() -> Any:
    """Return the lemminflect object that looks up the forms of a lemma."""
    _skip_package_file()
    from lemminflect.core.Inflections import Inflections

    return Inflections()


def _skip_package_file() -> None:
    """Make `lemminflect.core` importable without its package file, which imports spaCy (and so torch)."""
    if "lemminflect" not in sys.modules:
        spec = importlib.util.find_spec("lemminflect")
        if spec is None or spec.submodule_search_locations is None:
            raise ImportError("lemminflect is not installed; install the project's dependencies again")
        package = ModuleType("lemminflect")
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = spec
        sys.modules["lemminflect"] = package
