"""Raw sentences of semantic role annotations: "Man in black kicks ninja." from kick.01, Arg0 and Arg1.

The words are the annotators'. The rule adds the verb's ending, a capital letter and a full stop, nothing else.
"""

import re
from collections.abc import Iterator, Mapping

from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.verb_forms import verb_form

# The place of an event names where it happens, not what happens, and often lacks its preposition ("street").
SCENE = "Scene of the Event"
_CORE = re.compile(r"Arg\d\b")
# The words before one of these contain the head of a noun phrase: "people" in "people in a bar".
_AFTER_HEAD = re.compile(r"\s(?:in|on|at|of|with|from|by|to|near|behind|who|that|wearing|holding|sitting|standing)\s")


def sentence_of(verb: str, arguments: Mapping[str, str]) -> str:
    """Write the sentence: the first core argument, the verb in the present, the other arguments in their order. Empty
    arguments and the scene are left out. "" if there is no core argument."""
    named_texts = [(name, text) for name, text in _nonempty_arguments(arguments) if name != SCENE]
    subject = next((text for name, text in named_texts if _CORE.match(name)), "")
    if not subject:
        return ""
    later_texts = [text for _name, text in named_texts]
    later_texts.remove(subject)
    form = verb if _is_plural(subject) else verb_form(verb, "VBZ")
    text = " ".join([subject, form, *later_texts])
    return text[0].upper() + text[1:] + "."


def _nonempty_arguments(arguments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in arguments.items():
        clean = " ".join(text.split()).rstrip(" .,;")
        if clean:
            yield name, clean


def _is_plural(subject: str) -> bool:
    head = _AFTER_HEAD.split(f" {subject.lower()} ")[0].split()
    return " and " in f" {' '.join(head)} " or (bool(head) and is_plural_noun(head[-1]))
