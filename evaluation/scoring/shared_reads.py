"""Tell what the other runs of a release will read of its clips, so that a clip is decoded once for all of them."""

from collections.abc import Mapping
from typing import Any

from evaluation.scoring.models import Run
from evaluation.scoring.protocol_models import sampling
from evaluation.scoring.protocols import Protocol
from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.jobs.models import OPEN_STATES
from foilworks.core.media.frame_cache import FrameCache, FramesAsked
from foilworks.core.media.sampling import Sampling

# Field of a run's parameters: the frames of its model, known when it was loaded for the first time.
FRAMES = "frames"


def stored(protocol: Protocol, info: ModelInfo, frames: FrameCache) -> dict[str, dict[str, Any]]:
    """Return what a run's `params` say about its frames; nothing for a model without video."""
    if not info.needs_video:
        return {}
    frame_sampling = sampling(protocol, info)
    size = list(info.size) if info.size else None
    amount = {"policy": frame_sampling.policy, "frames": frame_sampling.frames, "seconds": frame_sampling.seconds}
    return {FRAMES: {**amount, "size": size, "form": frames.form}}


def of_other_runs(run: Run) -> tuple[FramesAsked, ...]:
    """Return the frames that queued and running runs of the release need.

    Of a run whose model was not loaded yet, those of the latest run of the same model under the same protocol.
    """
    open_runs = Run.objects.filter(release=run.release, scored_at=None, job__state__in=OPEN_STATES).exclude(pk=run.pk)
    frames_of_runs = [open_run.params.get(FRAMES) or _before(open_run) for open_run in open_runs.order_by("pk")]
    return tuple(dict.fromkeys(_asked(frames) for frames in frames_of_runs if frames))


def _before(run: Run) -> Mapping[str, Any] | None:
    same = Run.objects.filter(spec=run.spec, protocol=run.protocol, params__has_key=FRAMES)
    params = same.order_by("-pk").values_list("params", flat=True).first()
    return params[FRAMES] if params else None


def _asked(frames: Mapping[str, Any]) -> FramesAsked:
    size = (frames["size"][0], frames["size"][1]) if frames["size"] else None
    return FramesAsked(Sampling(frames["policy"], frames["frames"], frames["seconds"]), size, frames["form"])
