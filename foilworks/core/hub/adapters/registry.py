"""Adapters, and how the command line names a model: `SLUG:ARGUMENT`. Imports no torch.

ADAPTERS score clips and texts; HELPERS serve methods and filters (blanks, pairs of texts, similarity). A helper's name
may omit its slug: `FacebookAI/roberta-base` if a filler is expected.

`file:SCORES` and `endpoint:NAME/MODEL` are parsed here too, so that a wrong SPEC lists every possible one. They have no
row among ADAPTERS: a score file needs no model, and the operator configures the address of an endpoint. Evaluation
opens both itself.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

from foilworks.core.hub.contract import loader, opened
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Trust
from foilworks.core.hub.loading.trust import trusting
from foilworks.core.hub.number_formats import AUTO, mark_dtype, resolve_dtype, split_dtype
from foilworks.core.text.plugins import Registry
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import Entry, load

_ADAPTERS: dict[str, Entry] = {
    "fake": Entry(
        label="Fake (deterministic)",
        path="foilworks.core.hub.adapters.fake:load_adapter",
        summary="scores by hashes, for tests and trials: `fake:`, `fake:SEED`, or `fake:text` for a text-only model",
    ),
    "colours": Entry(
        label="Colours alone",
        path="foilworks.core.hub.adapters.colours:load_adapter",
        summary="compares colours with colour words, a baseline without weights: `colours:`, `colours:?frames=8`",
    ),
    "tiny": Entry(
        label="Tiny video-text encoder",
        path="foilworks.core.hub.adapters.tiny_video:load_adapter",
        summary="a frame-averaging or temporal dual encoder that the demo trains: `tiny:FOLDER`",
    ),
    "clip": Entry(
        label="CLIP-type image-text encoder",
        path="foilworks.core.hub.adapters.clip:load_adapter",
        summary=(
            "CLIP, SigLIP, SigLIP 2, MetaCLIP 2, frame by frame: `clip:HUB_ID_OR_FOLDER`, optionally with "
            "`?frames=8&pooling=logits`; or a file of weights of OpenAI, open_clip or CLIP4Clip (meanP, 12 frames "
            "by default): `clip:FILE?activation=quick_gelu&tokenizer=FOLDER`"
        ),
        needs_gpu=True,
    ),
    "xclip": Entry(
        label="X-CLIP",
        path="foilworks.core.hub.adapters.xclip:load_adapter",
        summary="a video-text model that encodes a text together with the clip: `xclip:HUB_ID_OR_FOLDER`",
        needs_gpu=True,
    ),
    "video": Entry(
        label="Video-text dual encoder",
        path="foilworks.core.hub.adapters.video_text:load_adapter",
        summary="VideoPrism, PE-Video (needs timm): `video:HUB_ID_OR_FOLDER`, optionally with `?frames=16`",
        needs_gpu=True,
    ),
    "blip2": Entry(
        label="BLIP-2 matching",
        path="foilworks.core.hub.adapters.blip2:load_adapter",
        summary="image-text matching, frame by frame: `blip2:HUB_ID_OR_FOLDER`, optionally with `?pooling=probability`",
        needs_gpu=True,
    ),
    "vlm": Entry(
        label="Generative video-language model",
        path="foilworks.core.hub.adapters.generative:load_adapter",
        summary=(
            "Qwen-VL, GLM-V, InternVL, LLaVA, SmolVLM, Gemma 3, VideoLLaMA3 and others: `vlm:HUB_ID_OR_FOLDER`, "
            "optionally with `?frames=8&mode=likelihood|gain|blind|p_yes|choice` (mode: how a score is "
            "computed from the output)"
        ),
        needs_gpu=True,
    ),
    "external": Entry(
        label="External program",
        path="foilworks.core.hub.adapters.external:load_adapter",
        summary=(
            "models that the Hugging Face library cannot load: a program of yours answers in JSON lines; "
            "`external:FOLDER` with a foilworks.json"
        ),
        needs_gpu=True,
    ),
    "lm": Entry(
        label="Causal language model",
        path="foilworks.core.hub.adapters.causal_lm:load_adapter",
        summary="a text-only baseline (GPT-2, OPT): `lm:HUB_ID_OR_FOLDER`",
        needs_gpu=True,
    ),
    "seq2seq": Entry(
        label="Encoder-decoder language model",
        path="foilworks.core.hub.adapters.seq2seq_lm:load_adapter",
        summary="a text-only baseline (T5, BART): `seq2seq:HUB_ID_OR_FOLDER`",
        needs_gpu=True,
    ),
}
FILLER, CLASSIFIER, ENCODER, TEXT_SCORER = "mask", "classifier", "sentence", "lm"
SPAN_FILLER, DETECTOR = "t5", "detector"
HELPERS: dict[str, Entry] = {
    FILLER: Entry(
        label="Masked language model",
        path="foilworks.core.hub.adapters.masked_lm:load_adapter",
        summary="fills one blank",
    ),
    CLASSIFIER: Entry(
        label="Text classifier",
        path="foilworks.core.hub.adapters.pair_classifier:load_adapter",
        summary="entailment (NLI), acceptability (CoLA)",
    ),
    ENCODER: Entry(
        label="Sentence encoder",
        path="foilworks.core.hub.adapters.sentence_encoder:load_adapter",
        summary="similarity of two texts",
    ),
    SPAN_FILLER: Entry(
        label="Text-to-text model",
        path="foilworks.core.hub.adapters.text_to_text:load_adapter",
        summary="fills blanks with spans, computes perplexity (T5)",
    ),
    DETECTOR: Entry(
        label="Object detector",
        path="foilworks.core.hub.adapters.detection:load_adapter",
        summary="objects in frames (DETR, YOLOS)",
    ),
    "fake-t5": Entry(
        label="Fake span filler",
        path="foilworks.core.hub.adapters.fake:load_span_filler",
        summary="fills spans by hashing",
    ),
    "fake-detector": Entry(
        label="Fake detector", path="foilworks.core.hub.adapters.fake:load_detector", summary="detects by hashing"
    ),
    "fake-mask": Entry(
        label="Fake filler", path="foilworks.core.hub.adapters.fake:load_filler", summary="fills by hashing"
    ),
    "fake-classifier": Entry(
        label="Fake classifier", path="foilworks.core.hub.adapters.fake:load_classifier", summary="judges by hashing"
    ),
    "fake-words": Entry(
        label="Words and their order",
        path="foilworks.core.hub.adapters.fake:load_words",
        summary="similarity of two texts by their words",
    ),
}
BACKBONE = "backbone"
BACKBONES: dict[str, Entry] = {
    BACKBONE: Entry(
        label="Frozen video backbone",
        path="foilworks.core.hub.adapters.video_backbone:load_adapter",
        summary="VideoMAE, V-JEPA 2, TimeSformer, ViViT: tokens for training a classifier",
    ),
}
GENERATOR = "vlm"
GENERATORS: dict[str, Entry] = {
    "fake-generator": Entry(
        label="Describer of the demo's world",
        path="foilworks.core.hub.adapters.fake:load_generator",
        summary="describes by arithmetic",
    ),
}
CHAT, ENDPOINT = "chat", "endpoint"
CHATS: dict[str, Entry] = {
    CHAT: Entry(
        label="Instruction model",
        path="foilworks.core.hub.adapters.chat_lm:load_adapter",
        summary="a local model with its own chat template",
    ),
    "fake-chat": Entry(
        label="Fake instruction model", path="foilworks.core.hub.adapters.fake:load_chat", summary="answers by hashing"
    ),
    "fake-reader": Entry(
        label="Reader of the demo's descriptions",
        path="foilworks.core.hub.adapters.fake:load_reader",
        summary="extracts by rules (UTD)",
    ),
    # Opened with the address and key that the operator configured (`ChatEndpoint`), not by a name alone.
    ENDPOINT: Entry(
        label="Model behind an endpoint",
        path="foilworks.core.hub.adapters.chat_endpoint:ChatEndpoint",
        summary=(
            "a served model of a configured endpoint: `endpoint:NAME/MODEL`, optionally with "
            "`?mode=p_yes|pairs|choice&frames=8&by=auto|logprobs|samples&samples=10&as=images|video`"
        ),
    ),
}
SCORE_FILE = "file"
NO_ADAPTERS = (ENDPOINT, SCORE_FILE)
_OTHERS = {**HELPERS, **BACKBONES, **GENERATORS, **CHATS}
ADAPTERS = Registry("models", _ADAPTERS, reserved={*_OTHERS, SCORE_FILE})
EVERY: dict[str, Entry] = {**ADAPTERS, **_OTHERS}

# Helpers that a worker keeps loaded: filters and methods open theirs with every batch.
KEPT = 6


def parse_spec(spec: str) -> tuple[str, str]:
    """Return ("tiny", "/a/b") for "tiny:/a/b". HubError lists what you can write instead."""
    slug, colon, argument = spec.partition(":")
    if not colon or slug not in {*ADAPTERS, *NO_ADAPTERS}:
        known = ", ".join(f"{name}:…" for name in (*sorted(ADAPTERS), *NO_ADAPTERS))
        raise HubError(f"{quoted(spec)} names no model; write SLUG:ARGUMENT with one of: {known}")
    if slug == SCORE_FILE and not argument:
        raise HubError("'file:' names no score file; write file:PATH")
    if slug == ENDPOINT and not argument:
        raise HubError("'endpoint:' names no endpoint; write endpoint:NAME/MODEL")
    if slug not in NO_ADAPTERS:
        split_dtype(argument)
    return slug, argument


def trusted_name(spec: str) -> str:
    """Return what a permission applies to: the hub id or folder of `spec`, without its options and revision."""
    slug, _, argument = spec.partition(":")
    name = argument.partition("?")[0]
    return f"{slug}:{name if name.startswith(('/', '.')) else name.partition('@')[0]}"


def open_adapter(spec: str, *, device: str = "auto", dtype: str = AUTO, trust: Trust | None = None) -> Any:
    """Load the Embedder or Scorer that `spec` names, on `device` (auto, cpu, cuda, cuda:N).

    `spec` or `dtype` names the number format; see foilworks.core.hub.number_formats for `auto`. The revision names it
    unless it is float32.
    `trust`: what is allowed for this model beyond safetensors and our own code. Only jobs call this: it imports the
    adapter's libraries. HubError: unknown spec, a model that does not load or does not implement its interface, a
    device that is not available, or `file:`, which has no model.
    """
    slug, argument = parse_spec(spec)
    if slug == SCORE_FILE:
        raise HubError(f"{quoted(spec)} is a score file, not a model to run; import it instead of loading it")
    if slug == ENDPOINT:
        raise HubError(f"{quoted(spec)} is a model behind an endpoint; name a local model here")
    argument, dtype = split_dtype(argument, dtype)
    dtype = resolve_dtype(slug, dtype, device)
    with trusting(trust or Trust()):
        adapter = loader(slug, load(ADAPTERS[slug]))(argument, device=device, dtype=dtype)
        return mark_dtype(opened(slug, adapter, ADAPTERS[slug].origin), dtype)


def open_helper(name: str, role: str, *, device: str = "auto", dtype: str = AUTO) -> Any:
    """Load the model that `name` (`SLUG:ARGUMENT`, a hub id or a folder) names; `role` is the slug of a bare name.

    Cached for the process, and loaded again if the folder's files change. HubError: it does not load.
    """
    slug, colon, argument = name.partition(":")
    if not colon or slug not in EVERY or slug == ENDPOINT:
        slug, argument = role, name
    argument, dtype = split_dtype(argument, dtype)
    return _kept(slug, argument, device, resolve_dtype(slug, dtype, device), _stamp(argument))


def open_generator(name: str, *, device: str = "auto", dtype: str = AUTO) -> Any:
    """Load the Generator that `name` (`vlm:HUB_ID_OR_FOLDER`, `fake-generator:`, or a bare id or folder) names.

    Cached for the process. HubError: it does not load, or writes no texts.
    """
    slug = name.partition(":")[0]
    if slug in EVERY and slug != GENERATOR and slug not in GENERATORS:
        known = ", ".join(f"{one}:…" for one in (GENERATOR, *GENERATORS))
        raise HubError(f"{quoted(name)} names no model that writes texts about videos; write one of: {known}")
    return open_helper(name, GENERATOR, device=device, dtype=dtype)


@lru_cache(maxsize=KEPT)
def _kept(slug: str, argument: str, device: str, dtype: str, stamp: tuple[tuple[str, int], ...]) -> Any:
    return mark_dtype(load(EVERY[slug])(argument, device=device, dtype=dtype), dtype)


def _stamp(argument: str) -> tuple[tuple[str, int], ...]:
    folder = Path(argument.partition("?")[0])
    if not argument or not folder.is_dir():
        return ()
    return tuple(sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir()))
