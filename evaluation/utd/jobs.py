"""Define the background jobs of UTD."""

from evaluation.utd.models import BenchmarkedModel, BiasRun, Descriptions, ItemCheck
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.spread import Partly, Spread


def describe_videos(descriptions_id: int, job: Job) -> Spread | Partly | None:
    """Describe the frames of a project's videos, and extract their concepts (UTD)."""
    from evaluation.utd.describing import describe

    return describe(Descriptions.objects.select_related("project").get(pk=descriptions_id), job)


def describe_shard(descriptions_id: int, job: Job) -> None:
    """Process one shard of `describe_videos`."""
    from evaluation.utd.describing import describe_shard

    describe_shard(Descriptions.objects.select_related("project").get(pk=descriptions_id), job)


def measure_bias(bias_id: int, job: Job) -> Spread | None:
    """Measure how far descriptions alone solve a task, and create its splits (UTD)."""
    from evaluation.utd.measuring import measure

    return measure(_bias_run(bias_id), job)


def measure_shard(bias_id: int, job: Job) -> None:
    """Process one shard of `measure_bias`."""
    from evaluation.utd.measuring import measure_shard

    measure_shard(_bias_run(bias_id), job)


def _bias_run(bias_id: int) -> BiasRun:
    return BiasRun.objects.select_related("project", "descriptions__project").get(pk=bias_id)


def check_shortcuts(check_id: int, job: Job) -> None:
    """Find the accepted items that descriptions alone answer (UTD)."""
    from evaluation.utd.measuring import check_items

    check_items(ItemCheck.objects.select_related("descriptions__project").get(pk=check_id), job)


def answer_samples(model_id: int, job: Job) -> Spread | None:
    """Have a model answer the samples of a bias run from their videos (UTD)."""
    from evaluation.utd.sample_predictions import predict_samples as answer

    return answer(_benchmarked_model(model_id), job)


def answer_shard(model_id: int, job: Job) -> None:
    """Process one shard of `answer_samples`."""
    from evaluation.utd.sample_predictions import answer_shard

    answer_shard(_benchmarked_model(model_id), job)


def _benchmarked_model(model_id: int) -> BenchmarkedModel:
    return BenchmarkedModel.objects.select_related("run__project", "run__descriptions").get(pk=model_id)
