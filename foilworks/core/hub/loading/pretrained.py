"""Load models from a hub id or a local folder through transformers: strict, by name, safetensors only, no foreign code.

A model whose weights are missing, renamed or of another shape would run on random numbers: it is refused with the
names. Tensors that belong to no part of the model are refused too, except the pretraining heads that published
checkpoints carry beside the one that is used here.
"""

import hashlib
import re
from _pickle import UnpicklingError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from huggingface_hub.errors import StrictDataclassError
from huggingface_hub.utils import logging as hub_logging
from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer
from transformers.utils import logging as transformers_logging

from foilworks.core.hub.device import choose_device, choose_dtype
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.trust import allowed

# What transformers raises for a configuration with impossible values.
UNREADABLE = (OSError, ValueError, LookupError, TypeError, ArithmeticError, ImportError, StrictDataclassError)
# What a pickle raises that is damaged, or has more than tensors; nothing of it runs.
PICKLES = (UnpicklingError, EOFError)
# Pretraining heads that other tasks do not use, position tables of old checkpoints, and
# the voice of omni models.
OTHER_HEADS = re.compile(
    r"(^|\.)(pooler\.|seq_relationship\.|sop_classifier\.|position_ids$|cls\.predictions\.|lm_head\.|attn\.bias$|"
    r"attn\.masked_bias$|discriminator_predictions\.|embeddings\.token_type_ids$)|^(talker|token2wav|code2wav)\."
)
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
MAX_NAMES = 5
# Files that a score depends on.
KINDS = frozenset({".json", ".safetensors", ".txt", ".model", ".jinja", ".bin", ".py"})
# A CPU is fastest while a layer's states stay in its cache; a GPU wants many at a time.
TOKENS_PER_BATCH, TOKENS_PER_GPU_BATCH = 2048, 8192
# Files of weights that may lie in a folder without config.json.
WEIGHT_FILES = ("*.bin", "*.bin.*", "*.pt", "*.safetensors")
TRUST = "the project's owner may allow it: foilworks trust --project SLUG --model {model} {option}"
CODE, WEIGHTS = "--remote-code", "--other-weights"
Element = TypeVar("Element")


@dataclass(frozen=True)
class Pretrained:
    """A loaded model in evaluation mode on its device, with its name and the revision of its weights."""

    model: Any
    name: str
    revision: str
    device: torch.device


def load_config(argument: str, *, config_field: str = "") -> Any:
    """Load the configuration, without any weight. HubError: there is none, or transformers does not know its model
    type. `config_field`: the field that describes the part of the model to load, if there is one."""
    source, revision = model_source(argument)
    options: dict[str, Any] = {"revision": revision} if revision else {}
    try:
        # bandit B615: the options hold the revision if one is named; scores say which was loaded.
        config = AutoConfig.from_pretrained(source, trust_remote_code=allowed().remote_code, **options)  # nosec
    except UNREADABLE as error:
        if "does not recognize" in str(error):
            raise HubError(
                f"{argument}: this version of transformers does not know its model type ({first_line(error)}); update "
                "transformers, or serve the model and use an endpoint"
            ) from error
        raise HubError(_why(argument, error, reads_weights=False)) from error
    return getattr(config, config_field, config) if config_field else config


def load_pretrained(
    auto_class: Any, argument: str, *, slug: str, device: str, dtype: str, config: Any = None
) -> Pretrained:
    """Load a hub id, `ID@REVISION`, or a local folder. HubError says in one line what does not fit.

    `config`: the configuration of the model, if it is loaded already.
    """
    if not argument:
        raise HubError(f"'{slug}:' names no model; write {slug}:HUB_ID or {slug}:FOLDER")
    chosen_device, number_format = choose_device(device), choose_dtype(dtype)
    source, revision = model_source(argument)
    options: dict[str, Any] = {"revision": revision} if revision else {}
    trust = allowed()
    # Errors are raised as one line, without retries and progress bars around it.
    transformers_logging.set_verbosity_error()
    hub_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        if config is not None:
            options["config"] = config
        model, info = auto_class.from_pretrained(
            source,
            output_loading_info=True,
            use_safetensors=None if trust.other_weights else True,
            trust_remote_code=trust.remote_code,
            dtype=number_format,
            ignore_mismatched_sizes=True,
            **options,
        )
    except (*UNREADABLE, SafetensorError, RuntimeError, *PICKLES) as error:
        raise HubError(_why(argument, error)) from error
    _refuse_misfits(argument, info)
    if Path(source).is_dir():
        return Pretrained(
            model.to(chosen_device).eval(), Path(source).resolve().name, _folder_revision(Path(source)), chosen_device
        )
    commit = getattr(model.config, "_commit_hash", None) or revision or "main"
    return Pretrained(model.to(chosen_device).eval(), source, str(commit)[:16], chosen_device)


def load_text_model(auto_class: Any, argument: str, *, slug: str, device: str, dtype: str) -> tuple[Pretrained, Any]:
    """Load a model of texts and its tokenizer.

    In a format other than float32, only the body has it. Its last states are converted to float32, because logits in
    bfloat16 tie words that differ by a hundredth of a nat.
    """
    loaded = load_pretrained(auto_class, argument, slug=slug, device=device, dtype="float32")
    number_format = choose_dtype(dtype)
    if number_format != torch.float32:
        _reformat_body(loaded.model, number_format)
    return loaded, load_tokenizer(argument)


def _reformat_body(model: Any, number_format: torch.dtype) -> None:
    body, head = model.base_model, model.get_output_embeddings()
    if body is model:
        raise HubError(f"{model.config.model_type}: its body and its head cannot be separated; leave dtype at float32")
    if head is not None:
        # The head often shares the words' vectors, and it keeps float32.
        head.weight = torch.nn.Parameter(head.weight.detach().clone(), requires_grad=False)
    body.to(number_format)

    def to_float32(module: Any, inputs: Any, output: Any) -> Any:
        for name, value in list(output.items()):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                output[name] = value.float()
        return output

    body.register_forward_hook(to_float32)


def load_tokenizer(argument: str) -> Any:
    """Load the tokenizer beside the weights; HubError if it is missing."""
    require_tokenizer(argument)
    source, revision = model_source(argument)
    options: dict[str, Any] = {"revision": revision} if revision else {}
    try:
        # bandit B615: the options hold the revision if one is named; scores say which was loaded.
        return AutoTokenizer.from_pretrained(source, trust_remote_code=allowed().remote_code, **options)  # nosec
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"{argument}: its tokenizer cannot be loaded ({first_line(error)}); copy its files again"
        raise HubError(why) from error


def require_tokenizer(argument: str) -> None:
    """HubError if a local model folder has no files of a tokenizer."""
    folder = Path(argument)
    # Without its files transformers would make an empty tokenizer, and every word would be unknown.
    if folder.is_dir() and not any(any(folder.glob(name)) for name in TOKENIZER_FILES):
        raise HubError(f"{argument}: its tokenizer is missing; copy tokenizer.json into the folder")


def token_batches(lengths: Sequence[int], device: torch.device, *, budget: int = 0) -> Iterator[list[int]]:
    """Yield indices in batches of similar length, long ones first: rows x longest is within `budget` tokens (0: the
    device's)."""
    budget = budget or (TOKENS_PER_GPU_BATCH if device.type == "cuda" else TOKENS_PER_BATCH)
    batch: list[int] = []
    longest = 0
    for at in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        if batch and (len(batch) + 1) * longest > budget:
            yield batch
            batch = []
        longest = lengths[at] if not batch else longest
        batch.append(at)
    if batch:
        yield batch


def longest_input(tokenizer: Any, config: Any) -> int:
    """Return how many tokens the model accepts, including special ones."""
    text_config = getattr(config, "text_config", None) or config
    n_positions = (
        getattr(text_config, "max_position_embeddings", None) or getattr(text_config, "n_positions", None) or 512
    )
    # RoBERTa's first positions are taken by the padding index.
    if getattr(text_config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
        n_positions -= 2
    return int(min(n_positions, tokenizer.model_max_length, 8192))


def context_length(config: Any) -> int:
    """Return how many tokens a prompt and its answer may have together; 0 if the configuration does not say."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    rope = getattr(text, "rope_parameters", None) or {}
    scaled = rope.get("original_max_position_embeddings", 0) * rope.get("factor", 1) if "factor" in rope else 0
    names = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
    stated = next((length for name in names if isinstance(length := getattr(text, name, None), int)), 0)
    return int(max(stated, scaled or 0))


def distinct(elements: Sequence[Element]) -> tuple[list[Element], list[int]]:
    """Return the distinct elements in order of first occurrence, and for each element its index among them."""
    index_by_element = {element: at for at, element in enumerate(dict.fromkeys(elements))}
    return list(index_by_element), [index_by_element[element] for element in elements]


def model_source(argument: str) -> tuple[str, str]:
    if Path(argument).is_dir():
        return argument, ""
    # A name on the hub has one slash.
    if Path(argument).is_absolute() or argument.startswith(".") or argument.partition("@")[0].count("/") > 1:
        raise HubError(f"{argument}: there is no such model folder; give the folder that holds config.json")
    name, _, revision = argument.partition("@")
    return name, revision


def _why(argument: str, error: Exception, *, reads_weights: bool = True) -> str:
    folder = Path(argument)
    if "custom code" in str(error):
        return f"{argument}: it needs code of its authors, which is not run; {TRUST.format(model='SPEC', option=CODE)}"
    if isinstance(error, ImportError):
        return (
            f"{argument}: the model cannot be loaded ({first_line(error)}); install what it names beside transformers"
        )
    if isinstance(error, PICKLES):
        return (
            f"{argument}: its weights are damaged or contain more than tensors, and nothing of them was run; use "
            "model.safetensors of the same model"
        )
    if not folder.is_dir():
        return (
            f"{argument}: the model cannot be loaded ({first_line(error)}); check its name and the connection, or "
            "give a local folder"
        )
    if not (folder / "config.json").is_file():
        files = sorted(path.name for kind in WEIGHT_FILES for path in folder.glob(kind))
        clip_hint = f", or for a CLIP the file of its weights: clip:{folder / files[0]}" if files else ""
        return f"{folder}: config.json: missing; give the folder that save_pretrained wrote{clip_hint}"
    if reads_weights and not any(folder.glob("*.safetensors")):
        pickled_files = sorted(path.name for path in folder.glob("*.bin"))
        trust_hint = TRUST.format(model="SPEC", option=WEIGHTS)
        pickled_hint = (
            f" ({pickled_files[0]} is not a safetensors file and is not loaded; {trust_hint})" if pickled_files else ""
        )
        return f"{folder}: the weights are missing{pickled_hint}; copy model.safetensors into the folder"
    return f"{folder}: the model cannot be loaded ({first_line(error)}); copy its files again"


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _refuse_misfits(argument: str, info: dict[str, Any]) -> None:
    missing = sorted(info["missing_keys"])
    unexpected = sorted(key for key in info["unexpected_keys"] if not OTHER_HEADS.search(key))
    reshaped = [
        f"{name} is {tuple(shape)}, not {tuple(expected_shape)}"
        for name, shape, expected_shape in sorted(info["mismatched_keys"])
    ]
    reshaped_names = {name for name, _, _ in info["mismatched_keys"]}
    problems = [f"missing {name}" for name in missing if name not in reshaped_names]
    problems += [f"unexpected {name}" for name in unexpected] + reshaped + list(info["error_msgs"])
    if problems:
        omitted = f"; and {len(problems) - MAX_NAMES} more" if len(problems) > MAX_NAMES else ""
        raise HubError(
            f"{argument}: {'; '.join(problems[:MAX_NAMES])}{omitted}; these weights are not of the model that "
            "config.json describes"
        )


def _folder_revision(folder: Path) -> str:
    """Sixteen hex digits of everything in the folder that a score depends on."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in KINDS and path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
