"""List the judges that plug-ins add: `SLUG:ARGUMENT` is then a model of the filter `video_judge`.

A judge sees the clip, its caption and the foil, and returns two numbers (docs/how-to/plugins.md). Models of Foilworks
and endpoints judge without a row here (`generation/screening/judges.py`).
"""

from foilworks.core.hub.catalogue.registry import OWN_SLUGS
from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry

_CONTRACT = Contract(
    {"judge": Call(("pairs",), ("argument",), yields=(tuple, list, type(None)))},
    defaults={"VERSION": "1", "GIVES_PROBABILITIES": True, "HIGHER_IS_BETTER": True},
)
JUDGES = Registry("judges", {}, _CONTRACT, reserved=OWN_SLUGS)
