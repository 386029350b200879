"""Define the background jobs of semantic proximity."""

from evaluation.proximity.models import ProximityRun
from foilworks.core.jobs.models import Job


def measure_proximity(proximity_id: int, job: Job) -> None:
    """Measure with an encoder how close the foils of a release are to their captions."""
    from evaluation.proximity.measuring import measure

    measure(ProximityRun.objects.select_related("release").get(pk=proximity_id), job)
