"""Open the instruction model and the prompt of a method or caption maker.

Only jobs and commands import this: it opens models.
"""

from collections.abc import Callable, Mapping
from typing import Any

from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.catalogue.registry import CHAT
from foilworks.core.hub.interfaces import Chat
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.served.budget import Budget
from foilworks.core.projects.models import Project
from generation.instruction_models import endpoints
from generation.instruction_models.cached_answers import Answers, Asking
from generation.instruction_models.prompt_rows import find_prompt


def services(
    module: Any,
    params: Mapping[str, Any],
    answers: Answers,
    *,
    project: Project | None,
    spent: tuple[int, int] = (0, 0),
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Return the model and prompt of a module, {} if it uses none. `spent`: (requests, tokens) already used.

    `notice` is called with a sentence when an endpoint gives no answer and is tried again.
    GenerationError, HubError: an unknown endpoint, prompt or model.
    """
    if not getattr(module, "USES_LLM", False):
        return {}
    checked_params = endpoints.checked(params)
    prompt = find_prompt(checked_params["template"], project)
    return {"asking": Asking(_open(checked_params, spent, notice), answers), "prompt": prompt}


def _open(params: Mapping[str, Any], spent: tuple[int, int], notice: Callable[[str], None] | None) -> Chat:
    if not params["endpoint"]:
        chat: Chat = open_helper(params["model"], CHAT, device=params["device"])
        return chat
    endpoint = endpoints.find_endpoint(params["endpoint"])
    budget = Budget(params["requests"], params["tokens"], spent_requests=spent[0], spent_tokens=spent[1])
    in_flight = min(params["concurrency"], endpoint.in_flight)
    patience = RetryPolicy(params["tries"], float(params["timeout"]), in_flight)
    return ChatEndpoint(Endpoint(endpoint.name, endpoint.url, params["model"], endpoint.key), patience, budget, notice)
