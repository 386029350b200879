"""Train two small video-text models on a project's train clips: one averages the frames, one sees their order."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from foilworks.core.corpus.models import Caption, MediaState, Split
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.adapters.tiny_video import ARCHITECTURES, TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.media.frames import sample_frames
from foilworks.core.projects.models import Project

KEPT_FRAMES, SIZE = 8, 32
BATCH, RATE, TEMPERATURE = 32, 2e-3, 0.07


def train_both(project: Project, folder: Path, *, epochs: int, seed: int) -> dict[str, str]:
    """Train both models and write them into `folder`; return the spec of each by its name."""
    texts: dict[int, list[str]] = defaultdict(list)
    rows = Caption.objects.filter(video__project=project, video__split=Split.TRAIN)
    videos = {}
    for row in rows.filter(video__media_state=MediaState.READY).select_related("video").order_by("video__key", "key"):
        texts[row.video_id].append(row.text)
        videos[row.video_id] = row.video
    clips = np.stack(
        [sample_frames(Path(clip_file(video)), KEPT_FRAMES, size=(SIZE, SIZE)).frames for video in videos.values()]
    )
    return {name: _train(name, clips, list(texts.values()), folder / name, epochs, seed) for name in ARCHITECTURES}


def _train(name: str, clips: np.ndarray, texts: list[list[str]], folder: Path, epochs: int, seed: int) -> str:
    words = Words.of([text for texts_of_clip in texts for text in texts_of_clip])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TinyVideoText(TinyConfig(name, f"tiny/{name}", KEPT_FRAMES, SIZE), len(words.entries)).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05)
        draw = np.random.default_rng(seed)
        for _epoch in range(epochs):
            order = draw.permutation(len(clips))
            for batch in np.array_split(order, max(1, len(clips) // BATCH)):
                captions = [texts[at][draw.integers(len(texts[at]))] for at in batch]
                videos = model.encode_video(torch.from_numpy(clips[batch]))
                sims = videos @ model.encode_text(words.encode(captions)).T / TEMPERATURE
                right = torch.arange(len(batch))
                loss = F.cross_entropy(sims, right) + F.cross_entropy(sims.T, right)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    save_model(folder, model.eval(), words, {"category": "video", "seed": seed})
    return f"tiny:{folder}"
