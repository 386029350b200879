"""Sphinx, MyST and Furo for these pages: `make docs` writes docs/_build/html, and a warning is an error.

Nothing is loaded from a network, when the pages are made or when they are read: no web fonts, no MathJax, and the
search is Sphinx's own index beside the pages. Notebooks are shown with their stored outputs; nothing runs.
"""

import json

project = "Foilworks"
author = "the authors of Foilworks"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
exclude_patterns = ["_build", "examples/*/*", "teacher"]
# Formulas stand as text: MathJax would come from somebody's server.
myst_enable_extensions = ["attrs_block"]
# Anchors as the hosts of repositories make them, so that a link works there and here.
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Foilworks"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False


def _shown_output(output):
    data = output.get("data", {})
    if "text/html" in data:
        # On one line: HTML in Markdown ends at an empty line.
        html = " ".join("".join(data["text/html"]).splitlines())
        return f'<div style="overflow-x: auto">{html}</div>'
    return "```text\n" + "".join(output.get("text") or data.get("text/plain", [])).rstrip() + "\n```"


def _notebook_as_markdown(app, name, source):
    if not str(app.env.doc2path(name)).endswith(".ipynb"):
        return
    parts = []
    for cell in json.loads(source[0])["cells"]:
        text = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(f"```python\n{text}\n```" if is_code else text)
        parts += map(_shown_output, cell.get("outputs", []))
    source[0] = "\n\n".join(parts)


def setup(app):
    app.connect("source-read", _notebook_as_markdown)
