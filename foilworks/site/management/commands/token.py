"""`foilworks token`: create an API token on the server's command line."""

from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import ApiToken, Role, User
from foilworks.core.projects.tokens import USUAL_DAYS
from foilworks.core.text.quoting import quoted
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "create an API token for a person, and print it once"
    example = "foilworks token ada --scope manage --days 30 --name nightly"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="NAME", help="user name; the token has this person's access")
        parser.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.MANAGE)
        parser.add_argument("--days", type=int, default=USUAL_DAYS, help="days until the token expires")
        parser.add_argument("--name", default="created on the server", help="name of the token: what uses it")
        parser.add_argument("--project", metavar="SLUG", help="limit the token to this project")
        parser.add_argument("--role", choices=Role.values, default="", help="limit the token to this role")

    def run(self, **options: Any) -> dict[str, Any]:
        person = User.objects.filter(username=options["username"]).first()
        if person is None:
            raise ProjectError(
                f"account {quoted(options['username'])} not found; create it on the site, "
                "or with `foilworks createsuperuser`"
            )
        made = make_token(
            person,
            name=options["name"],
            scope=options["scope"],
            days=options["days"],
            project=project_by_slug(options["project"]) if options["project"] else None,
            role=options["role"],
        )
        return {"token": made.secret, "person": person.username, "expires_at": made.token.expires_at.isoformat()}

    def render(self, result: dict[str, Any]) -> str:
        until = result["expires_at"][:10]
        return f"{result['token']}\n(token of {result['person']}, valid until {until}; it is not shown again)"
