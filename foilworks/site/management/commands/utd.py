"""`foilworks utd`: unbias through textual descriptions, on a project or from files."""

from foilworks.site.management.base import CommandGroup
from foilworks.site.management.utd.bias import Bias, Items, Results
from foilworks.site.management.utd.describe import Describe, Import
from foilworks.site.management.utd.models import Benchmark, Train, ZeroShot
from foilworks.site.management.utd.splits import Bring, Export, Split


class Command(CommandGroup):
    help = "measure representation bias of a data set, and make debiased splits (UTD)"
    subcommands = {
        "describe": Describe,
        "import": Import,
        "bias": Bias,
        "results": Results,
        "split": Split,
        "bring": Bring,
        "train": Train,
        "zero-shot": ZeroShot,
        "benchmark": Benchmark,
        "items": Items,
        "export": Export,
    }
