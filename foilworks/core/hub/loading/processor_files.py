"""Read the small files beside the weights that say how inputs are made, from a folder or the hub."""

import json
from pathlib import Path
from typing import Any

from transformers import AutoProcessor
from transformers.utils import cached_file

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import first_line, model_source
from foilworks.core.hub.loading.trust import allowed

PROCESSOR, VIDEO, IMAGE = "processor_config.json", "video_preprocessor_config.json", "preprocessor_config.json"
TEMPLATES = ("chat_template.jinja", "chat_template.json")


def read_text(argument: str, name: str) -> str | None:
    """Read the file `name` of the model `argument` (hub id, ID@REVISION, folder); None if it does not exist."""
    source, revision = model_source(argument)
    try:
        cached_path = cached_file(
            source,
            name,
            revision=revision or None,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
    except (OSError, ValueError) as error:
        raise HubError(f"{argument}: {name}: cannot be read; copy it again") from error
    return Path(cached_path).read_text(encoding="utf-8") if cached_path else None


def read_json(argument: str, name: str) -> dict[str, Any] | None:
    """Read a file that holds one JSON object, like `read_text`; HubError if it does not."""
    text = read_text(argument, name)
    if text is None:
        return None
    try:
        content = json.loads(text)
    except ValueError as error:
        raise HubError(f"{argument}: {name}: not readable as JSON ({error}); copy it again") from error
    if not isinstance(content, dict):
        raise HubError(f"{argument}: {name}: not a JSON object; copy it again")
    return content


def video_settings(argument: str, media_type: str = "video") -> dict[str, Any]:
    """Return how frames become tensors, in the order in which transformers looks: nested in processor_config.json, the
    video's own file, the image's file; {} if there is none. `media_type` image: only an image's."""
    nested = (read_json(argument, PROCESSOR) or {}).get(f"{media_type}_processor")
    if isinstance(nested, dict):
        return nested
    for name in (VIDEO, IMAGE) if media_type == "video" else (IMAGE,):
        if settings := read_json(argument, name):
            return settings
    return {}


def load_processor(argument: str) -> Any:
    """Load transformers' own processor of pictures and texts; HubError if it cannot be loaded."""
    source, revision = model_source(argument)
    # The same pixels with and without torchvision.
    options: dict[str, Any] = {"backend": "pil", **({"revision": revision} if revision else {})}
    try:
        # bandit B615: the options hold the revision if one is named; scores say which was loaded.
        return AutoProcessor.from_pretrained(source, trust_remote_code=allowed().remote_code, **options)  # nosec
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        why = f"{argument}: its processor cannot be loaded ({first_line(error)}); copy processor_config.json again"
        raise HubError(why) from error


def chat_template(argument: str, tokenizer: Any) -> str | None:
    """Return the Jinja template of the model's conversations: the tokenizer's own, otherwise the processor's file."""
    if isinstance(tokenizer.chat_template, str):
        return tokenizer.chat_template
    jinja_text = read_text(argument, TEMPLATES[0])
    if jinja_text is not None:
        return jinja_text
    template = (read_json(argument, TEMPLATES[1]) or {}).get("chat_template")
    return template if isinstance(template, str) else None
