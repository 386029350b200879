"""What an exporter gets: records as they are read, or a release with all that belongs to it."""

from types import ModuleType

from corpus.models import Release
from corpus.record_streams import RecordContent
from corpus.records import ReleaseContent
from evaluation.errors import EvaluationError
from evaluation.exports.collect import collect_release
from evaluation.exports.records import project_content, release_content
from evaluation.imports.survey import Progress, silent
from projects.models import Project


def export_content(
    exporter: ModuleType, project: Project, release: Release | None, progress: Progress = silent
) -> ReleaseContent | RecordContent:
    """Of the release; where there is none, of the project as it is now. EvaluationError: the format needs a release."""
    if getattr(exporter, "TAKES_RECORDS", False):
        return release_content(release, progress) if release else project_content(project, progress)
    if release is None:
        raise EvaluationError("--release: this format is of a release; name one, or export jsonl")
    return collect_release(release, tables=exporter.USES_TABLES)
