"""`foilworks subtest`: create and link the subtests of a project, and set the votes of their items."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.actions.settings.link_proficiency import link_proficiency
from annotation.actions.settings.published_labels import collect_votes
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.forms import USUAL_FULL_SHARE, SubtestForm
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project
from foilworks.site.management.base import CommandGroup, FoilworksCommand
from foilworks.site.management.projects import project_by_slug, subtest_by_name

USUAL_WANTED, USUAL_WANTED_PROFICIENCY = 3, 1
STOPPING = ("stop_early", "full_share", "votes_max", "skilled_first")


class Create(FoilworksCommand):
    help = "create a subtest, and set the votes of its items"
    example = (
        "foilworks subtest create actions --project mine --votes-wanted 3 --votes-needed 2\n"
        "  foilworks subtest create objects --project mine --kind proficiency\n"
        "  foilworks subtest create counting --project mine --stop-early --votes-max 5"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        _add_name(parser)
        parser.add_argument(
            "--proficiency", default="", metavar="NAME", help="proficiency subtest of this main subtest"
        )
        parser.add_argument("--test", default="", help="phenomenon that several subtests share")
        parser.add_argument("--kind", choices=Subtest.Kind.values, default="main")
        parser.add_argument("--changes", choices=("", "action"), default="", help="what foils change")
        parser.add_argument("--foils", type=int, metavar="N", help="foils per item (default 1; 5 for actions)")
        parser.add_argument(
            "--votes-wanted",
            type=int,
            metavar="N",
            help="votes per caption-foil pair (default 3; proficiency 1); 0: items are valid without votes",
        )
        parser.add_argument(
            "--votes-needed",
            type=int,
            metavar="N",
            help="votes for the caption that make a pair valid (default: the majority)",
        )
        parser.add_argument(
            "--stop-early", action="store_true", help="stop when no further vote can change the result of a pair"
        )
        parser.add_argument(
            "--full-share",
            type=float,
            metavar="SHARE",
            help=f"share of items that get all votes although others stop early, 0 to 1 (default {USUAL_FULL_SHARE} "
            "with --stop-early)",
        )
        parser.add_argument(
            "--votes-max",
            type=int,
            default=0,
            metavar="N",
            help="max votes of a pair whose votes decide nothing (default 0: no more votes)",
        )
        parser.add_argument("--skilled-first", action="store_true", help="ask skilled validators first for these votes")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        return {"subtest": options["name"], "project": project.slug, **_create(project, options)}

    def render(self, result: dict[str, Any]) -> str:
        rule = f"{result['votes_needed']} of {result['votes_wanted']} votes"
        if result["stop_early"]:
            rule += f", stop early, {100 * result['full_share']:g} % of the items judged in full"
        if result["votes_max"]:
            rule += f", up to {result['votes_max']} votes if undecided"
        return f"{result['subtest']}: created, {result['kind']}, {result['foils_per_item']} foils per item, {rule}"


class Link(FoilworksCommand):
    help = "link a main subtest to its proficiency subtest"
    example = "foilworks subtest link actions --proficiency objects --project mine"

    def add_arguments(self, parser: CommandParser) -> None:
        _add_name(parser)
        parser.add_argument("--proficiency", required=True, metavar="NAME", help="proficiency subtest")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        main = subtest_by_name(project, options["name"], "NAME")
        proficiency = subtest_by_name(project, options["proficiency"], "--proficiency")
        n_items = link_proficiency(None, main, proficiency)
        names = {"subtest": main.name, "project": project.slug, "proficiency": proficiency.name}
        return {**names, "linked_items": n_items}

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['subtest']}: linked to {result['proficiency']}; {result['linked_items']} items paired"


class CollectVotes(FoilworksCommand):
    help = "collect votes on items of a published set"
    example = "foilworks subtest collect-votes swap_att --project sugarcrepe --sample 100"

    def add_arguments(self, parser: CommandParser) -> None:
        _add_name(parser)
        parser.add_argument("--sample", type=int, metavar="N", help="number of items in a random sample (default: all)")
        parser.add_argument("--seed", type=int, default=0, help="seed of the sample")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        subtest = subtest_by_name(project, options["name"], "NAME")
        n_items = collect_votes(None, subtest, size=options["sample"], seed=options["seed"])
        return {"subtest": subtest.name, "project": project.slug, "asked": n_items}

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['subtest']}: {result['asked']} items are queued for validators"


class Command(CommandGroup):
    help = "create a subtest, link its proficiency subtest, or collect votes on items of a published set"
    subcommands = {"create": Create, "link": Link, "collect-votes": CollectVotes}


def _add_name(parser: CommandParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the subtest")
    parser.add_argument("--project", required=True, metavar="SLUG")


def _create(project: Project, options: dict[str, Any]) -> dict[str, Any]:
    usual = USUAL_WANTED if options["kind"] == Subtest.Kind.MAIN else USUAL_WANTED_PROFICIENCY
    wanted = usual if options["votes_wanted"] is None else options["votes_wanted"]
    needed = min(wanted, wanted // 2 + 1) if options["votes_needed"] is None else options["votes_needed"]
    pair = subtest_by_name(project, options["proficiency"], "--proficiency") if options["proficiency"] else None
    form = SubtestForm(
        {
            "name": options["name"],
            "test": options["test"],
            "kind": options["kind"],
            "proficiency_subtest": pair and pair.pk,
            "changes": options["changes"],
            "foils_per_item": options["foils"],
            "votes_wanted": wanted,
            "votes_needed": needed,
            **_stopping(options),
            "valid_when": Subtest.ValidWhen.ALL,
            "foils_enough": 1,
        },
        project=project,
    )
    for field, messages in form.errors.items():
        raise CorpusError(f"{field}: {messages[0]}")
    made = create_subtest(None, project, **form.cleaned_data)
    names = ("kind", "test", "foils_per_item", "votes_wanted", "votes_needed", *STOPPING)
    return {"id": made.pk, **{name: getattr(made, name) for name in names}, "proficiency": options["proficiency"]}


def _stopping(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of stopping. CorpusError: one that would have no effect."""
    share = options["full_share"]
    if share and not options["stop_early"]:
        raise CorpusError("--full-share: it is used only if votes stop early; add --stop-early")
    if options["skilled_first"] and not options["votes_max"]:
        raise CorpusError("--skilled-first: no pair gets more votes; add --votes-max, such as 5")
    usual = USUAL_FULL_SHARE if options["stop_early"] else 0.0
    return {**{name: options[name] for name in STOPPING}, "full_share": usual if share is None else share}
