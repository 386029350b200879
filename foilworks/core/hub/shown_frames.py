"""Which frames of a clip a model is shown, by what it says about itself."""

from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.media.errors import MediaError
from foilworks.core.media.maker_frames import RULES
from foilworks.core.media.sampling import CENTRES, INTERVALS, PER_SECOND, Sampling
from foilworks.core.text.quoting import quoted


def sampling_of(info: ModelInfo, default: str = CENTRES) -> Sampling:
    """Return the frames of a model; one with `interval_seconds` gets intervals, one with `fps` so many frames per
    second, one with `sampling` those of its makers' rule, the others as many as they read, by the policy `default`.

    MediaError: its interval is not a number of seconds.
    """
    fps, policy = info.card.get("fps"), info.card.get("sampling")
    per_frame = 1 / fps if isinstance(fps, int | float) and fps > 0 else 0.0
    if policy == CENTRES or policy in RULES:
        return Sampling(str(policy), info.frames, per_frame)
    if per_frame:
        return Sampling(PER_SECOND, info.frames, per_frame)
    seconds = info.card.get("interval_seconds")
    if not seconds:
        return Sampling(default, info.frames)
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
        return Sampling(INTERVALS, seconds=seconds)
    raise MediaError(f"{info.model_id} uses intervals of {quoted(seconds)} s; give a number above 0")
