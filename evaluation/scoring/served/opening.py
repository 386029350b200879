"""Open the endpoint that a run names: its options, one test question, and the key of its scores."""

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from evaluation.errors import EvaluationError
from evaluation.scoring.models import Run, RunUsage
from evaluation.scoring.served.questions import TOP_LOGPROBS, Asking
from evaluation.scoring.served.served_model import ServedModel
from evaluation.scoring.served.specs import DEFAULTS, LOGPROBS, SAMPLES, Mode, ServedSpec, served_spec
from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.catalogue.thinking import ANSWER_TOKENS, OFF, SAMPLING_TEMPERATURE
from foilworks.core.hub.interfaces import ChatRequest, ModelInfo, ScoreKind
from foilworks.core.hub.served.prompts import CHOOSE, MATCHES, PROMPTS, lettered
from foilworks.core.hub.served.readings import READINGS
from generation.instruction_models.answer_rows import PricedAnswers, budget_left
from generation.instruction_models.cached_answers import Asking as StoredAsking
from generation.instruction_models.endpoints import Configured, find_endpoint

TRIES = 6
TIMEOUT = 120.0
PROBE = "Is this picture grey? Answer with yes or no."
PROBE_SIZE = (64, 64)


@dataclass(frozen=True)
class Served:
    """How a run queries an endpoint."""

    model: ServedModel
    answers: PricedAnswers
    usage: RunUsage
    facts: Mapping[str, Any]


def open_served(run: Run, notice: Callable[[str], None]) -> Served:
    """Open the model of `endpoint:NAME/MODEL`, and test once whether it reads images and gives log-probabilities.

    `notice` is called with a sentence when the endpoint gives no answer and is tried again. A continued run uses its
    first settings. EvaluationError, GenerationError, HubError: there is no such endpoint, or it cannot answer.
    """
    spec = served_spec(run.spec)
    endpoint = find_endpoint(spec.endpoint)
    usage = _usage(run, endpoint)
    chat = _chat(run, spec, endpoint, usage, notice)
    if "served" not in run.params:
        notice(f"asking the model: {chat.info.model_id}")
    facts = run.params.get("served") or _probed(chat, spec, endpoint)
    by_probability = facts["by"] == LOGPROBS
    n_samples = spec.samples(by_probability)
    temperature = spec.thinking.temperature
    asking = Asking(
        spec.mode,
        by_probability=by_probability,
        samples=n_samples,
        max_tokens=spec.thinking.budget,
        as_video=spec.as_video,
        temperature=(SAMPLING_TEMPERATURE if n_samples > 1 else 0.0) if temperature is None else temperature,
        min_mass=spec.thinking.min_mass,
        fields=spec.thinking.request_fields,
        may_think=spec.thinking.thinking != OFF,
    )
    chat.info = ModelInfo(
        chat.info.model_id, f"{endpoint.url} {facts['version']}".strip(), ScoreKind.P_YES, needs_video=False
    )
    answers = PricedAnswers(usage, int, endpoint.price, stores_refusals=True)
    info = ModelInfo(
        chat.info.model_id,
        _revision(spec, endpoint, facts),
        ScoreKind.P_YES,
        frames=spec.frames,
        by_item=asking.by_item,
        card={"category": "video", **({"fps": spec.fps} if spec.fps else {})},
    )
    return Served(ServedModel(info, asking, StoredAsking(chat, answers), spec.side, spec.form), answers, usage, facts)


def _usage(run: Run, endpoint: Configured) -> RunUsage:
    return RunUsage.objects.get_or_create(run=run, defaults={"currency": endpoint.currency[:20]})[0]


def _chat(
    run: Run, spec: ServedSpec, endpoint: Configured, usage: RunUsage, notice: Callable[[str], None]
) -> ChatEndpoint:
    budget = budget_left(run.params.get("budget", {}), usage, endpoint.price)
    patience = RetryPolicy(TRIES, TIMEOUT, endpoint.in_flight)
    return ChatEndpoint(Endpoint(endpoint.name, endpoint.url, spec.model, endpoint.key), patience, budget, notice)


def _probed(chat: ChatEndpoint, spec: ServedSpec, endpoint: Configured) -> dict[str, Any]:
    """Ask one question about a grey picture: which version answers, and does it give log-probabilities?"""
    picture = io.BytesIO()
    Image.new("RGB", PROBE_SIZE, "grey").save(picture, "JPEG")
    images = (picture.getvalue(),) * (2 if spec.as_video else 1)
    top = 0 if spec.by == SAMPLES else TOP_LOGPROBS
    request = ChatRequest(
        (("user", PROBE),),
        max_tokens=spec.thinking.budget,
        images=images,
        as_video=spec.as_video,
        top_logprobs=top,
        fields=spec.thinking.request_fields,
    )
    ((_, reply),) = next(chat.replies([request]))
    if reply.failure and not reply.refusal and reply.failure != "empty answer":
        raise EvaluationError(f"endpoint {endpoint.name}: {_no_answer(endpoint.name, reply.failure, chat)}")
    if spec.thinking.thinking == OFF and reply.thought_tokens:
        raise EvaluationError(
            f"endpoint {endpoint.name}: {spec.model} thinks before it answers ({reply.thought_tokens} tokens), "
            "although thinking=off; name the switch of its template with chat_template_kwargs=, or use thinking=read "
            "or thinking=logprobs"
        )
    gives = bool(reply.logprobs)
    if spec.by == LOGPROBS and not gives:
        raise EvaluationError(
            f"endpoint {endpoint.name}: {spec.model} gives no log-probabilities of its answer; use thinking=read for a "
            f"model that thinks, otherwise leave out by={LOGPROBS}, or choose by={SAMPLES}"
        )
    n_samples = spec.samples(gives)
    version = "" if reply.revision == spec.model[: len(reply.revision)] else reply.revision
    return {
        "endpoint": endpoint.name,
        "model": spec.model,
        "version": version,
        "mode": spec.mode.value,
        "by": LOGPROBS if gives else SAMPLES,
        "samples": n_samples if n_samples > 1 else 0,
        "frames": spec.frames,
        "prompts": PROMPTS,
        "readings": READINGS,
        "prompt": MATCHES.format("…") if spec.mode == Mode.P_YES else CHOOSE.format(lettered(["…", "…"])),
    }


def _no_answer(name: str, failure: str, chat: ChatEndpoint) -> str:
    """Say whether the server is away, fails, or rejects the picture, and what to do."""
    if failure.startswith(("no connection", "timed out")):
        return f"it cannot be reached ({failure}); start its server, or correct CHAT_{name.upper()}_URL, then try again"
    if failure.startswith("4") and not failure.startswith("429"):
        return f"it rejects a test question with a picture ({failure}); choose a model that reads pictures"
    return f"it fails on a test question with a picture ({chat.last_failure}); repair it, then try again"


def _revision(spec: ServedSpec, endpoint: Configured, facts: Mapping[str, Any]) -> str:
    """Return what the scores depend on. The address is hashed, because exports contain the key."""
    where = hashlib.sha256(endpoint.url.encode()).hexdigest()[:8]
    thinking = spec.thinking
    # Samples and budget have names of their own since the first version.
    thinking_key = replace(thinking, samples=0, max_tokens=thinking.max_tokens if thinking.thinks else 0).key()
    fields = {
        "at": where,
        "mode": spec.mode.value,
        "by": facts["by"],
        **({"samples": facts["samples"]} if facts["samples"] else {}),
        "frames": spec.frames,
        **({"fps": f"{spec.fps:g}"} if spec.fps else {}),
        "side": spec.side,
        **({"as": "video"} if spec.as_video else {}),
        **({"form": spec.form} if spec.form != DEFAULTS.form else {}),
        **({"max_tokens": thinking.budget} if thinking.budget != ANSWER_TOKENS and not thinking.thinks else {}),
        "prompts": facts["prompts"],
        # Runs that began before readings had versions have none.
        **({"readings": facts["readings"]} if "readings" in facts else {}),
    }
    listed_fields = " ".join(f"{name}={value}" for name, value in fields.items())
    return f"{facts['version']} {listed_fields}{thinking_key}".strip()
