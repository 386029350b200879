"""Check the name of a tagger before a job tags with it. Imports no tagger and no lexicon."""

from importlib.util import find_spec

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.language.registry import TAGGERS
from foilworks.core.text.quoting import quoted

# The best first.
SPACY_MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")


class LanguageError(ActionableError):
    """A requested language tool is not available."""


def installed_spacy_model() -> str | None:
    """Return the best installed English spaCy model, found without importing it."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in SPACY_MODELS if find_spec(name) is not None), None)


def check_tagger(name: str) -> None:
    """Raise LanguageError if the tagger is not available; imports and loads nothing."""
    parse_tagger(name)


def parse_tagger(name: str) -> tuple[str, str]:
    """Return the tagger's slug, and its spaCy model or "". LanguageError: it is not available."""
    slug, _, argument = name.partition(":")
    if slug == "auto" and not argument:
        slug = "offline"
    if slug not in TAGGERS or (argument and slug != "spacy"):
        raise LanguageError(f"there is no tagger {quoted(name)}; choose auto, offline, spacy or spacy:MODEL")
    if slug != "spacy":
        return slug, ""
    model = argument or installed_spacy_model()
    if model is None:
        raise LanguageError("no English spaCy model is installed; install en_core_web_sm, or use tagger=offline")
    if find_spec("spacy") is None:
        raise LanguageError("spaCy is not installed; pip install 'foilworks[models]', or use tagger=offline")
    return slug, model
