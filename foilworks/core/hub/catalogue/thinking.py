"""How a model may think before it answers: the same options for local and served models. Imports no torch.

vlm:MODEL?mode=p_yes&thinking=logprobs&max_tokens=2048
endpoint:NAME/MODEL?thinking=read&reasoning_effort=low&temperature=0.6&samples=5
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from foilworks.core.hub.catalogue.options import Decimal, OptionType

# Answer at once; generate a thought and an answer, and read the words; read the probabilities after the thought.
OFF, READ, LOGPROBS = "off", "read", "logprobs"
OPTIONS: Mapping[str, OptionType] = {
    "thinking": (OFF, READ, LOGPROBS),
    "reasoning_effort": ("none", "minimal", "low", "medium", "high", "xhigh"),
    "chat_template_kwargs": dict,
    "temperature": Decimal(0, 2),
    "samples": range(2, 1001),
    "max_tokens": range(1, 131_073),
    "min_mass": Decimal(0, 1),
}
# Tokens of a thought and its answer, and of an answer alone, if nothing else is asked for.
DEFAULT_BUDGET, ANSWER_TOKENS = 4096, 16
SAMPLING_TEMPERATURE = 1.0
# With less, most answers that the model would give name none of the options, as an unparsable sample does. The shares
# would describe a minority of its answers, and an option missing from the reported alternatives could reverse them.
MIN_MASS = 0.5
MAX_JSON_LENGTH = 60
# Parts of a score: tokens of the prompts, of the clips in them, of thoughts and of answers.
TOKEN_COUNTS = ("prompt_tokens", "clip_tokens", "thought_tokens", "answer_tokens")


@dataclass(frozen=True)
class Thinking:
    """`thinking`: one of the modes; "" leaves it to the server. `max_tokens`: the budget of thought and answer; 0 if
    none is named. `samples`: answers per question, 0 if none is named; `temperature`: None if none is named."""

    thinking: str = ""
    reasoning_effort: str = ""
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    temperature: float | None = None
    samples: int = 0
    max_tokens: int = 0
    min_mass: float = MIN_MASS

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Take the options of thinking among those of a model."""
        return cls(**{name: value for name, value in options.items() if name in OPTIONS})

    @property
    def thinks(self) -> bool:
        return self.thinking in (READ, LOGPROBS)

    @property
    def reads_words(self) -> bool:
        """Report whether answers are generated and read by their words."""
        return self.thinking == READ or (self.samples > 0 and not self.thinks)

    @property
    def budget(self) -> int:
        return self.max_tokens or (DEFAULT_BUDGET if self.thinks else ANSWER_TOKENS)

    @property
    def draws(self) -> tuple[int, float]:
        """Return the number of answers per question that are read by their words, and their temperature."""
        n_samples = self.samples or 1
        default_temperature = SAMPLING_TEMPERATURE if n_samples > 1 else 0.0
        return n_samples, default_temperature if self.temperature is None else self.temperature

    @property
    def template_options(self) -> dict[str, Any]:
        """Return what chat templates get: the names by which they switch thoughts on and off, and the effort."""
        switch = {} if not self.thinking else dict.fromkeys(("enable_thinking", "thinking"), self.thinks)
        effort = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        return {**switch, **effort, **self.chat_template_kwargs}

    @property
    def request_fields(self) -> dict[str, Any]:
        """Return the fields of a request to a server, as vLLM, SGLang and OpenAI name them."""
        effort = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        switches = {name: value for name, value in self.template_options.items() if name not in effort}
        temperature = {} if self.temperature is None else {"temperature": self.temperature}
        return {**effort, **temperature, **({"chat_template_kwargs": switches} if switches else {})}

    def key(self, default: str = "") -> str:
        """Return what the scores depend on, as part of a model's key. `default`: the mode that is not named there."""
        defaults = Thinking(thinking=default)
        changed = {name: getattr(self, name) for name in OPTIONS if getattr(self, name) != getattr(defaults, name)}
        if self.thinks:
            changed["max_tokens"] = self.budget
        return "".join(f" {name}={_short(value)}" for name, value in changed.items())


def _short(value: object) -> str:
    if not isinstance(value, Mapping):
        return f"{value:g}" if isinstance(value, float) else str(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return text if len(text) <= MAX_JSON_LENGTH else hashlib.sha256(text.encode()).hexdigest()[:12]
