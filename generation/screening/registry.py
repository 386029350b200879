"""List the judges that plug-ins add, under the name `SLUG:ARGUMENT` (docs/how-to/plugins.md).

`judge` sees clips: it is then a model of the filter `video_judge`. `judge_answers` says which open answers are right.
Models of Foilworks and endpoints judge without a row here (`generation/screening/judges.py`,
`evaluation/open_answers/jobs.py`).
"""

from foilworks.core.hub.catalogue.registry import OWN_SLUGS
from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry

_CONTRACT = Contract(
    {
        "judge": Call(("pairs",), ("argument",), yields=(tuple, list, type(None)), is_required=False),
        "judge_answers": Call(("answers",), ("argument",), yields=(bool, type(None)), is_required=False),
    },
    defaults={"VERSION": "1", "GIVES_PROBABILITIES": True, "HIGHER_IS_BETTER": True},
)
JUDGES = Registry("judges", {}, _CONTRACT, reserved=OWN_SLUGS)
