"""Request a report whose libraries only jobs load."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.analyses.registry import REPORTS
from evaluation.cached_results.cache import locked_result
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.reports.reports import REQUESTED, about_report, by_job
from foilworks.core.corpus.models import Subtest
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import lookup, parse_params

JOB = "reports.compute"


@transaction.atomic
def request_report(
    person: User, project: Project, kind: str, *, subtest: str, params: Mapping[str, Any]
) -> CachedResult:
    """Queue the job that computes the report; a request while it is in progress changes nothing.

    AccessDenied without the researcher's role. EvaluationError: a report that pages compute themselves, or an unknown
    subtest. RegistryError: an unknown parameter.
    """
    require_role(person, project, Role.RESEARCHER)
    if not by_job(project, kind):
        raise EvaluationError(f"the {kind} report does not need a job; open its page")
    if subtest and not Subtest.objects.filter(project=project, name=subtest).exists():
        raise EvaluationError(f"the project has no subtest {quoted(subtest)}")
    checked_params = parse_params(lookup(REPORTS, kind, "report"), params)
    params = {**checked_params, "subtest": subtest or None}
    row = locked_result(project, kind, about_report(subtest, checked_params), params)
    if row.job is not None and not row.job.is_over:
        return row
    title = _("%(report)s of %(project)s") % {"report": REPORTS[kind].label, "project": project.name}
    row.job = enqueue(JOB, row.pk, title=title, project_id=project.pk)
    row.save(update_fields=["job", "created_at"])
    audit.record(audit.event(project, person, REQUESTED, row, kind=kind, **params))
    return row
