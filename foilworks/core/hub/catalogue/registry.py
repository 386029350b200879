"""List the adapters: which slugs a model name can begin with, and the module that opens each. Imports no torch.

ADAPTERS score clips and texts; HELPERS serve methods and filters (blanks, pairs of texts, similarity). A helper's name
may omit its slug: `FacebookAI/roberta-base` if a filler is expected.

`file:SCORES` and `endpoint:NAME/MODEL` have no row among ADAPTERS: a score file needs no model, and the operator
configures the address of an endpoint. Evaluation opens both itself.
"""

from collections import ChainMap
from collections.abc import Mapping

from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry

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
        summary=(
            "image-text matching, frame by frame: `blip2:HUB_ID_OR_FOLDER`, optionally with `?pooling=probability`; "
            "with a language model (OPT), the loss of captions"
        ),
        needs_gpu=True,
    ),
    "vlm": Entry(
        label="Generative video-language model",
        path="foilworks.core.hub.adapters.generative:load_adapter",
        summary=(
            "Qwen-VL, GLM-V, InternVL, LLaVA, SmolVLM, Gemma 3, VideoLLaMA3 and others: `vlm:HUB_ID_OR_FOLDER`, "
            "optionally with `?frames=8&mode=likelihood|gain|blind|p_yes|choice` (mode: how a score is "
            "computed from the output) and `&fps=2&truncate=frames&thinking=off|read|logprobs`; other families by "
            "their own processors"
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
            "`?mode=p_yes|pairs|choice&frames=8&by=auto|logprobs|samples&samples=10&as=images|video` and "
            "`&thinking=off|read|logprobs`"
        ),
    ),
}
SCORE_FILE = "file"
NO_ADAPTERS = (ENDPOINT, SCORE_FILE)
# What chooses a device for a library of models.
TORCH = "torch"
DEVICES: dict[str, Entry] = {
    TORCH: Entry(label="PyTorch", path="foilworks.core.hub.device", summary="CPUs and NVIDIA GPUs"),
}
_OTHERS = {**HELPERS, **BACKBONES, **GENERATORS, **CHATS}
# Slugs that no plug-in can use for a model or a judge.
OWN_SLUGS = frozenset({*_ADAPTERS, *_OTHERS, SCORE_FILE})
ADAPTERS = Registry("models", _ADAPTERS, reserved=OWN_SLUGS - _ADAPTERS.keys())
# Not a copy: plug-ins are read when the table is first used, not when this module is imported.
EVERY: Mapping[str, Entry] = ChainMap(_OTHERS, ADAPTERS)
