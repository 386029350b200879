"""The interface to language tools: a tagger, and the best installed antonyms.

spaCy and nltk are imported on request, never by a web process; nothing is downloaded.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from foilworks.core.text.language import antonyms as own
from foilworks.core.text.language.registry import TAGGERS
from foilworks.core.text.language.tagger_names import parse_tagger
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.wordnet_files import find_wordnet_files
from foilworks.core.text.registry import load

if TYPE_CHECKING:
    from foilworks.core.text.language.wordnet import WordNet


class Tagger(Protocol):
    name: str

    def tag(self, text: str) -> Sequence[Token]:
        """Return the caption's tokens in order, with universal parts of speech."""
        ...


@cache
def tagger(name: str = "auto") -> Tagger:
    """Find a tagger: `offline`, `spacy`, `spacy:MODEL_OR_FOLDER`, or `auto`: the offline rules.

    On published captions the rules find more verbs than en_core_web_sm (docs/reference/methods-language.md).
    LanguageError: it is not available.
    """
    slug, model = parse_tagger(name)
    open_tagger = load(TAGGERS[slug])
    opened: Tagger = open_tagger(model) if model else open_tagger()
    return opened


@cache
def wordnet() -> "WordNet | None":
    """Return WordNet if its files and nltk are installed."""
    path = find_wordnet_files()
    if path is None or find_spec("nltk") is None:
        return None
    from foilworks.core.text.language.wordnet import WordNet

    return WordNet(path)


def antonyms(lemma: str, part_of_speech: str = "VERB") -> tuple[str, ...]:
    """Return words of opposite meaning: those of our list, then those of WordNet if installed; each sorted."""
    first = own.antonyms_of(lemma)
    wordnet_antonyms = wordnet().antonyms(lemma, part_of_speech) if wordnet() else ()  # type: ignore[union-attr]
    return (*first, *(word for word in wordnet_antonyms if word not in first))


def in_use() -> dict[str, str]:
    """Describe the tagger and the source of antonyms in use."""
    reader = wordnet()
    return {
        "tagger": tagger().name,
        "antonyms": f"built-in list, and WordNet at {reader.path}"
        if reader
        else "built-in list (WordNet is not installed)",
    }
