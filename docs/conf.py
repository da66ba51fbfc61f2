"""The documentation site: `python docs/site.py` builds it without network."""

project = "supple"
author = "The supple developers"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["README.md", "notebooks", "examples"]
html_theme = "furo"
html_title = "supple"
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["live"]  # pages of supple show, made by site.py
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
highlight_language = "none"
smartquotes = False  # options begin with two dashes
