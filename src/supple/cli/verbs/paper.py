"""Published papers made again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from supple.cli.options import json_option, print_json


@click.command()
@click.argument("name", metavar="briot2014|long2014|stachera2008|rognant2010|vidoni2012|all")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the page and its files.")
@json_option
def paper(name: str, output: Path | None, as_json: bool) -> None:
    """Tables and figures of a paper beside the printed numbers, differences explained; a page in -o DIR."""
    from supple.delivery import written_whole
    from supple.errors import SuppleError
    from supple.papers import PAPERS, paper
    from supple.views.page import print_page
    from supple.views.paper_page import paper_html, paper_page

    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise SuppleError(f"{output}: no folder can be made there: {problem.strerror or problem}") from problem
    made = []
    for one in PAPERS if name == "all" else (name,):
        made.append(paper(one))
        if not as_json:
            print_page(paper_page(made[-1]))
    if output is not None:
        files = {f"{name}.html": paper_html(made)} | {k: text for p in made for k, text in p.files.items()}
        for file, text in files.items():
            written_whole(output / file, partial(Path.write_text, data=text, encoding="utf-8"))
            if not as_json:
                click.echo(f"wrote {output / file}")
    if as_json:
        found = [p.to_json() for p in made]
        print_json(found if name == "all" else found[0])
