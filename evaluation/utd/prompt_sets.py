"""Choose the prompts of a description: those of UTD, or a project's own from a file, and where their answer begins."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.score_files.json_records import fail
from evaluation.utd.concepts import ACTIVITIES, DESCRIBE, OBJECTS, PROMPTS, SUMMARY, VERBS, Prompt
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.text.quoting import quoted

# The answer begins after the question (as the authors do), or at the end of the question.
PREFILL, QUESTION = "prefill", "question"
PLACEMENTS = (PREFILL, QUESTION)
ENDPOINT = "endpoint:"
INPUT = "INPUT"
FRAME_PROMPT = "describe"
MAX_LENGTH, MAX_EXAMPLES = 20_000, 20
# The longest answers of the authors, in tokens.
ANSWER_TOKENS = {OBJECTS: 100, ACTIVITIES: 150, VERBS: 150, SUMMARY: 1000}
FIELDS = {"instruction", "answer", "examples"}


def read_prompts(path: Path) -> dict[str, Any]:
    """Return the prompts of a JSON file: {"describe": text, concept: {"instruction", "answer", "examples"}}.

    What the file leaves out is as in UTD. An instruction contains INPUT, where the text is inserted. EvaluationError
    names file and prompt.
    """
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        fail(path, None, "JSON", str(error)[:200], "fix the file")
    if not isinstance(data, dict) or not data or (unknown := sorted(set(data) - {FRAME_PROMPT, *PROMPTS})):
        problem_field = unknown[0] if isinstance(data, dict) and data else "record"
        fail(path, None, problem_field, "is not a prompt", f"name some of {', '.join((FRAME_PROMPT, *PROMPTS))}")
    for name, prompt in data.items():
        if name == FRAME_PROMPT:
            _check_text(path, name, prompt)
        elif not isinstance(prompt, dict) or set(prompt) - FIELDS or not prompt:
            fail(path, None, name, "is not a prompt", f"write an object with some of {', '.join(sorted(FIELDS))}")
        else:
            _check_prompt(path, name, prompt)
    return data


def _check_prompt(path: Path, name: str, prompt: Mapping[str, Any]) -> None:
    for field in ("instruction", "answer"):
        if field in prompt:
            _check_text(path, f"{name}.{field}", prompt[field])
    if INPUT not in prompt.get("instruction", INPUT):
        fail(path, None, f"{name}.instruction", f"has no {INPUT}", f"write {INPUT} where the text is inserted")
    examples = prompt.get("examples", [])
    if not isinstance(examples, list) or len(examples) > MAX_EXAMPLES:
        fail(path, None, f"{name}.examples", "is not a list", f"give at most {MAX_EXAMPLES} pairs [text, answer]")
    for pair in examples:
        if not isinstance(pair, list) or len(pair) != len(("text", "answer")):
            fail(path, None, f"{name}.examples", "has something other than a pair", "write [text, answer]")
        for text in pair:
            _check_text(path, f"{name}.examples", text)


def _check_text(path: Path, name: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_LENGTH:
        fail(path, None, name, "is not a text", f"write 1 to {MAX_LENGTH} characters")


def asked_by(prompts: Mapping[str, Any], placement: str) -> dict[str, Any]:
    """Return own prompts and the placement as parameters of a description; an empty placement depends on the model.

    EvaluationError: an unknown placement.
    """
    if placement and placement not in PLACEMENTS:
        raise EvaluationError(f"{quoted(placement)} is not a placement; choose one of: {', '.join(PLACEMENTS)}")
    return {**({"prompts": dict(prompts)} if prompts else {}), **({"placement": placement} if placement else {})}


def prompt_of(params: Mapping[str, Any], concept: str) -> Prompt:
    """Return the prompt of a concept under the parameters of a description."""
    own = params.get("prompts", {}).get(concept, {})
    values = {name: own[name] for name in ("instruction", "answer") if name in own}
    if "examples" in own:
        values["examples"] = tuple((text, answer) for text, answer in own["examples"])
    return replace(PROMPTS[concept], **values)


def describe_prompt(params: Mapping[str, Any]) -> str:
    """Return the question about a frame."""
    return str(params.get("prompts", {}).get(FRAME_PROMPT, DESCRIBE))


def conversation(params: Mapping[str, Any], model: str, concept: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return the turns of a question. Local models continue the start of the answer; endpoints often cannot."""
    placement = params.get("placement") or (QUESTION if model.startswith(ENDPOINT) else PREFILL)
    prompt = prompt_of(params, concept)
    return tuple(prompt.turns(text) if placement == PREFILL else prompt.turns_for_endpoint(text))


def tokens_of(params: Mapping[str, Any], concept: str) -> int:
    """Return the longest answer in tokens; descriptions of earlier versions have one limit for all."""
    return int(params.get("answer_tokens", {}).get(concept, params["max_tokens"]))


def facts_of_prompts(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what texts depend on besides the version of the built-in prompts, for their source."""
    own, placement = params.get("prompts"), params.get("placement")
    digest = hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:16]
    return {**({"own_prompts": digest} if own else {}), **({"placement": placement} if placement else {})}
