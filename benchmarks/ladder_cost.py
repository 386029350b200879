"""Measure the cost of the evidence ladder relative to one plain run, with cold caches.

    .venv/bin/python benchmarks/ladder_cost.py [--clips 12] [--tried 3] [--base] [--repeat 3]

Prints one line per model: clips decoded and encoded, processor seconds of both runs, and their ratio: of everything,
and of the model alone (where decoding costs nothing, as with cached frames). The tiny models and the towers have random
weights; `--base` adds towers of the size of ViT-B/32. `frame` and `temporal` say how a model sees frames. A temporal
model that shares nothing between views, such as the fake one, pays one encode for each distinct view.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402 (the root must be on the path first)
from transformers import CLIPConfig, CLIPModel, XCLIPConfig, XCLIPModel  # noqa: E402

from benchmarks.scoring import texts, videos  # noqa: E402
from evaluation.scoring.fetching import Clip  # noqa: E402
from evaluation.scoring.loop import ScoringCounts, score_pairs  # noqa: E402
from evaluation.scoring.protocol_models import reader  # noqa: E402
from evaluation.scoring.protocols import PROTOCOLS  # noqa: E402
from evaluation.scoring.rungs import BLANK, CONTROLS, FRAMES_TRIED, Ladder  # noqa: E402
from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model  # noqa: E402
from foilworks.core.hub.opening import open_adapter  # noqa: E402
from tests.hub import folders, video_folders  # noqa: E402
from tests.hub.folders import saved, word_tokenizer  # noqa: E402

Requests = Sequence[tuple[Clip, Sequence[str]]]
BASE = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12}
TOWER = {**BASE, "image_size": 224, "patch_size": 32}
TEXT = {"hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 4}
PICTURES = {"size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}, "do_center_crop": True}
MIT = {"mit_hidden_size": 512, "mit_intermediate_size": 2048, "mit_num_hidden_layers": 1, "mit_num_attention_heads": 8}


def plain(paths: Sequence[Path]) -> list[tuple[Clip, Sequence[str]]]:
    """Return each clip with six texts."""
    return [(Clip(str(at), path), texts(at)) for at, path in enumerate(paths)]


def ladder(paths: Sequence[Path], tried: int) -> list[tuple[Clip, Sequence[str]]]:
    """Return each clip with its own texts and those of another item, and its texts with every view."""
    found: list[tuple[Clip, Sequence[str]]] = []
    views = (*Ladder(CONTROLS, tried).views, BLANK)
    for at, (clip, own) in enumerate(plain(paths)):
        found += [(clip, own), (clip, texts((at + 1) % len(paths)))]
        for view in views:
            key = BLANK if view == BLANK else f"{clip.key}~{view}"
            found.append((Clip(key, None if view == BLANK else clip.path, view=view, seed=clip.key), own))
    return found


def measured(adapter: Any, requests: Requests) -> tuple[float, float, ScoringCounts]:
    """Return processor seconds of everything and of the model, and the counts of a run without caches."""
    tally, began = ScoringCounts(), time.process_time()
    for _ in score_pairs(adapter, requests, tally=tally, read=reader(PROTOCOLS["foilworks"])):
        pass
    return time.process_time() - began, tally.compute_seconds, tally


def compare(name: str, adapter: Any, paths: Sequence[Path], tried: int, repeat: int) -> None:
    measured(adapter, plain(paths[:1]))
    one = min((measured(adapter, plain(paths)) for _ in range(repeat)), key=lambda found: found[0])
    many = min((measured(adapter, ladder(paths, tried)) for _ in range(repeat)), key=lambda found: found[0])
    counts = many[2]
    print(
        f"{name:22} decoded {counts.clips_decoded}, encoded {counts.clips_encoded}; plain {one[0]:.2f} s, ladder "
        f"{many[0]:.2f} s, ratio {many[0] / one[0]:.2f}; the model alone {many[1] / max(one[1], 1e-9):.2f}",
        flush=True,
    )


def tiny(folder: Path, architecture: str) -> str:
    words = Words.of([text for seed in range(8) for text in texts(seed)])
    model = TinyVideoText(TinyConfig(architecture, f"tiny/{architecture}"), len(words.entries))
    save_model(folder / architecture, model, words, {"category": "video"})
    return f"tiny:{folder / architecture}"


def base(folder: Path) -> dict[str, str]:
    """Save a CLIP and an X-CLIP with random weights in the size of ViT-B/32."""
    tokenizer = word_tokenizer(longest=16)
    text = {**TEXT, "vocab_size": len(tokenizer), "max_position_embeddings": 16, "bos_token_id": 2, "eos_token_id": 3}
    clip = CLIPConfig(text_config=text, vision_config=TOWER, projection_dim=512)
    whole = {**TOWER, **MIT, "num_frames": 8}
    xclip = XCLIPConfig(text_config=text, vision_config=whole, projection_dim=512)
    made = {}
    for name, model in (("clip", CLIPModel(clip)), ("xclip", XCLIPModel(xclip))):
        path = folder / f"{name}-base"
        saved(path, model, tokenizer)
        (path / "preprocessor_config.json").write_text(json.dumps({**PICTURES, "resample": 3}), encoding="utf-8")
        made[f"{name} ViT-B/32"] = f"{name}:{path}"
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=12)
    parser.add_argument("--tried", type=int, default=FRAMES_TRIED)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--base", action="store_true")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        specs = {
            "tiny average (frame)": tiny(folder, "average"),
            "tiny temporal": tiny(folder, "temporal"),
            "clip (frame)": f"clip:{folders.clip(folder / 'clip')}?frames=8",
            "xclip (temporal)": f"xclip:{video_folders.xclip(folder / 'xclip')}",
            "videoprism (temporal)": f"video:{video_folders.videoprism(folder / 'videoprism')}",
            **(base(folder) if given.base else {}),
        }
        paths = videos(folder, given.clips)
        for about, spec in specs.items():
            compare(about, open_adapter(spec, device=given.device), paths, given.tried, given.repeat)


if __name__ == "__main__":
    main()
