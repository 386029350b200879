"""Read hints for pages: a project's hint model, and its answers so far."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.models import Project
from generation.models import Hint, HintModel

# As in generation.hint_scoring, which pages must not import.
FITS = "fits"
WAITING, READY, FAILED = "waiting", "ready", "failed"


def hint_model(project: Project) -> HintModel | None:
    """Return the enabled hint model of the project, or None. One query."""
    return HintModel.objects.filter(project=project, enabled=True).first()


@dataclass(frozen=True)
class HintAnswer:
    """A hint in words. `text` and `caption`: the model's values, rounded for display; empty while waiting."""

    state: str
    words: str | Promise
    text: str = ""
    caption: str = ""


def hint_answer(hint: Hint) -> HintAnswer:
    """Return the hint as text for the person who requested it."""
    if hint.problem:
        return HintAnswer(FAILED, hint.problem)
    if hint.value is None or hint.of_caption is None:
        if hint.job is not None and hint.job.is_over:
            return HintAnswer(FAILED, _("The job of the model failed. Contact a researcher of this project."))
        return HintAnswer(WAITING, _("Waiting for the model."))
    above = hint.value >= hint.of_caption if hint.higher_is_better else hint.value <= hint.of_caption
    return HintAnswer(READY, _WORDS[hint.kind == FITS, above], f"{hint.value:.3g}", f"{hint.of_caption:.3g}")


_WORDS: dict[tuple[bool, bool], str | Promise] = {
    (True, True): _("The model prefers your text as the description of the video. It is a hard foil."),
    (True, False): _("The model prefers the caption as the description of the video."),
    (False, True): _("The model rates your sentence at least as likely as the caption."),
    (False, False): _("The model rates your sentence less likely than the caption."),
}
