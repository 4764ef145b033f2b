"""How `make site` builds the documentation: Sphinx reads the Markdown pages of this folder."""

from __future__ import annotations

import re
from pathlib import Path

project = "adjudge"
author = "The adjudge developers"
copyright = author  # noqa: A001  # the name that Sphinx expects
release = re.findall(r'"(.+)"', (Path(__file__).parents[1] / "src/adjudge/_version.py").read_text(encoding="utf-8"))[0]

extensions = ["myst_parser"]
myst_heading_anchors = 4  # links to headings, as Markdown viewers make them
html_theme = "furo"
html_title = "adjudge"
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False
