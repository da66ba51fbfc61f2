"""What supple keeps between commands."""

from __future__ import annotations

import click

from supple.cli.options import json_option, print_json


@click.command()
@click.option("--clear", is_flag=True, help="Remove everything that is kept.")
@json_option
def cache(clear: bool, as_json: bool) -> None:
    """See or clear what was derived and compiled, by which a second command is quick.

    It is kept in SUPPLE_CACHE (or the user's cache directory) and stays below SUPPLE_CACHE_SIZE (MB, 1000 if not given):
    what was not used for longest goes first."""
    from supple.remembered import summary

    found = summary(clear=clear)
    if as_json:
        print_json(found)
        return
    from supple.views.page import Line, Sheet, print_page

    rows = [(kind, str(entry["files"]), f"{entry['bytes'] / 1e6:.1f}") for kind, entry in found["kinds"].items()]
    limit = f"at most {found['largest_bytes'] / 1e6:.0f} MB (SUPPLE_CACHE_SIZE)"
    page: list[Line | Sheet] = [Line(f": {limit}", strong=found["folder"])]
    page.append(Sheet(("what", "files", "MB"), rows) if rows else Line("nothing is kept"))
    if clear:
        page.append(Line(f"{found['removed']} files removed"))
    print_page(page)
