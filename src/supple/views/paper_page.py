"""Papers made again as one page of HTML, pictures inside, and as tables for the terminal."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from supple.results.paper import Entry, Picture, Reproduction
from supple.views.page import Line, Page, Sheet

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #8886; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #8883; vertical-align: top; }
th:first-child, td:first-child, td:nth-child(2), th:nth-child(2), td:last-child, th:last-child { text-align: left; }
figure { margin: 1.5rem 0; } img { max-width: 100%; background: #fff; } figcaption { font-size: 14px; opacity: .85; }
"""
_COLUMNS = ("where", "what", "printed", "ours", "difference", "why")


def paper_html(papers: Sequence[Reproduction]) -> str:
    """One page of all the papers: self-contained, every text escaped."""
    title = papers[0].name if len(papers) == 1 else "The papers"
    contents = "".join(f'<li><a href="#{escape(p.name)}">{escape(p.citation)}</a></li>' for p in papers)
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}, by supple</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}: printed, and by supple</h1>",
        f"<ol>{contents}</ol>" if len(papers) > 1 else "",
        *(_paper(p) for p in papers),
        "</body></html>",
    ]
    return "\n".join(parts)


def _paper(paper: Reproduction) -> str:
    parts = [f'<h2 id="{escape(paper.name)}">{escape(paper.citation)}</h2>', f"<p>{escape(paper.about)}</p>"]
    for section in paper.sections:
        parts.append(f"<h3>{escape(section.title)}</h3>")
        if section.words:
            parts.append(f"<p>{escape(section.words)}</p>")
        if section.entries:
            parts.append(_table(section.entries))
        parts += [_figure(p) for p in section.pictures]
    parts.append(f"<p><small>Made in {paper.seconds:.0f} s of processor time.</small></p>")
    return "\n".join(parts)


def _table(entries: Sequence[Entry]) -> str:
    head = "".join(f"<th>{c}</th>" for c in _COLUMNS)
    rows = "".join("<tr>" + "".join(f"<td>{escape(x)}</td>" for x in _row(e)) + "</tr>" for e in entries)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(e: Entry) -> tuple[str, ...]:
    what = f"{e.what} ({e.unit})" if e.unit else e.what
    return e.where, what, _number(e.printed), _number(e.ours), _difference(e), e.why or "as printed"


def _number(x: float | None) -> str:
    if x is None:
        return "–"
    return f"{x:.0f}" if float(x).is_integer() and abs(x) < 1e7 else f"{x:.5g}"


def _difference(e: Entry) -> str:
    if e.difference is None:
        return "–"
    size = f"{e.difference:+.2g}" if e.difference else "0"
    return size if e.relative is None or not e.difference else f"{size} ({100 * e.relative:+.2g} %)"


def _figure(picture: Picture) -> str:
    data = b64encode(picture.png).decode()
    return (
        f'<figure><img alt="{escape(picture.title)}" src="data:image/png;base64,{data}">'
        f"<figcaption><b>{escape(picture.title)}.</b> {escape(picture.words)}</figcaption></figure>"
    )


def paper_page(paper: Reproduction) -> Page:
    """The numbers of a paper for the terminal."""
    made: list[Line | Sheet] = [Line(paper.citation)]
    for section in paper.sections:
        if section.entries:
            made.append(Sheet(_COLUMNS, [_row(e) for e in section.entries], section.title))
    figures = [p.title for s in paper.sections for p in s.pictures]
    if figures:
        made.append(Line("Figures on the page: " + ", ".join(figures)))
    return made
