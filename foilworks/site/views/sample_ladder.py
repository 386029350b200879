"""Read what the sample project needs, for the landing page. Everybody can sign in to that project."""

from typing import Any

from evaluation.ladder.ladders import ladder_of_release
from evaluation.ladder.needs_context import needs_context
from foilworks.core.corpus.models import Release


def sample_ladder() -> dict[str, Any] | None:
    """Return what the sample project needs; None without one whose accounts are published, or without a drawing."""
    shared = Release.objects.filter(project__is_simulated=True, project__deleted_at=None).exclude(
        project__sign_in_hint={}
    )
    release = shared.select_related("project").order_by("pk").first()
    ladder = ladder_of_release(release) if release else None
    return needs_context(ladder) if ladder and ladder["overall"]["parts"] else None
