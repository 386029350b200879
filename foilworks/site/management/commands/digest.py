"""`foilworks digest`: mail new notifications to the people who opted in, now."""

from typing import Any

from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.notifications.mail import is_ready, send_due
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.notification_rules.follower import follow


class Command(FoilworksCommand):
    help = "mail new notifications to the people who opted in; `foilworks up` and workers do it by themselves"
    example = "foilworks digest --json"

    def run(self, **options: Any) -> dict[str, Any]:
        if not is_ready():
            raise ProjectError("this installation cannot mail notifications; set EMAIL_URL and SITE_URL")
        written = follow()
        sent, failed = send_due()
        return {"notifications": written, "sent": sent, "failed": failed}

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['notifications']} new notifications, {result['sent']} mails sent, {result['failed']} failed"

    def exit_status(self, result: dict[str, Any]) -> int:
        return 1 if result["failed"] else 0
