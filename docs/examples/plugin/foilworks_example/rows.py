"""The rows of this package. Every process of Foilworks imports this module, so it imports no library."""

from foilworks.plugins import Entry, Param

METHOD = Entry(
    label="Mirror",
    path="foilworks_example.method",
    summary="“from left to right” becomes “from right to left”.",
    params=(Param("max", 10, "max sides to change per caption", "int"),),
    published=False,
)
FILTER = Entry(
    label="Short texts",
    path="foilworks_example.filter",
    summary="Drops foils with too many words.",
    params=(Param("max", 30, "max words of a foil", "int"),),
    published=False,
)
CAPTIONER = Entry(
    label="Activity",
    path="foilworks_example.captioner",
    summary="The class label “playing chess” becomes “Someone is playing chess.”",
    params=(Param("subject", "Someone", "who does it"),),
    published=False,
)
IMPORTER = Entry(
    label="Pairs",
    path="foilworks_example.importer",
    summary="One item per line: video, caption and foil, separated by tabs.",
)
EXPORTER = Entry(
    label="TSV",
    path="foilworks_example.exporter",
    summary="One line per foil: item, caption and foil.",
    params=(Param("header", False, "Begin with the names of the columns", "bool"),),
)
MODEL = Entry(
    label="Length",
    path="foilworks_example.model:load_adapter",
    summary="prefers short texts: `length:`",
)
METRIC = Entry(
    label="Margin",
    path="foilworks_example.metric",
    summary="Mean distance between the score of the caption and the best score of a foil.",
    params=(Param("cap", 1.0, "A larger distance counts as this one", "float"),),
)
REPORT = Entry(
    label="Lengths",
    path="foilworks_example.report",
    summary="Mean number of words of captions and foils, per subtest.",
    params=(Param("state", "all", "Which items count", "choice", ("all", "valid")),),
)
JUDGE = Entry(
    label="Light",
    path="foilworks_example.judge",
    summary="compares words for light with the brightness of the clip: `light:`, or `light:FRAMES`",
)
