"""`foilworks contamination`: find out by the order of a published file whether a language model has seen it."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from evaluation.audit.file_order import MIN_SHARDS, N_SHUFFLES, OrderResult, compare_orders
from evaluation.audit.file_reader import Problems, read_all
from foilworks.library.inputs import opened_sources
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.management.file_options import add_benchmark_options, read_options, whole_number


class Command(FoilworksCommand):
    help = "test whether a language model has seen a published file: does it prefer the order of its records?"
    example = "foilworks contamination test.jsonl --model lm:Qwen/Qwen2.5-0.5B"

    def add_arguments(self, parser: CommandParser) -> None:
        self.parser = parser
        add_benchmark_options(
            parser,
            f"parameter of the test or of the format; repeatable. shuffles: random orders per part (default "
            f"{N_SHUFFLES}); seed: of the orders (default 0)",
        )
        parser.add_argument(
            "--model", required=True, metavar="SPEC", help="a language model with its files, such as lm:FOLDER"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        # Imported on request: it imports a model library.
        from evaluation.blind.scoring import WholeTextScorer

        params = parse_set_options(options["set"])
        shuffles = max(1, whole_number(self.parser, params, "shuffles", N_SHUFFLES))
        seed = whole_number(self.parser, params, "seed", 0)
        with opened_sources(options["files"], **read_options(self.parser, params, **options)) as sources:
            problems = Problems()
            records = list(read_all(sources, problems))
            if not records:
                raise problems.refusal(sources[0].path)
        for problem in problems.lines:
            self.say(f"warning: left out: {problem}")
        result = compare_orders(records, options["model"], WholeTextScorer(options["model"]), shuffles, seed)
        return {**asdict(result), "unread": problems.n, "sentence": sentence_of(result)}

    def render(self, result: dict[str, Any]) -> str:
        return str(result["sentence"])


def sentence_of(result: OrderResult) -> str:
    p, p_sorted = f"p = {result.p:.2g}", f"p = {result.p_sorted:.2g}"
    return {
        "seen": f"{result.name} finds the order of the file likelier than random orders ({p}): it has seen the file.",
        "not shown": f"{result.name} does not prefer the order of the file ({p}). It may have seen it all the same.",
        "sorted": "The order of the file is not random: it follows the alphabet, the length or the words "
        f"({p_sorted}). So the test would accuse any model. Only a file that was shuffled before it was published "
        "can be tested.",
        "too few": f"The file has {result.n_shards} parts of {result.n_records} records, too few to test. At least "
        f"{MIN_SHARDS} parts are needed.",
    }[result.answer]
