"""Builds the documentation site: one command, no network.

    python docs/site.py [-o build/site] [--live dualemps,delta | none]

Reference pages are made from the code (verbs, keys of robot files, calls of Python), the gallery from the robot files, with
a 3-D page of every robot, or of those named by --live: minutes of computing. Warnings are errors; every link and anchor of
what was built is looked up."""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def main() -> int:
    told = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    told.add_argument("-o", "--output", type=Path, default=HERE.parent / "build" / "site")
    told.add_argument("--live", default="all", help="robots of the gallery that get a live page, or none; all if not given")
    asked = told.parse_args()
    source = asked.output.parent / "site_source"
    prepare(source, asked.live)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(source), str(asked.output)]
    if subprocess.run(command).returncode:
        return 1
    broken = list(broken_links(asked.output))
    for line in broken:
        print(line)
    print(f"{asked.output / 'index.html'}: {len(list(asked.output.rglob('*.html')))} pages, {len(broken)} broken links")
    return 1 if broken else 0


def prepare(folder: Path, live: str = "none") -> Path:
    """The pages to build, generated ones among them, in a folder of their own."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "live").mkdir()
    (folder / "reference").mkdir(exist_ok=True)
    (folder / "reference" / "verbs.md").write_text(verbs_page(), encoding="utf-8")
    (folder / "reference" / "robot_file_keys.md").write_text(keys_page(), encoding="utf-8")
    (folder / "reference" / "api.md").write_text(api_page(), encoding="utf-8")
    (folder / "gallery.md").write_text(gallery_page(folder / "live", live), encoding="utf-8")
    for page in folder.rglob("*.md"):
        page.write_text(within(page.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+([^)#\s]+)(#[^)\s]*)?\)")
_TO_README = re.compile(r"\]\(README\.md\)")


def within(text: str) -> str:
    """A page whose links to files beside the documentation are their paths in the repository."""
    kept = _OUTSIDE.sub(lambda m: m[0] if _documented(m[2]) else f"{m[1]} (`{m[2]}`)", text)
    return _TO_README.sub("](index.md)", kept)


def _documented(path: str) -> bool:
    return (HERE / path).exists() or path.split("/")[0] in ("how_to", "tutorials", "reference", "pictures", "gallery.md")


# Generated pages -----------------------------------------------------------------------------------------------------


def verbs_page() -> str:
    """Every verb with its words and options, by purpose."""
    import click

    from supple.cli.main import PURPOSES, main

    lines = ["# Verbs", "", "`supple VERB --help` says the same."]
    ctx = click.Context(main)
    for purpose, names in PURPOSES.items():
        lines += ["", f"## {purpose}"]
        for name in (n for n in names if n in main.list_commands(ctx)):
            verb = main.get_command(ctx, name)
            assert verb is not None
            arguments = " ".join(p.make_metavar(ctx) for p in verb.params if isinstance(p, click.Argument))
            lines += [
                "",
                f"### supple {name}",
                "",
                f"`supple {name} {arguments + ' ' if arguments else ''}[options]`",
                "",
                _plain(verb.help or ""),
            ]
            lines += ["", "| option | what it does |", "|---|---|"]
            for p in verb.params:
                if isinstance(p, click.Option):
                    record = p.get_help_record(click.Context(verb))
                    if record is not None:
                        lines.append(f"| `{_cell(record[0])}` | {_cell(record[1])} |")
    return "\n".join(lines) + "\n"


def keys_page() -> str:
    """Every key of the robot file, from its schema."""
    import json

    from click.testing import CliRunner

    from supple.cli.main import main

    schema = json.loads(CliRunner().invoke(main, ["schema"]).stdout)
    lines = [
        "# Keys of the robot file",
        "",
        "Made from `supple schema`. What they mean, with examples: [robot_file](../robot_file.md).",
    ]
    records = {"RobotFile": schema, **schema.get("$defs", {})}
    for name, record in records.items():
        if "properties" not in record:
            continue
        lines += [
            "",
            f"## {name}",
            "",
            _plain(record.get("description", "")),
            "",
            "| key | holds | default |",
            "|---|---|---|",
        ]
        needed = set(record.get("required", ()))
        for key, entry in record["properties"].items():
            usual = "needed" if key in needed else f"`{_cell(json.dumps(entry['default']))}`" if "default" in entry else ""
            lines.append(f"| `{key}` | {_cell(_kind(entry))} | {usual} |")
    return "\n".join(lines) + "\n"


def _kind(entry: dict[str, Any]) -> str:
    """A schema entry in words."""
    if "$ref" in entry:
        return str(entry["$ref"]).rpartition("/")[2]
    for word in ("anyOf", "oneOf"):
        if word in entry:
            return " or ".join(dict.fromkeys(_kind(x) for x in entry[word] if x.get("type") != "null"))
    if "enum" in entry:
        return ", ".join(str(x) for x in entry["enum"])
    if "const" in entry:
        return str(entry["const"])
    if entry.get("type") == "array":
        return f"list of {_kind(entry.get('items', {}))}" if entry.get("items") else "list"
    if entry.get("type") == "object":
        inner = entry.get("additionalProperties")
        return f"names with {_kind(inner)}" if isinstance(inner, dict) else "names"
    kind = entry.get("type", "value with a unit")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def api_page() -> str:
    """`supple.Robot` and what comes with it, from signatures and docstrings."""
    import supple
    from supple.api import Robot

    lines = ["# Python", "", "How results are named and used: [supple in Python](../python.md).", "", "## supple.Robot", ""]
    lines += [*_documented_call("Robot", Robot)]
    for name, method in inspect.getmembers(Robot):
        if (
            not name.startswith("_")
            and (method.__doc__ or "")
            and (inspect.isfunction(method) or isinstance(method, property))
        ):
            lines += ["", f"### Robot.{name}", "", *_documented_call(name, method)]
    for name in supple.__all__:
        if name != "Robot":
            lines += ["", f"## supple.{name}", "", *_documented_call(name, getattr(supple, name))]
    return "\n".join(lines) + "\n"


def _documented_call(name: str, what: Any) -> Iterator[str]:
    if callable(what) and not isinstance(what, type):
        yield from ("```python", f"{name}{inspect.signature(what)}".replace("'", ""), "```", "")
    text = inspect.getdoc(what) or ""
    words, _, examples = text.partition(">>> ")
    yield from _plain(words).splitlines()
    if examples:
        yield from ("", "```python", *(">>> " + examples).splitlines(), "```")


def gallery_page(folder: Path, live: str) -> str:
    """The robots of the gallery, those named with a live page."""
    from supple.api import Robot
    from supple.machine import gallery

    asked = gallery() if live == "all" else [] if live == "none" else live.split(",")
    lines = ["# Gallery", "", "`supple robots` lists them; `supple show NAME -o page.html` makes the 3-D page of one.", ""]
    for name in gallery():
        robot = Robot(name)
        about, source = (
            _plain(" ".join(x.split())) for x in (robot.description.robot.about, robot.description.robot.source)
        )
        lines += [f"## {name}", "", about, ""]
        if name in asked:
            scene = robot.show(count=6, live=True)
            scene.save(folder / f"{name}.html")
            scene.save(folder / f"{name}.png")
            lines += [f"![{name} at rest](live/{name}.png)", "", f'<a href="{name}.html">Open its live 3-D page.</a>', ""]
        motions = ", ".join(f"`{m}`" for m in robot.motions) or "none"
        lines += [
            f"Motions: {motions}. Parameters: {', '.join(f'`{p}`' for p in robot.parameters) or 'none'}.",
            "",
            source,
            "",
        ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that is no markup: what Markdown or HTML would read otherwise is escaped."""
    text = re.sub(r"\n\s*\n", "\n\n", text.replace("\b", ""))
    return re.sub(r"([<>*_\[\]|])", r"\\\1", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


# Links ---------------------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            outside = (value or "").startswith(("http:", "https:", "//"))
            if key in ("href", "src") and value and not (tag == "a" and outside):  # what a reader may follow is not fetched
                self.links.append(value)
            if key in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site: Path) -> Iterator[str]:
    """Links to pages and anchors that are not there, and whatever would be fetched from the network."""
    pages: dict[Path, _Page] = {}
    for file in site.rglob("*.html"):
        if (site / "gallery.html").exists() and file.parent == site and file.stem in _live(site):
            continue
        pages[file] = _Page()
        pages[file].feed(file.read_text(encoding="utf-8"))
    for file, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:", "//")):
                yield f"{file.relative_to(site)}: {link} leads outside"
            elif not link.startswith(("mailto:", "data:", "javascript:")):
                target, _, anchor = link.partition("#")
                place = (file.parent / target.partition("?")[0]).resolve() if target else file
                if not place.exists():
                    yield f"{file.relative_to(site)}: {link} leads nowhere"
                elif anchor and place in pages and anchor not in pages[place].anchors:
                    yield f"{file.relative_to(site)}: {link} has no such place"


def _live(site: Path) -> set[str]:
    return {p.stem for p in (site.parent / "site_source" / "live").glob("*.html")}


if __name__ == "__main__":
    sys.exit(main())
