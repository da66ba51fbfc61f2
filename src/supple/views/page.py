"""`Sheet` and lines: what a result says to people, printed on a terminal or shown in a notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as html_escape
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_LEFT = {
    "robot", "axis", "body", "what", "about", "moves", "bends", "closure", "joint", "point", "coordinate", "signal",
    "formulation", "expected", "why", "integrates", "parameter", "pose", "case",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A line of text; `strong` stands before it, `faint` after it."""

    text: str
    strong: str = ""
    faint: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table: columns of words are set to the left, numbers to the right; the rows in `strong` stand out."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    title: str = ""
    strong: tuple[int, ...] = ()


Page = Sequence[Line | Sheet]


_NO_SIGN = re.compile(r"(?<![\w.,-])-(?=0(\.0+)?(?![\w.]))")


def unsigned(text: str) -> str:
    """A text in which zeros, as -0.00 rounds to, have no sign."""
    return _NO_SIGN.sub("", text)


def print_page(page: Page) -> None:
    """Print a page on the terminal."""
    out = Console(highlight=False, soft_wrap=False, emoji=False)
    for part in page:
        if isinstance(part, Line):
            strong = f"[bold]{escape(part.strong)}[/bold]" if part.strong else ""
            faint = f"[dim]{escape(part.faint)}[/dim]" if part.faint else ""
            out.print(strong + escape(unsigned(part.text)) + faint)
        else:
            out.print(_rich(part))


def _rich(sheet: Sheet) -> Table:
    title = escape(sheet.title) if sheet.title else None
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in sheet.columns:
        made.add_column(escape(name), justify=_side(name))
    for k, row in enumerate(sheet.rows):
        made.add_row(*(escape(unsigned(text)) for text in row), style="bold" if k in sheet.strong else None)
    return made


def _side(column: str) -> Literal["left", "right"]:
    return "left" if column in _LEFT or not column else "right"


def html(page: Page) -> str:
    """A page as HTML; every text in it is escaped."""
    return "\n".join(_html_line(part) if isinstance(part, Line) else _html_table(part) for part in page)


def _html_line(line: Line) -> str:
    strong = f"<b>{html_escape(line.strong)}</b>" if line.strong else ""
    faint = f'<span style="opacity:.6">{html_escape(line.faint)}</span>' if line.faint else ""
    return f"<div>{strong}{html_escape(unsigned(line.text))}{faint}</div>"


def _html_table(sheet: Sheet) -> str:
    caption = f'<caption style="text-align:left">{html_escape(sheet.title)}</caption>' if sheet.title else ""

    def cells(row: Sequence[str], tag: str) -> str:
        made = (
            f'<{tag} style="text-align:{_side(column)}">{html_escape(unsigned(text))}</{tag}>'
            for column, text in zip(sheet.columns, row, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(cells(row, "th" if k in sheet.strong else "td") for k, row in enumerate(sheet.rows))
    return f"<table>{caption}<thead>{cells(sheet.columns, 'th')}</thead><tbody>{body}</tbody></table>"
