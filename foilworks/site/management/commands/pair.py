"""`foilworks pair`: propose items of two clips from the captions of a project."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.errors import AnnotationError
from annotation.pairs.actions.store_pairs import check_subtest, store_pairs
from annotation.pairs.proposing import propose
from foilworks.site.management.base import FoilworksCommand, one_line
from foilworks.site.management.projects import project_by_slug, subtest_by_name
from generation.pairs.proposals import KINDS, NATURAL, Proposal

LIMIT = 100
SHOWN = 20


class Command(FoilworksCommand):
    help = (
        "propose items of two clips from the captions of a project; people validate both captions before a pair counts"
    )
    example = "foilworks pair --project mine --subtest pairs --kind natural --limit 200 --dry-run"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--subtest", required=True, metavar="NAME", help="subtest of the new items")
        parser.add_argument(
            "--kind",
            choices=KINDS,
            default=NATURAL,
            help="natural: two captions that differ in one word, each with its clip; reversal: a clip and the same "
            "clip played backwards; order: two trims of one video in both orders; speed: a clip and the same clip "
            "slower or faster; repetition: a clip of one event, played two and three times. Reversals and speeds come "
            "in twos, with opposite changes",
        )
        parser.add_argument("--limit", type=int, default=LIMIT, help="max pairs; 0 for no limit")
        parser.add_argument(
            "--per-caption", type=int, default=1, help="max pairs per caption and clip, for --kind natural"
        )
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed proposes the same pairs")
        parser.add_argument("--dry-run", action="store_true", help="show the proposals; store nothing, make no clips")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["limit"] < 0 or options["per_caption"] < 1:
            raise AnnotationError("--limit must be 0 or more, and --per-caption 1 or more; change the number")
        project = project_by_slug(options["project"])
        subtest = subtest_by_name(project, options["subtest"])
        check_subtest(subtest)
        found = list(
            propose(
                project,
                options["kind"],
                limit=options["limit"] or None,
                per_caption=options["per_caption"],
                seed=options["seed"],
            )
        )
        result: dict[str, Any] = {"kind": options["kind"], "seed": options["seed"], "dry_run": options["dry_run"]}
        result["pairs"] = [_row(proposal) for proposal in found]
        if options["dry_run"]:
            return {**result, "stored": [], "existing": [], "failed": []}
        return {**result, **store_pairs(None, subtest, found, progress=self.progress)}

    def render(self, result: dict[str, Any]) -> str:
        for row in result["pairs"][:SHOWN]:
            self.say(one_line(f"{row['change']}: {row['captions'][0]} | {row['captions'][1]}"))
            if row["warning"]:
                self.say(one_line(f"  warning: {row['warning']}"))
        for failed in result["failed"][:SHOWN]:
            self.say(one_line(f"failed: {failed['pair']}: {failed['error']}"))
        n = len(result["pairs"])
        if result["dry_run"]:
            return f"{n} pairs proposed; nothing was stored (--dry-run)"
        counts = ", ".join(f"{len(result[kind])} {kind}" for kind in ("stored", "existing", "failed"))
        return f"{n} pairs proposed: {counts}"


def _row(proposal: Proposal) -> dict[str, Any]:
    return {
        "pair": proposal.name,
        "captions": list(proposal.texts),
        "clips": [caption.clip for caption in proposal.captions],
        "change": proposal.change,
        "words": list(proposal.words),
        "why": proposal.why,
        "near": list(proposal.near),
        "warning": proposal.warning,
    }
