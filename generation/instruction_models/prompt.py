"""Define a versioned prompt: what a model gets for a caption. Pure."""

import hashlib
import json
from dataclasses import dataclass

Message = tuple[str, str]
Example = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Prompt:
    """A prompt. `question` contains {caption} and may contain {k}; each example is a caption with its answer.

    `makes`: foils, or captions (polish). A project's own prompts make foils. `kind`: the kind of the foils, whose rules
    check each answer (`generation.methods._asked_kinds`).
    """

    slug: str
    version: int
    label: str
    system: str
    question: str
    examples: tuple[Example, ...] = ()
    source: str = ""
    makes: str = "foils"
    kind: str = ""

    @property
    def id(self) -> str:
        return f"{self.slug}@{self.version}"

    @property
    def sha256(self) -> str:
        """Hash the text that a model gets; the label is not part of it."""
        hashed_fields = [self.system, self.question, self.examples]
        return hashlib.sha256(json.dumps(hashed_fields, ensure_ascii=False).encode()).hexdigest()

    def about(self, **values: str) -> tuple[Message, ...]:
        """Return the conversation with these values in place of their names in the question, without examples."""
        question = self.question
        for name, value in values.items():
            question = question.replace(f"{{{name}}}", value)
        return ("system", self.system), ("user", question)

    def messages(self, caption: str, k: int) -> tuple[Message, ...]:
        """Return the conversation: the instruction, a turn per example, the question."""
        messages: list[Message] = [("system", self.system)] if self.system else []
        for text, answers in self.examples:
            messages.append(("user", self._question_text(text, len(answers))))
            messages.append(("assistant", json.dumps({"captions": list(answers)}, ensure_ascii=False)))
        return (*messages, ("user", self._question_text(caption, k)))

    def _question_text(self, caption: str, k: int) -> str:
        # Without str.format: captions and prompts may contain braces.
        return self.question.replace("{k}", str(k)).replace("{caption}", caption)


ANSWER_FORM = (
    'Answer with JSON and nothing else, in this form: {"captions": ["…", "…"]}, '
    "with as many captions as the number says."
)
QUESTION = "Caption: {caption}\nNumber: {k}"
