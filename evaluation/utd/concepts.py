"""Extract concepts from descriptions (UTD, Sec. 3.2) with their prompts (UTD, Table F.1), and join frames into one text
(UTD, Secs. 3.3.1 and B.1).

The VLM writes objects+composition+activities; an LLM takes objects and activities out of that, verbs out of the
activities, and for sequences a summary of 15 words out of the description.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

OBJECTS, ACTIVITIES, VERBS, DESCRIPTION = "objects", "activities", "verbs", "objects+composition+activities"
CONCEPTS = (DESCRIPTION, OBJECTS, ACTIVITIES, VERBS)
MIDDLE, MAX_SCORE, AVERAGE, SEQUENCE = "middle", "max", "average", "sequence"
TEMPORAL = (SEQUENCE, AVERAGE, MAX_SCORE, MIDDLE)
# (UTD, Sec. 4.1)
FRAMES = 8
SUMMARY = "summary"
NO_ACTIVITY = "No activity is visible."
# As in (UTD, Table F.1); the text has an apostrophe after "objects" (UTD, Sec. 3.3.1).
DESCRIBE = "Describe the objects relationships in the photo."

_INTRODUCTION = (
    "You are an intelligent chatbot designed to extract requested information from the textual description of an image"
)


@dataclass(frozen=True)
class Prompt:
    """One extraction: `instruction` with INPUT for the text, the start of the answer, our own examples.

    The paper shows 3 examples for objects and activities and 5 for verbs, which it does not print. Ours have the form
    of those in the authors' code: whole descriptions as a VLM writes them, and numbered lists.
    """

    source: str
    instruction: str
    answer: str
    examples: tuple[tuple[str, str], ...] = ()

    def user(self, text: str) -> str:
        """Return the question about one text."""
        return self.instruction.replace("INPUT", text)

    def turns(self, text: str) -> list[tuple[str, str]]:
        """Return the conversation as (role, text): the examples, then the question.

        The last turn is the start of the answer, for models that can continue it; others get it at the end of the
        question (`turns_for_endpoint`).
        """
        turns = []
        for example, answer in self.examples:
            turns += [("user", self.user(example)), ("assistant", f"{self.answer}{answer}")]
        return [*turns, ("user", self.user(text)), ("assistant", self.answer)]

    def turns_for_endpoint(self, text: str) -> list[tuple[str, str]]:
        """Return the same for endpoints that can only answer."""
        turns = []
        for example, answer in self.examples:
            turns += [("user", f"{self.user(example)} {self.answer}"), ("assistant", answer.strip())]
        return [*turns, ("user", f"{self.user(text)} {self.answer}")]

    def printed(self, text: str) -> str:
        """Return the prompt as printed for Mistral-7B-Instruct-v0.2, without examples (UTD, Table F.1)."""
        return f"<s>[INST] {self.user(text)} [/INST] {self.answer}"


PROMPTS: dict[str, Prompt] = {
    OBJECTS: Prompt(
        source=DESCRIPTION,
        instruction=(
            f"{_INTRODUCTION} . I will give you a textual description of the image. List ALL objects visible in the "
            "image. An object is anything that has a fixed shape or form, that you can touch or see. Name each object "
            "with one noun or a maximum of two words. Skip uncertain objects. The textual description of the image: "
            '"INPUT" DO NOT PROVIDE ANY EXTRA INFORMATION ABOUT OBJECT PROPERTIES OR RELATIONSHIPS TO OTHER OBJECTS IN '
            "PARENTHESES. DO NOT PROVIDE ANY OTHER OUTPUT TEXT OR EXPLANATION."
        ),
        answer="Comprehensive enumerated list of objects:",
        examples=(
            (
                (
                    "In the photo, a man in a grey jacket stands at a workbench. He holds a hammer above "
                    "a wooden board, and a jar of nails stands beside it. The arrangement of the tools "
                    "suggests that he is about to nail something together.\n\nBehind the man there is a "
                    "brick wall. There may be a shelf in the corner, but it is too dark to be certain. "
                    "The scene suggests a small workshop."
                ),
                (
                    "\n1. Man\n2. Grey jacket\n3. Workbench\n4. Hammer\n5. Wooden board\n6. Jar\n7. Nails\n8. "
                    "Brick wall\n"
                ),
            ),
            (
                (
                    "In the photo, there are several objects and their relationships:\n\n1. Two children "
                    "are sitting on a carpet.\n2. A wooden train is between them, and one child reaches "
                    "for the engine.\n3. The carpet has a pattern of roads.\n\nThe relationships between "
                    "these objects suggest that the children are playing together."
                ),
                ("\n1. Children\n2. Carpet\n3. Wooden train\n4. Engine\n"),
            ),
            (
                (
                    "The image shows a lake in front of a mountain. A small boat lies at the shore, and "
                    "its bow points to the water. The mountain is reflected in the lake, which adds depth "
                    "to the scene. Nobody is visible, so it is not possible to say who owns the boat."
                ),
                ("\n1. Lake\n2. Mountain\n3. Small boat\n4. Shore\n"),
            ),
        ),
    ),
    ACTIVITIES: Prompt(
        source=DESCRIPTION,
        instruction=(
            f"{_INTRODUCTION} . I will give you a textual description of the image. List all VISIBLE activities in the "
            "image. Activity is lively action or movement. Name each activity with a concise phrase SKIP possible or "
            'implied activities that are not visible. If no activity is visible, reply "No activity is visible." DO '
            "NOT PROVIDE ANY OTHER OUTPUT TEXT OR EXPLANATION. The textual description of the image: "
            '"INPUT"'
        ),
        answer="Comprehensive enumerated list of activities:",
        examples=(
            (
                (
                    "In the photo, a man in a grey jacket stands at a workbench and drives a nail into a "
                    "board with a hammer. His left hand holds the board. The tools around him suggest "
                    "that he may be building a shelf, although the shelf itself is not visible."
                ),
                ("\n1. A man is driving a nail into a board.\n2. A man is holding a board.\n"),
            ),
            (
                (
                    "In the photo, there are several objects and their relationships:\n\n1. Two children "
                    "are sitting on a carpet with a wooden train between them.\n2. One child is pushing "
                    "the engine of the train.\n3. The other child is clapping.\n\nThe relationships suggest "
                    "a cheerful moment at home."
                ),
                ("\n1. A child is pushing a wooden engine.\n2. A child is clapping.\n"),
            ),
            (
                (
                    "The image shows a lake in front of a mountain. A small boat lies at the shore, and "
                    "its bow points to the water. The mountain is reflected in the lake. Nobody is "
                    "visible, and the water is still."
                ),
                ("\nNo activity is visible.\n"),
            ),
        ),
    ),
    VERBS: Prompt(
        source=ACTIVITIES,
        instruction=(
            f"{_INTRODUCTION} . I will give you a list of visible activities of the image. Your task is to delete "
            'information about objects from this description. Replace all objects in this list with "someone" or '
            '"something," but keep the activity. If you have to, you may delete some details, but delete ALL object '
            f'information. If the input is "{NO_ACTIVITY}", keep it "{NO_ACTIVITY}" DO NOT PROVIDE ANY OTHER OUTPUT '
            'TEXT OR EXPLANATION. The list of visible activities: "INPUT"'
        ),
        answer="Post-processed enumerated list of activities:",
        examples=(
            (
                ("1. A man is driving a nail into a board with a hammer.\n2. The man is holding a board.\n"),
                ("1. Someone is driving something into something.\n2. Someone is holding something.\n"),
            ),
            (
                ("1. A child is pushing a wooden engine.\n2. A child is clapping.\n"),
                ("1. Someone is pushing something.\n2. Someone is clapping.\n"),
            ),
            (
                ("1. A woman is pouring milk from a jug into a glass.\n"),
                ("1. Someone is pouring something into something.\n"),
            ),
            (
                ("1. A dog is running across a lawn.\n2. The dog is chasing a ball.\n"),
                ("1. Someone is running.\n2. Someone is chasing something.\n"),
            ),
            (("1. The engine of the train is crossing a bridge.\n"), ("1. Something is crossing something.\n")),
        ),
    ),
    SUMMARY: Prompt(
        source=DESCRIPTION,
        instruction=f'{_INTRODUCTION}. Summarize the following image description in 15 words: "INPUT"',
        answer="15-words summary:",
    ),
}

_NUMBERING = re.compile(r"^\s*\(?\d+\s*[.):]\s*|^\s*[-*•]\s+")
# A search starts at the first of several blanks, not at each of them.
_BRACKETS = re.compile(r"(?<!\s)\s*(\([^()]*\)|\[[^\[\]]*\])")
# Nested brackets, innermost first; deeper ones remain, so that no answer is read a thousand times.
MAX_NESTED_BRACKETS = 10


def entries(answer: str) -> tuple[str, ...]:
    """Return the entries of an enumerated list, without numbers (of any number of digits) and text in brackets (UTD,
    Sec. B.1); () if nothing is visible.
    """
    entry_texts = []
    for line in answer.splitlines():
        text = _NUMBERING.sub("", line)
        for _ in range(MAX_NESTED_BRACKETS):
            text = _BRACKETS.sub("", text)
        text = " ".join(text.split())
        if text and text.rstrip(".").lower() != NO_ACTIVITY.rstrip(".").lower():
            entry_texts.append(text)
    return tuple(entry_texts)


def numbered(answer: str) -> str:
    """Return an enumerated list with its numbers, one entry per line, as prompts for verbs contain it."""
    return "".join(f"{number}. {entry}\n" for number, entry in enumerate(entries(answer), start=1))


def frame_text(concept: str, answer: str) -> str:
    """Return the text of one frame's answer, objects with commas, activities as sentences (UTD, Figs. F.1-F.4).

    If no activity is visible, a single frame says so (`NO_ACTIVITY`).
    """
    if concept in {DESCRIPTION, SUMMARY}:
        return " ".join(answer.split())
    listed_entries = entries(answer)
    if concept == OBJECTS:
        return ", ".join(dict.fromkeys(name.rstrip(".").lower() for name in listed_entries))
    return " ".join(name if name.endswith((".", "!", "?")) else f"{name}." for name in listed_entries) or NO_ACTIVITY


def published_text(concept: str, answer: str) -> str:
    """Return the text of one frame as the authors publish theirs; empty if no activity is visible.

    A text that is not a list does not change. A list loses its numbers and brackets. Repeated objects remain.
    """
    text = answer.strip()
    if concept in {DESCRIPTION, SUMMARY}:
        return text
    if "\n" in text or _NUMBERING.match(text):
        text = (", " if concept == OBJECTS else " ").join(entries(text))
    if text.rstrip(".").lower() == NO_ACTIVITY.rstrip(".").lower():
        return ""
    return text.lower() if concept == OBJECTS else text


def sequence_text(frames: Sequence[str]) -> str:
    """Return the frames of a video as one text (UTD, Sec. 3.3.1): `Frame 1: ... Frame 2: ...`; a frame without a
    visible activity is empty.
    """
    return " ".join(f"Frame {number}: {_visible_text(text)}".rstrip() for number, text in enumerate(frames, start=1))


def coded_sequence_text(frames: Sequence[str]) -> str:
    """Return the frames as in the authors' code: a line `Frame #1: ...` per frame."""
    return "\n".join(f"Frame #{number}: {_visible_text(text)}" for number, text in enumerate(frames, start=1)).strip()


def _visible_text(text: str) -> str:
    return "" if text == NO_ACTIVITY else text
