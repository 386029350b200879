"""The interface to language tools: a tagger, and the best installed antonyms.

spaCy is named by path and imported on request, never by a web process; nothing is downloaded.
"""

import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Protocol

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.language import antonyms as own
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.wordnet import WordNet, find_wordnet
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import Entry, load

TAGGERS: dict[str, Entry] = {
    "offline": Entry(
        label="Offline rules",
        path="foilworks.core.text.language.offline:OfflineTagger",
        summary="rules for captions over lemminflect's lexicon; needs no model",
    ),
    "spacy": Entry(
        label="spaCy",
        path="foilworks.core.text.language.spacy_tagger:load_tagger",
        summary="a spaCy pipeline: the largest installed English model, or the model after the colon",
    ),
}
# The best first.
SPACY_MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")


class LanguageError(ActionableError):
    """A requested language tool is not available."""


class Tagger(Protocol):
    name: str

    def tag(self, text: str) -> Sequence[Token]:
        """Return the caption's tokens in order, with universal parts of speech."""
        ...


def installed_spacy_model() -> str | None:
    """Return the best installed English spaCy model, found without importing it."""
    if importlib.util.find_spec("spacy") is None:
        return None
    return next((name for name in SPACY_MODELS if importlib.util.find_spec(name) is not None), None)


@cache
def tagger(name: str = "auto") -> Tagger:
    """Find a tagger: `offline`, `spacy`, `spacy:MODEL_OR_FOLDER`, or `auto`: the offline rules.

    On published captions the rules find more verbs than en_core_web_sm (docs/reference/methods-language.md).
    LanguageError: it is not available.
    """
    slug, model = _resolved(name)
    made: Tagger = load(TAGGERS[slug])(model) if model else load(TAGGERS[slug])()
    return made


def check_tagger(name: str) -> None:
    """Raise LanguageError if the tagger is not available; imports and loads nothing."""
    _resolved(name)


def _resolved(name: str) -> tuple[str, str]:
    """Return the tagger's slug, and its spaCy model or ""."""
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
    if importlib.util.find_spec("spacy") is None:
        raise LanguageError("spaCy is not installed; pip install 'foilworks[models]', or use tagger=offline")
    return slug, model


@cache
def wordnet() -> WordNet | None:
    """Return WordNet if its files are installed."""
    return find_wordnet()


def antonyms(lemma: str, part: str = "VERB") -> tuple[str, ...]:
    """Return words of opposite meaning: those of our list, then those of WordNet if installed; each sorted."""
    first = own.antonyms_of(lemma)
    more = wordnet().antonyms(lemma, part) if wordnet() else ()  # type: ignore[union-attr]
    return (*first, *(word for word in more if word not in first))


def in_use() -> dict[str, str]:
    """Describe the tagger and the source of antonyms in use."""
    found = wordnet()
    return {
        "tagger": tagger().name,
        "antonyms": f"built-in list, and WordNet at {found.folder}"
        if found
        else "built-in list (WordNet is not installed)",
    }
