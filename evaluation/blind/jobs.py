"""Define the background jobs of the blind audit."""

from foilworks.core.jobs.models import Job


def run_blind_scoring(scorer_id: int, job: Job) -> None:
    """Score the texts of a project without video, for its blind audit."""
    from evaluation.blind.scoring import score_blind

    score_blind(scorer_id, job)
