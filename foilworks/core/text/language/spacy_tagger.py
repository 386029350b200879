"""A spaCy tagger with the common interface. Only its row in the table of taggers imports this module."""

import re
from typing import Any

import spacy

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.quoting import quoted

# spaCy splits words such as "push-up"; we rejoin them, so that all taggers have the same words.
HYPHENED = re.compile(r"(?<![^\W_])[^\W_]++(?:-[^\W_]++)+")
PIPES_NOT_NEEDED = ("ner", "senter")


class SpacyTagger:
    """A loaded spaCy pipeline that tags and lemmatizes."""

    def __init__(self, pipeline: Any, name: str) -> None:
        self.name = f"spaCy {name}"
        self._pipeline = pipeline

    def tag(self, text: str) -> tuple[Token, ...]:
        """Return one token per word or mark, without blanks; offsets are Python string offsets."""
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
    """Return the Penn tag of a verb; VBP counts as the base form."""
    if token.pos_ != "VERB":
        return ""
    return "VB" if token.tag_ == "VBP" else str(token.tag_)


def load_tagger(model: str) -> SpacyTagger:
    """Load the pipeline of an installed model or a folder. ActionableError: it cannot be loaded or does not tag."""
    try:
        pipeline = spacy.load(model, exclude=list(PIPES_NOT_NEEDED))
    except OSError as error:
        raise ActionableError(
            f"spaCy cannot load {quoted(model)}; install it or name its folder as spacy:FOLDER"
        ) from error
    return SpacyTagger(pipeline, str(pipeline.meta.get("name", model)))
