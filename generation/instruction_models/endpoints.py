"""Read the configured endpoints, and check a run's parameters against them. No model library."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError

# The kind of a model behind an endpoint: "endpoint:NAME/MODEL".
ENDPOINT = "endpoint"
MAX_IN_FLIGHT = 512
# Parameter -> (min, max) of methods and makers that use an instruction model.
BOUNDS = {
    "requests": (0, 10_000_000),
    "tokens": (0, 10_000_000_000),
    "tries": (1, 10),
    "timeout": (1, 600),
    "concurrency": (1, MAX_IN_FLIGHT),
    "max_tokens": (1, 32_768),
    "temperature": (0, 2),
}


@dataclass(frozen=True)
class Configured:
    """An endpoint. `models`: allowed models, the first is the default. `price`: per million tokens in and out.
    `in_flight`: max concurrent requests."""

    name: str
    url: str
    models: tuple[str, ...]
    key: str = field(default="", repr=False)
    price: tuple[float, float] | None = None
    currency: str = ""
    in_flight: int = 64

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the cost of tokens in `currency`, or None if no price is set."""
        if self.price is None:
            return None
        return (prompt_tokens * self.price[0] + completion_tokens * self.price[1]) / 1e6


def configured() -> dict[str, Configured]:
    return {name: Configured(name=name, **row) for name, row in settings.CHAT_ENDPOINTS.items()}


def find_endpoint(name: str) -> Configured:
    """Find an endpoint by name; GenerationError lists the known endpoints."""
    endpoints_by_name = configured()
    if name not in endpoints_by_name:
        hint = (
            f"choose one of: {', '.join(endpoints_by_name)}"
            if endpoints_by_name
            else "no endpoint is configured: set CHAT_ENDPOINTS (docs/how-to/instruction-models.md)"
        )
        raise GenerationError(f"there is no endpoint {quoted(name)}; {hint}")
    return endpoints_by_name[name]


def endpoint_and_model(argument: str) -> tuple[Configured, str]:
    """Parse `NAME/MODEL`, or `NAME` for the endpoint's default model. GenerationError lists the known ones."""
    # Specs of older versions have a colon before the model.
    name, model = re.fullmatch(r"([^/:]*)[/:]?(.*)", argument, re.DOTALL).groups()  # type: ignore[union-attr]
    endpoint = find_endpoint(name)
    if not model:
        return endpoint, endpoint.models[0]
    if model not in endpoint.models:
        raise GenerationError(
            f"endpoint {name}: '{model}' is not one of its models; choose one of: {', '.join(endpoint.models)}"
        )
    return endpoint, model


def asks_a_model(params: Mapping[str, Any]) -> bool:
    """Return whether these parameters belong to something that uses an instruction model."""
    return "endpoint" in params and "template" in params


def checked(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with the endpoint's default model if none is named; GenerationError: an invalid value."""
    for name, (least, most) in BOUNDS.items():
        if name in params and not least <= params[name] <= most:
            raise GenerationError(f"parameter {quoted(name)} is {params[name]}; give a number from {least} to {most}")
    if not params["endpoint"]:
        if not params["model"].strip():
            raise GenerationError(
                "no model is chosen; choose an endpoint, or give a local instruction model as 'model'"
            )
        return dict(params)
    endpoint = find_endpoint(params["endpoint"])
    model = params["model"].strip() or endpoint.models[0]
    if model not in endpoint.models:
        raise GenerationError(
            f"endpoint {endpoint.name}: {quoted(model)} is not one of its models; choose one of: "
            f"{', '.join(endpoint.models)}"
        )
    return {**params, "model": model}
