"""spaCy behind the door's interface. spaCy is imported by path: who only tags offline never loads it."""

import importlib
import re
from typing import Any

from text.errors import ActionableError
from text.language.tokens import Token
from text.quoting import quoted

# spaCy's own split of "push-up" and the like is undone, so that words are the same whatever tags them.
HYPHENED = re.compile(r"(?<![^\W_])[^\W_]++(?:-[^\W_]++)+")
PIPES_NOT_NEEDED = ("ner", "senter")


class SpacyTagger:
    """A loaded pipeline that tags and lemmatises."""

    def __init__(self, pipeline: Any, name: str) -> None:
        self.name = f"spaCy {name}"
        self._pipeline = pipeline

    def tag(self, text: str) -> tuple[Token, ...]:
        """One token a word or mark, blanks left out; offsets are Python string offsets."""
        document = self._pipeline(text)
        with document.retokenize() as merging:
            for match in HYPHENED.finditer(text):
                span = document.char_span(*match.span())
                if span is not None and len(span) > 1:
                    last = span[-1]
                    merging.merge(span, attrs={"LEMMA": span.text.lower(), "POS": last.pos, "TAG": last.tag})
        return tuple(
            Token(
                token.idx,
                token.idx + len(token.text),
                token.text,
                token.pos_ or "X",
                (token.lemma_ or token.text).lower(),
                _tag(token),
            )
            for token in document
            if not token.is_space
        )


def _tag(token: Any) -> str:
    """The Penn tag of a verb; VBP is a plain form here."""
    if token.pos_ != "VERB":
        return ""
    return "VB" if token.tag_ == "VBP" else str(token.tag_)


def load_tagger(model: str) -> SpacyTagger:
    """The pipeline of an installed model or a folder. ActionableError where it cannot be loaded or does not tag."""
    spacy = importlib.import_module("spacy")
    try:
        pipeline = spacy.load(model, exclude=list(PIPES_NOT_NEEDED))
    except OSError as error:
        raise ActionableError(
            f"spaCy cannot load {quoted(model)}; install it or name its folder as spacy:FOLDER"
        ) from error
    return SpacyTagger(pipeline, str(pipeline.meta.get("name", model)))
