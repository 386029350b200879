"""Sphinx, MyST and Furo for these pages: `make docs` writes docs/_build/html, and a warning is an error.

Nothing is loaded from a network, when the pages are made or when they are read: no web fonts, no MathJax, and the
search is Sphinx's own index beside the pages.
"""

project = "Foilworks"
author = "the authors of Foilworks"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "examples", "teacher"]
# Formulas stand as text: MathJax would come from somebody's server.
myst_enable_extensions = ["attrs_block"]
# Anchors as the hosts of repositories make them, so that a link works there and here.
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Foilworks"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
