"""Read the small files beside the weights that say how inputs are made, from a folder or the hub."""

import inspect
import json
from pathlib import Path
from typing import Any

import transformers
from transformers import AutoConfig, AutoImageProcessor, AutoProcessor, AutoTokenizer, ProcessorMixin
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING
from transformers.utils import cached_file, is_torchvision_available

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import first_line, model_source
from foilworks.core.hub.loading.trust import allowed

PROCESSOR, VIDEO, IMAGE = "processor_config.json", "video_preprocessor_config.json", "preprocessor_config.json"
VIDEO_PROCESSOR, SOUND_PROCESSOR = "video_processor", "feature_extractor"
LOADERS = {"image_processor": AutoImageProcessor, "tokenizer": AutoTokenizer}
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
    """Load transformers' own processor of pictures and texts; HubError if it cannot be loaded.

    Without torchvision, a processor of pictures and videos is loaded without its part for videos.
    """
    source, revision = model_source(argument)
    # The same pixels with and without torchvision.
    options: dict[str, Any] = {"backend": "pil", **({"revision": revision} if revision else {})}
    try:
        if is_torchvision_available():
            # bandit B615: the options hold the revision if one is named; scores say which was loaded.
            return AutoProcessor.from_pretrained(source, trust_remote_code=allowed().remote_code, **options)  # nosec
        return _without_videos(source, options)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        # A processor that asks for its part for videos fails without one.
        needs = "torchvision" in str(error) or isinstance(error, AttributeError)
        advice = "install torchvision (foilworks[torchvision])" if needs else "copy processor_config.json again"
        raise HubError(f"{argument}: its processor cannot be loaded ({first_line(error)}); {advice}") from error


def _without_videos(source: str, options: dict[str, Any]) -> Any:
    """Load a processor whose part for videos is left out."""
    # bandit B615: see above.
    config = AutoConfig.from_pretrained(source, trust_remote_code=allowed().remote_code, **_revision(options))  # nosec
    name = str(ProcessorMixin.get_processor_dict(source, **_revision(options))[0].get("processor_class", ""))
    processor_class = PROCESSOR_MAPPING.get(type(config), None) or getattr(transformers, name, None)
    if processor_class is None or VIDEO_PROCESSOR not in processor_class.get_attributes():
        return AutoProcessor.from_pretrained(source, trust_remote_code=allowed().remote_code, **options)  # nosec
    loaded_class = pictures_only(processor_class)
    settings, more = loaded_class.get_processor_dict(source, **_revision(options))
    arguments = loaded_class._get_arguments_from_pretrained(source, settings, **options)
    settings = {name: value for name, value in settings.items() if name not in processor_class.get_attributes()}
    return loaded_class.from_args_and_dict(arguments, settings, **more)


def pictures_only(processor_class: Any) -> Any:
    """Return a processor's class that may lack the part for videos, or for sounds."""

    class PicturesOnly(processor_class):  # type: ignore[misc]
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            return None if argument is None else super().check_argument_for_proper_class(argument_name, argument)

        @classmethod
        def _get_arguments_from_pretrained(cls, name: str, _settings: Any = None, **options: Any) -> list[Any]:
            return [
                None if part in (VIDEO_PROCESSOR, SOUND_PROCESSOR) else LOADERS[part].from_pretrained(name, **options)
                for part in processor_class.get_attributes()
            ]

    PicturesOnly.__name__ = processor_class.__name__
    PicturesOnly.__signature__ = inspect.signature(processor_class.__init__)
    return PicturesOnly


def _revision(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name == "revision"}


def chat_template(argument: str, tokenizer: Any) -> str | None:
    """Return the Jinja template of the model's conversations: the tokenizer's own, otherwise the processor's file."""
    if isinstance(tokenizer.chat_template, str):
        return tokenizer.chat_template
    jinja_text = read_text(argument, TEMPLATES[0])
    if jinja_text is not None:
        return jinja_text
    template = (read_json(argument, TEMPLATES[1]) or {}).get("chat_template")
    return template if isinstance(template, str) else None
