"""`foilworks compose`: compose multiple-choice items of random captions and one hard foil."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.choices.actions.compose_choices import Request, compose_choices, plan_choices, result_of
from annotation.choices.wording import reasons
from foilworks.site.management.base import FoilworksCommand, one_line
from foilworks.site.management.projects import project_by_slug, subtest_by_name

SHOWN = 5


class Command(FoilworksCommand):
    help = "compose multiple-choice items: a caption, random captions and one hard foil"
    example = (
        "foilworks compose --project mine --subtest random --random run:3 --unreviewed\n"
        "  foilworks compose --project mine --subtest verb-lm --random random --hard run:7\n"
        "  foilworks compose --project mine --subtest verb-h --random random --hard edits --dry-run"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--subtest", required=True, metavar="NAME", help="subtest of the new items")
        parser.add_argument(
            "--random",
            required=True,
            metavar="SOURCE",
            help="random captions: a subtest of Random items, or a run as run:NUMBER",
        )
        parser.add_argument(
            "--hard",
            default="",
            metavar="SOURCE",
            help="hard foils: a subtest, or a run as run:NUMBER; without it, the items have random captions only",
        )
        parser.add_argument(
            "--unreviewed",
            action="store_true",
            help="also use candidates of the runs that passed the filters and that nobody has reviewed",
        )
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed composes the same items")
        parser.add_argument("--limit", type=int, metavar="N", help="number of items in a random sample (default: all)")
        parser.add_argument("--dry-run", action="store_true", help="show the items; store nothing")

    def run(self, **options: Any) -> dict[str, Any]:
        subtest = subtest_by_name(project_by_slug(options["project"]), options["subtest"])
        names = ("random", "hard", "seed", "limit", "unreviewed")
        wanted = Request(**{name: options[name] for name in names})
        if options["dry_run"]:
            result = result_of(plan_choices(subtest, wanted), wanted)
        else:
            result = compose_choices(None, subtest, wanted)
        return {"subtest": subtest.name, "dry_run": options["dry_run"], **result}

    def render(self, result: dict[str, Any]) -> str:
        for row in result["items"][:SHOWN]:
            self.say(one_line(" | ".join([row["caption"], *row["foils"]])))
        lines = [f"{result['composed']} items composed, {result['existing']} existing"]
        if result["dry_run"]:
            lines = [f"{result['composed']} items to compose, {result['existing']} existing; nothing was stored"]
        lines += [f"  left out, {n}: {why}" for why, n in reasons(result["left_out"])]
        return "\n".join(lines)
