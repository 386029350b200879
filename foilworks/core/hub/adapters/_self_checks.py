"""Check a model of an untested family when it is loaded: whether it scores as a generative model must."""

from typing import Any

import numpy as np
import torch

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.served.prompts import DESCRIBE

LATER_WORDS = "later words change the scores of earlier ones"
TEXTS = ("a man opens a box", "two dogs run along the beach at night")
SIDE, FRAMES = 64, 2
# Nats per token, of float32 and of shorter formats.
TOLERANCE, SHORT_TOLERANCE = 1e-4, 0.05


def check_untested(model: Any) -> None:
    """Raise HubError with the check that failed. Find the type of a text's tokens.

    - a batch of texts scores like single texts;
    - another clip, and a prompt without its end, give other scores;
    - later words of a text do not change the log-probabilities of earlier ones;
    - the model refuses a prompt with too few tokens of the clip, if it has any.
    """
    failed = _failed_check(model)
    if failed == LATER_WORDS:
        model.prefixes.text_type = 1
        failed = _failed_check(model)
    if failed:
        raise _refused(model, failed)


def _failed_check(model: Any) -> str:
    shape = (min(FRAMES, model.options.frames), SIDE, SIDE, 3)
    clips = [np.random.default_rng(seed).integers(0, 256, shape, np.uint8) for seed in (0, 1)]
    tolerance = TOLERANCE if next(model.model.parameters()).dtype == torch.float32 else SHORT_TOLERANCE
    try:
        prefix, other = (_prefix(model, clip) for clip in clips)
        ids = [model.talk.plain_ids(text) for text in TEXTS]
        together = model.prefixes.log_probabilities(prefix, ids)
        alone = [model.prefixes.log_probabilities(prefix, [row])[0] for row in ids]
        elsewhere = model.prefixes.log_probabilities(other, ids)
        shortened = model.prefixes.log_probabilities(prefix, [row[:-1] for row in ids])
        without_end = model.prefixes.log_probabilities(_without(prefix, prefix.ids.shape[1] - 1), ids)
    except (HubError, ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        advice = "; use frames=1 if it takes one picture" if shape[0] > 1 else ""
        raise _refused(model, f"it fails on a clip ({type(error).__name__}: {str(error)[:200]}){advice}") from error
    if not all(row.isfinite().all() for row in together):
        return "its scores are not numbers"
    if not _are_close(together, alone, tolerance):
        return "a batch does not score like single texts"
    if not _are_close([row[:-1] for row in together], shortened, tolerance):
        return LATER_WORDS
    if _are_close(together, elsewhere, 0.0):
        return "its scores do not depend on the clip"
    if _are_close(together, without_end, 0.0):
        return "its scores do not depend on the end of the prompt"
    return _failed_placeholders(model, prefix)


def _prefix(model: Any, clip: np.ndarray) -> Any:
    prepared = model.prepare(clip)
    return model.prefix(model.rendered(DESCRIBE, prepared), prepared)


def _without(prefix: Any, at: int) -> Any:
    """Return the prefix without the token at this place."""
    keep = [index for index in range(prefix.ids.shape[1]) if index != at]
    aligned = {name: tensor[:, keep] for name, tensor in prefix.aligned.items()}
    return type(prefix)(prefix.ids[:, keep], prefix.tensors, aligned)


def _failed_placeholders(model: Any, prefix: Any) -> str:
    token = model.prefixes.video_token
    places = [] if token is None else (prefix.ids[0] == token).nonzero().flatten().tolist()
    if len(places) <= FRAMES:
        # The clip enters by attention or by an encoder, not by tokens that are replaced.
        return ""
    try:
        model.prefixes.log_probabilities(_without(prefix, places[-1]), [[places[-1]]])
    except (ValueError, RuntimeError, IndexError):
        return ""
    return "it accepts a prompt with too few tokens of the clip"


def _are_close(rows: Any, others: Any, tolerance: float) -> bool:
    return all(torch.allclose(row, other, rtol=0, atol=tolerance) for row, other in zip(rows, others, strict=True))


def _refused(model: Any, why: str) -> HubError:
    kind = model.model.config.model_type
    return HubError(
        f"{model.name}: the family {kind!r} is untested, and the model fails a check: {why}; serve the model and use "
        "an endpoint, or write an external program"
    )
