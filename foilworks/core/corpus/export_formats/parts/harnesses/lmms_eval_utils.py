"""The functions that the task files of this folder name (lmms-eval)."""

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clips import clip_of
from model_answers import read_answer

QUESTION = "Which sentence is true of the video?"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def clip(doc):
    return [clip_of(doc)]


def no_clip(doc):
    return []


def question(doc, lmms_eval_specific_kwargs=None):
    options = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, doc["options"]))
    return f"{QUESTION}\n{options}\nAnswer with the letter of the sentence."


def describe(doc, lmms_eval_specific_kwargs=None):
    return "Describe the video in one sentence."


def options(doc):
    return doc["options"]


def answer(doc):
    return LETTERS.index(doc["answer"])


def chosen(doc, results):
    """Credit the right option. An unreadable answer is counted apart, and is wrong in `accuracy`."""
    reading = read_answer(results[0], doc["options"])
    right = reading.option == answer(doc)
    return {"accuracy": float(right), "unreadable": float(reading.option is None), "item": doc["id"]}


def likeliest(doc, results):
    """Credit the caption if it is the likeliest text; a tie among n texts counts 1/n.

    Most models of lmms-eval return the mean loss, a few the log-likelihood: losses are positive and better if lower.
    """
    values = [number_of(value) for value in results]
    scores = [-value for value in values] if min(values) >= 0 else values
    tied = [option_index for option_index, score in enumerate(scores) if score == max(scores)]
    return {"accuracy": float(answer(doc) in tied) / len(tied), "item": doc["id"]}


def number_of(value):
    """Return the number of (number, greedy), which lmms-eval 0.7 turns into a text."""
    value = ast.literal_eval(value) if isinstance(value, str) else value
    return float(value[0] if isinstance(value, (tuple, list)) else value)


def mean(values):
    return sum(values) / len(values)


def count(values):
    """Count the items. The metric `item` writes their ids into the log, which leaves the records out."""
    return len(values)
