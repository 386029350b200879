"""Load CLIP from files of weights as OpenAI, open_clip and CLIP4Clip (meanP) publish them.

Such a file says its sizes by the shapes of its tensors, but names neither its activation nor its tokenizer. OpenAI's
and CLIP4Clip's have quick_gelu; an open_clip file needs open_clip_config.json beside it, or the option `activation`.
"""

import hashlib
import json
import re
from _pickle import UnpicklingError
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import CLIPConfig, CLIPModel

from foilworks.core.hub.device import choose_device, choose_dtype
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import (
    TOKENIZER_FILES,
    TRUST,
    WEIGHTS,
    Pretrained,
    first_line,
    load_tokenizer,
)
from foilworks.core.hub.loading.torchscript_files import is_torchscript, read_torchscript
from foilworks.core.hub.loading.trust import allowed
from foilworks.core.text.quoting import quoted

# What libraries raise for a file that is cut off or of another kind.
BROKEN = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    BadZipFile,
    SafetensorError,
    UnpicklingError,
)
# Options of a file, which a folder does not take.
OPTIONS: dict[str, type | range] = {"activation": str, "tokenizer": str}
ACTIVATIONS = ("quick_gelu", "gelu")
# All files of OpenAI, and nearly all of open_clip, share its vocabulary.
TOKENIZER = "openai/clip-vit-base-patch32"
OPEN_CLIP_CONFIG = "open_clip_config.json"
MEAN, STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
# Numbers that OpenAI stores among the weights.
OPENAI_SIZES = frozenset({"input_resolution", "context_length", "vocab_size"})
# The mask of a text's later tokens, which a TorchScript archive holds as well: it is always the same.
MASK = re.compile(r"(^|\.)attn_mask$")
WRAPPERS = ("module.", "clip.")
# A key that only CLIP4Clip's files have, and the frames of its published runs on short clips: --max_frames 12
# (--slice_framepos 2, evenly over the clip), for MSR-VTT, MSVD and LSMDC. DiDeMo and ActivityNet have 64.
CLIP4CLIP_KEY, CLIP4CLIP_FRAMES = "clip.visual.conv1.weight", 12
NESTED = ("state_dict", "model_state_dict")
# Heads of CLIP4Clip that compute more than the mean over frames, by the beginning of their keys. seqLSTM has the
# others' position embeddings as well, so it comes first.
CLIP4CLIP_HEADS = {"tightTransf": "cross.", "seqLSTM": "lstm_visual.", "seqTransf": ""}
HEAD_KEYS = ("cross.", "similarity_dense.", "lstm_visual.", "transformerClip.", "frame_position_embeddings.")
# Widths of open_clip's towers whose heads are not 64 wide: ViT-H, ViT-g, ViT-bigG.
HEAD_WIDTHS = {1280: 80, 1408: 88, 1664: 104}
# What open_clip_config.json may say without another computation than the one here.
KNOWN_FIELDS = {
    "model_cfg": {"embed_dim", "quick_gelu", "vision_cfg", "text_cfg"},
    "vision_cfg": {"image_size", "layers", "width", "patch_size", "head_width", "mlp_ratio"},
    "text_cfg": {"context_length", "vocab_size", "width", "heads", "layers", "mlp_ratio"},
}
VISION, TEXT = "vision_model.encoder.layers", "text_model.encoder.layers"
TOP = {
    "logit_scale": "logit_scale",
    "visual.class_embedding": "vision_model.embeddings.class_embedding",
    "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
    "visual.ln_pre.weight": "vision_model.pre_layrnorm.weight",
    "visual.ln_pre.bias": "vision_model.pre_layrnorm.bias",
    "visual.ln_post.weight": "vision_model.post_layernorm.weight",
    "visual.ln_post.bias": "vision_model.post_layernorm.bias",
    "visual.proj": "visual_projection.weight",
    "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
    "positional_embedding": "text_model.embeddings.position_embedding.weight",
    "ln_final.weight": "text_model.final_layer_norm.weight",
    "ln_final.bias": "text_model.final_layer_norm.bias",
    "text_projection": "text_projection.weight",
}
# Stored the other way round.
TURNED = frozenset({"visual.proj", "text_projection"})
LAYER = {
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "attn.out_proj": "self_attn.out_proj",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
}
IN_PROJECTION, PROJECTIONS = "attn.in_proj_", ("q_proj", "k_proj", "v_proj")


@dataclass(frozen=True)
class Checkpoint:
    """A loaded file: the model, its tokenizer, and how its pictures are made, as preprocessor_config.json says it.

    `frames`: how many its authors take of a clip; None if the file is of no known training on clips.
    """

    loaded: Pretrained
    tokenizer: Any
    settings: dict[str, Any]
    frames: int | None


def load_checkpoint(path: Path, options: Mapping[str, Any], *, device: str, dtype: str) -> Checkpoint:
    """Load the file. HubError names every key that is missing or unexpected, or says what the file does not tell."""
    tensors = _read(path)
    state = _unwrapped(tensors)
    description = _open_clip_config(path)
    config = _config(path, state, description.get("model_cfg", {}), options)
    model = CLIPModel(config)
    model.load_state_dict(_converted(path, state, model))
    tokenizer = _tokenizer(path, options, config)
    revision = _revision(path, config, tokenizer)
    chosen_device, number_format = choose_device(device), choose_dtype(dtype)
    loaded = Pretrained(model.to(number_format).to(chosen_device).eval(), path.name, revision, chosen_device)
    frames = CLIP4CLIP_FRAMES if CLIP4CLIP_KEY in tensors else None
    return Checkpoint(loaded, tokenizer, _settings(path, description.get("preprocess_cfg", {}), config), frames)


def _read(path: Path) -> dict[str, Tensor]:
    """Return the tensors of the file; only safetensors without the permission of the project's owner."""
    is_safetensors = path.suffix == ".safetensors"
    if not is_safetensors and not allowed().other_weights:
        trust_hint = TRUST.format(model=f"clip:{path}", option=WEIGHTS)
        raise HubError(f"{path.name} is not a safetensors file and is not loaded; {trust_hint}")
    try:
        content = load_file(path) if is_safetensors else _other_weights(path)
    except BROKEN as error:
        raise HubError(f"{path}: its weights cannot be read ({first_line(error)}); copy the file again") from error
    content = next((content[name] for name in NESTED if isinstance(content, dict) and name in content), content)
    if (
        not isinstance(content, dict)
        or not content
        or not all(isinstance(tensor, Tensor) for tensor in content.values())
    ):
        raise HubError(f"{path}: holds no tensors by name; give the file that was saved from state_dict()")
    return dict(content)


def _other_weights(path: Path) -> Any:
    if is_torchscript(path):
        return read_torchscript(path)
    # bandit B614: nothing but tensors and plain containers is made.
    return torch.load(path, map_location="cpu", weights_only=True)  # nosec


def _unwrapped(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the state without the prefix that a wrapper gave to the keys of the model."""
    unwrapped = {name: value for name, value in state.items() if not MASK.search(name)}
    for wrapper in WRAPPERS:
        if f"{wrapper}visual.conv1.weight" in unwrapped:
            unwrapped = {name.removeprefix(wrapper): value for name, value in unwrapped.items()}
    return unwrapped


def _converted(path: Path, state: Mapping[str, Tensor], model: CLIPModel) -> dict[str, Tensor]:
    """Return the state by transformers' names. HubError names every key that does not match."""
    target_names = _targets(model.config)
    file_names = set(state) - OPENAI_SIZES
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    converted: dict[str, Tensor] = {}
    reshaped = []
    for name in sorted(file_names & set(target_names)):
        value = state[name].T if name in TURNED else state[name]
        for target, piece in zip(
            target_names[name], value.chunk(len(target_names[name])) if value.ndim else (value,), strict=False
        ):
            converted[target] = piece.float()
            if tuple(piece.shape) != shapes[target]:
                reshaped.append(f"{name} is {tuple(piece.shape)}, not {shapes[target]}")
    problems = [f"missing {name}" for name in _ranges(set(target_names) - file_names)]
    problems += [f"unexpected {name}" for name in _ranges(file_names - set(target_names))] + reshaped
    if problems:
        _refuse_other_heads(path, problems)
        raise HubError(
            f"{path}: {'; '.join(problems)}; give the weights of a CLIP with a vision transformer (of CLIP4Clip: meanP)"
        )
    return converted


def _refuse_other_heads(path: Path, problems: Sequence[str]) -> None:
    """Raise HubError if nothing but another head of CLIP4Clip does not match: its keys would be a long list."""
    names = [problem.removeprefix("unexpected ") for problem in problems]
    if all(name.startswith(HEAD_KEYS) for name in names):
        head = next(head for head, first in CLIP4CLIP_HEADS.items() if any(name.startswith(first) for name in names))
        raise HubError(
            f"{path}: is CLIP4Clip with the head {head}, of which only meanP is read; give a file trained with "
            "--sim_header meanP, or run its authors' code as external:FOLDER"
        )


def _targets(config: CLIPConfig) -> dict[str, tuple[str, ...]]:
    """Return for every key of the file its names in transformers, three where a tensor holds three."""
    targets = {name: (target,) for name, target in TOP.items()}
    towers = (("visual.transformer", VISION, config.vision_config), ("transformer", TEXT, config.text_config))
    for source, target, tower in towers:
        for layer, kind in ((at, kind) for at in range(tower.num_hidden_layers) for kind in ("weight", "bias")):
            before, after = f"{source}.resblocks.{layer}", f"{target}.{layer}"
            targets |= {
                f"{before}.{file_name}.{kind}": (f"{after}.{target_name}.{kind}",)
                for file_name, target_name in LAYER.items()
            }
            split = tuple(f"{after}.self_attn.{projection}.{kind}" for projection in PROJECTIONS)
            targets[f"{before}.{IN_PROJECTION}{kind}"] = split
    return targets


def _ranges(names: Iterable[str]) -> list[str]:
    """Return the names, those that differ only in their layer as one: "transformer.resblocks.0-11.ln_1.weight"."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    single_names = []
    for name in names:
        match = re.fullmatch(r"(.*?\.)(\d+)(\..*)", name)
        if match:
            groups[match[1], match[3]].append(int(match[2]))
        else:
            single_names.append(name)
    layer_ranges = [f"{before}{_run(numbers)}{after}" for (before, after), numbers in groups.items()]
    return sorted(chain(single_names, layer_ranges))


def _run(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    if len(numbers) == high - low + 1:
        return f"{low}-{high}" if high > low else str(low)
    return ",".join(map(str, sorted(numbers)))


def _config(
    path: Path, state: Mapping[str, Tensor], description: Mapping[str, Any], options: Mapping[str, Any]
) -> CLIPConfig:
    """Return the model's sizes, from the shapes of its tensors."""
    required_names = (
        "visual.conv1.weight",
        "visual.positional_embedding",
        "token_embedding.weight",
        "positional_embedding",
    )
    missing = [name for name in (*required_names, "text_projection", "visual.proj") if name not in state]
    if missing:
        unknown = set(state)
        if len(missing) < len(required_names):
            towers = {
                kind: {"num_hidden_layers": _layers(state, name, 0)["num_hidden_layers"]}
                for kind, name in (("vision_config", "visual.transformer"), ("text_config", "transformer"))
            }
            expected_names = set(_targets(CLIPConfig(**towers)))
            unknown, missing = set(state) - OPENAI_SIZES - expected_names, _ranges(expected_names - set(state))
        problems = [f"missing {name}" for name in missing] + [f"unexpected {name}" for name in _ranges(unknown)]
        raise HubError(f"{path}: {'; '.join(problems)}; give the weights of a CLIP with a vision transformer")
    patches, vocabulary = state["visual.conv1.weight"], state["token_embedding.weight"]
    width, patch = patches.shape[0], patches.shape[-1]
    activation = _activation(path, state, description, options)
    vision = {
        "hidden_size": width,
        "patch_size": patch,
        "image_size": round((len(state["visual.positional_embedding"]) - 1) ** 0.5) * patch,
        "num_attention_heads": _heads(width, description.get("vision_cfg", {})),
        **_layers(state, "visual.transformer", width),
        "hidden_act": activation,
    }
    text = {
        "hidden_size": vocabulary.shape[1],
        "vocab_size": vocabulary.shape[0],
        "max_position_embeddings": len(state["positional_embedding"]),
        "num_attention_heads": description.get("text_cfg", {}).get("heads") or max(1, vocabulary.shape[1] // 64),
        **_layers(state, "transformer", vocabulary.shape[1]),
        "hidden_act": activation,
        # transformers' number for OpenAI's rule: the vector of the last token, the one with the highest id.
        "eos_token_id": 2,
        "bos_token_id": vocabulary.shape[0] - 2,
    }
    return CLIPConfig(vision_config=vision, text_config=text, projection_dim=state["text_projection"].shape[1])


def _layers(state: Mapping[str, Tensor], tower: str, width: int) -> dict[str, int]:
    before = f"{tower}.resblocks."
    layer_numbers = [name.removeprefix(before).partition(".")[0] for name in state if name.startswith(before)]
    inner = state.get(f"{tower}.resblocks.0.mlp.c_fc.bias")
    count = max((int(number) + 1 for number in layer_numbers if number.isdecimal()), default=0)
    return {"num_hidden_layers": count, "intermediate_size": 4 * width if inner is None else len(inner)}


def _heads(width: int, description: Mapping[str, Any]) -> int:
    return max(1, width // int(description.get("head_width") or HEAD_WIDTHS.get(width, 64)))


def _activation(
    path: Path, state: Mapping[str, Tensor], description: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    activation = options.get("activation")
    if activation is not None and activation not in ACTIVATIONS:
        raise HubError(f"{path}: activation is {quoted(activation)}; choose one of: {', '.join(ACTIVATIONS)}")
    if activation:
        return str(activation)
    if description:
        return ACTIVATIONS[0] if description.get("quick_gelu") else ACTIVATIONS[1]
    if state.keys() >= OPENAI_SIZES or re.search(r"\.bin\.\d+$", path.name):
        return ACTIVATIONS[0]
    raise HubError(
        f"{path}: does not say which activation its layers have; write ?activation=quick_gelu (OpenAI, CLIP4Clip and "
        f"names with quickgelu) or ?activation=gelu, or put {OPEN_CLIP_CONFIG} beside it"
    )


def _open_clip_config(path: Path) -> dict[str, Any]:
    """Return open_clip's description beside the file, {} without one. HubError: it describes another model."""
    config_path = path.with_name(OPEN_CLIP_CONFIG)
    if not config_path.is_file():
        return {}
    try:
        description = dict(json.loads(config_path.read_text(encoding="utf-8")))
        model = description.get("model_cfg", {})
        sections = {"model_cfg": model, **{name: model.get(name, {}) for name in ("vision_cfg", "text_cfg")}}
        unknown_fields = [
            f"{section}.{name}"
            for section, known_fields in KNOWN_FIELDS.items()
            for name in sorted(set(sections[section]) - known_fields)
        ]
    except (ValueError, TypeError, AttributeError) as error:
        raise HubError(f"{config_path}: not readable as JSON ({first_line(error)}); copy it again") from error
    if unknown_fields:
        raise HubError(
            f"{config_path}: {', '.join(unknown_fields)}: not supported; give a plain CLIP with a vision transformer"
        )
    return description


def _settings(path: Path, description: Mapping[str, Any], config: CLIPConfig) -> dict[str, Any]:
    side = config.vision_config.image_size
    modes = {"shortest": {"shortest_edge": side}, "squash": {"height": side, "width": side}}
    mode = description.get("resize_mode", "shortest")
    filters = {"bicubic": 3, "bilinear": 2}
    interpolation = description.get("interpolation", "bicubic")
    if mode not in modes or interpolation not in filters:
        raise HubError(
            f"{path}: {OPEN_CLIP_CONFIG}: resize_mode {mode} with {interpolation} is not supported; remove it there"
        )
    return {
        "image_processor_type": "CLIPImageProcessor",
        "size": modes[mode],
        "do_center_crop": mode == "shortest",
        "crop_size": {"height": side, "width": side},
        "resample": filters[interpolation],
        "image_mean": list(description.get("mean", MEAN)),
        "image_std": list(description.get("std", STD)),
    }


def _tokenizer(path: Path, options: Mapping[str, Any], config: CLIPConfig) -> Any:
    has_tokenizer = any(any(path.parent.glob(name)) for name in TOKENIZER_FILES)
    name = options.get("tokenizer") or (str(path.parent) if has_tokenizer else TOKENIZER)
    try:
        tokenizer = load_tokenizer(name)
    except HubError as error:
        raise HubError(f"{error}, put them beside {path.name}, or name a folder with ?tokenizer=FOLDER") from error
    size = config.text_config.vocab_size
    if tokenizer.eos_token_id != len(tokenizer) - 1 or len(tokenizer) > size:
        raise HubError(
            f"{path}: the tokenizer {name} is not of CLIP: its last token must be the end of a text, and the model has "
            f"{size} tokens; name another one with ?tokenizer=FOLDER"
        )
    return tokenizer


def _revision(path: Path, config: CLIPConfig, tokenizer: Any) -> str:
    """Return sixteen hex digits of what a score depends on."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(json.dumps([config.to_dict(), sorted(tokenizer.get_vocab())], sort_keys=True, default=str).encode())
    return digest.hexdigest()[:16]
