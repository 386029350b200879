"""Ratios of asking models well over asking them one by one, in one run, with random weights on a CPU.

    .venv/bin/python benchmarks/adapters.py [--threads 1] [--repeat 3]

prefix: six captions of one clip by a generative model, the prefix (512 tokens and more) run once, over one whole
forward pass a caption. pairs: six texts a clip by an image-text model on 8 frames, distinct texts in batches of like
length and each clip encoded once with its frames kept, over decoding and encoding for every pair; also over pairs whose
frames are kept as well, and with nothing kept. Both sides give the same scores. Seconds are the processor's, so that
other work on the machine counts in neither side.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402 (the root must be on the path first)
import torch  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402
from transformers import (  # noqa: E402
    CLIPConfig,
    CLIPModel,
    LlavaOnevisionConfig,
    LlavaOnevisionForConditionalGeneration,
    PreTrainedTokenizerFast,
    Qwen2Config,
    SiglipVisionConfig,
)

from evaluation.scoring.loop import Clip, score_pairs  # noqa: E402
from evaluation.scoring.protocol_models import reader  # noqa: E402
from evaluation.scoring.protocols import PROTOCOLS  # noqa: E402
from hub.adapters.generative import DESCRIBE  # noqa: E402
from hub.adapters.registry import open_adapter  # noqa: E402
from hub.batching.shared_prefix import full_log_probabilities  # noqa: E402
from hub.interfaces import VideoMeta  # noqa: E402
from media.encode import write_mp4  # noqa: E402
from media.file_cache import FileCache  # noqa: E402
from media.frame_cache import FrameCache  # noqa: E402

CANDIDATES, FRAMES, CLIPS = 6, 8, 6
WORDS = ("a", "man", "woman", "folds", "opens", "lifts", "the", "red", "shirt", "door", "box", "slowly", "and", "then")
TEMPLATE = (
    "{% for m in messages %}{% for part in m.content %}{% if part.type == 'video' %}<video> {% else %}{{ part.text }}"
    "{% endif %}{% endfor %}{% endfor %} :"
)
HALF = [0.5, 0.5, 0.5]
PAD, UNKNOWN, END = "[PAD]", "[UNK]", "[END]"


def tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [PAD, UNKNOWN, END, "<video>", "<image>"]
    made.train_from_iterator([" ".join(WORDS)], trainers.WordLevelTrainer(special_tokens=special, show_progress=False))
    found = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=PAD, unk_token=UNKNOWN, eos_token=END, model_max_length=2048
    )
    found.add_special_tokens({"additional_special_tokens": special[3:]})
    return found


def texts(seed: int, count: int = CANDIDATES) -> list[str]:
    """Of 6 to 14 words."""
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS, draw.integers(6, 15))) for _ in range(count)]


def generative(folder: Path) -> Path:
    """A language model of 8 layers of 384 behind 8 x 64 features of a video: 513 tokens and the prompt."""
    torch.manual_seed(0)
    words = tokenizer()
    video, image = words.convert_tokens_to_ids(["<video>", "<image>"])
    config = LlavaOnevisionConfig(
        vision_config=SiglipVisionConfig(
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=128,
            patch_size=8,
            vision_use_head=False,
        ),
        text_config=Qwen2Config(
            vocab_size=len(words),
            hidden_size=384,
            intermediate_size=1024,
            num_hidden_layers=8,
            num_attention_heads=6,
            num_key_value_heads=2,
            max_position_embeddings=2048,
        ),
        video_token_index=video,
        image_token_index=image,
        image_grid_pinpoints=[[128, 128]],
    )
    settings = {"size": {"height": 128, "width": 128}, "image_mean": HALF, "image_std": HALF}
    return _saved(folder, LlavaOnevisionForConditionalGeneration(config), words, settings)


def contrastive(folder: Path) -> Path:
    """ViT-S/16 at 224 pixels and a text tower of 6 layers of 256."""
    torch.manual_seed(0)
    words = tokenizer()
    config = CLIPConfig(
        vision_config={
            "hidden_size": 384,
            "intermediate_size": 1536,
            "num_hidden_layers": 6,
            "num_attention_heads": 6,
            "image_size": 224,
            "patch_size": 16,
        },
        text_config={
            "hidden_size": 256,
            "intermediate_size": 1024,
            "num_hidden_layers": 6,
            "num_attention_heads": 4,
            "vocab_size": len(words),
            "max_position_embeddings": 77,
            "eos_token_id": 2,
            "bos_token_id": 1,
        },
        projection_dim=256,
    )
    settings = {
        "size": {"shortest_edge": 224},
        "do_center_crop": True,
        "crop_size": {"height": 224, "width": 224},
        "image_mean": HALF,
        "image_std": HALF,
    }
    return _saved(folder, CLIPModel(config), words, settings)


def _saved(folder: Path, model: Any, words: PreTrainedTokenizerFast, settings: dict[str, Any]) -> Path:
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


def best(repeat: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of the quickest of `repeat` runs after one to warm up, and what it gave."""
    work()
    seconds, found = [], None
    for _ in range(repeat):
        begun = time.process_time()
        found = work()
        seconds.append(time.process_time() - begun)
    return min(seconds), found


def prefix(folder: Path, repeat: int) -> None:
    adapter = open_adapter(f"vlm:{generative(folder / 'vlm')}?frames={FRAMES}", device="cpu")
    clip = np.random.default_rng(0).integers(0, 256, (FRAMES, 128, 128, 3), np.uint8)
    rendered = adapter.talk.prompt(DESCRIBE, video=True)
    captions = [adapter.talk.continued_ids(rendered, text) for text in texts(1)]

    def begun() -> Any:
        return adapter.prefix(rendered, adapter.prepare(clip))

    shared_s, shared = best(repeat, lambda: adapter.prefixes.log_probabilities(begun(), captions))
    whole_s, whole = best(repeat, lambda: full_log_probabilities(adapter.prefixes, begun(), captions))
    error = max(float((one - other).abs().max()) for one, other in zip(shared, whole, strict=True))
    length, longest = begun().ids.shape[1], max(map(len, captions))
    print(
        f"prefix  {CANDIDATES} captions of at most {longest} tokens after {length}: whole {whole_s * 1e3:.0f} ms, "
        f"shared {shared_s * 1e3:.0f} ms, ratio {whole_s / shared_s:.1f} (largest difference {error:.1e} nats)"
    )


def pairs(folder: Path, repeat: int) -> None:
    adapter = open_adapter(f"clip:{contrastive(folder / 'clip')}?frames={FRAMES}", device="cpu")
    requests = []
    for n in range(CLIPS):
        noise = np.random.default_rng(n).integers(0, 256, (48, 15, 20, 3), np.uint8)
        write_mp4(folder / f"{n}.mp4", noise.repeat(16, 1).repeat(16, 2), fps=24)
        requests.append((Clip(str(n), folder / f"{n}.mp4"), texts(n)))
    protocol = PROTOCOLS["foilworks"]
    plain, kept = reader(protocol), reader(protocol, FrameCache(FileCache(folder / "frames", 10**9)))

    def together(read: Any) -> dict[tuple[str | None, str], float]:
        return {(one.clip_key, one.text): one.value for one in score_pairs(adapter, requests, read=read)}

    def alone(read: Any) -> dict[tuple[str | None, str], float]:
        found = {}
        for clip, asked in requests:
            for text in asked:
                frames, meta = read(clip, adapter.info)
                row = adapter.encode_video([frames], [meta if meta else VideoMeta()])
                found[clip.key, text] = float(adapter.score(row, adapter.encode_text([text]))[0, 0])
        return found

    alone_s, one_by_one = best(repeat, lambda: alone(plain))
    alone_kept_s, _ = best(repeat, lambda: alone(kept))
    fresh_s, _ = best(repeat, lambda: together(plain))
    kept_s, batched = best(repeat, lambda: together(kept))
    error = max(abs(batched[pair] - value) for pair, value in one_by_one.items())
    print(
        f"pairs   {CLIPS} clips x {CANDIDATES} texts, {FRAMES} frames: one pair at a time {alone_s:.2f} s (frames "
        f"kept: {alone_kept_s:.2f} s), together {fresh_s:.2f} s, together with frames kept {kept_s:.2f} s; ratio "
        f"{alone_s / kept_s:.1f} ({alone_kept_s / kept_s:.1f} where both keep frames; {alone_s / fresh_s:.1f} where "
        f"neither does; largest difference {error:.1e})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{os.cpu_count()} cores, {options.threads} thread(s), torch {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        prefix(Path(folder), options.repeat)
        pairs(Path(folder), options.repeat)


if __name__ == "__main__":
    main()
