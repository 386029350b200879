"""Remove what nobody finished, queue again what was lost, notify people, and seal the audit trail."""

import logging

from django.db import DatabaseError, connections

from foilworks.core.jobs.queue import requeue_lost
from foilworks.core.projects.audit_trail.sealing import seal_due
from foilworks.core.projects.tokens import forget_old_answers
from foilworks.site.exports.background import remove_old_exports
from foilworks.site.imports.actions.discard_stale_imports import discard_stale_imports, remove_partial_uploads
from foilworks.site.notification_rules.follower import follow
from foilworks.site.publishing.actions.report_item import expire_reports
from foilworks.site.publishing.actions.submissions import expire_submissions

logger = logging.getLogger(__name__)


def look_after() -> None:
    """Every quarter of a minute, requeue lost jobs, remove left files, notify people, seal rows, delete old answers.

    The answers are those stored for programs that repeat a request.
    """
    try:
        if count := requeue_lost():
            logger.warning("%s jobs requeued", count)
        if count := discard_stale_imports():
            logger.warning("%s unconfirmed imports were discarded", count)
        if count := expire_submissions():
            logger.warning("%s undecided submissions were deleted", count)
        if count := expire_reports():
            logger.info("%s old reports were deleted or emptied", count)
        remove_old_exports()
        if count := remove_partial_uploads():
            logger.warning("%s incomplete uploads were removed", count)
        follow()
        seal_due()
        forget_old_answers()
    except DatabaseError as error:
        logger.warning("cannot look for lost jobs and left files: %s", error)
    finally:
        connections.close_all()
