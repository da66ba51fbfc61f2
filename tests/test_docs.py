"""The documentation: code blocks run as printed, commands that parse, a site without broken links."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path

import click
import pytest
from docs_blocks import ROOT, Block, blocks, commands, pages, run, words

from supple.backends.compiler import find_compiler
from supple.cli.main import main
from supple.measured.test_file import TestFile
from supple.robot.description import Body, Link, Motion, RobotFile
from supple.robot.reader import describe_text
from supple.robot.yaml_tree import read_tree

RUN = [
    p
    for p in pages()[1:]
    if any((b.language in ("sh", "python") or "$ supple" in b.text) and not b.by_hand for b in blocks(p))
]
READ = [b for p in pages() for b in blocks(p) if b.language == "yaml" and not b.sketch]
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@needs_compiler
@pytest.mark.parametrize("page", RUN, ids=lambda p: p.stem)
def test_blocks_run_as_printed(page: Path, tmp_path: Path) -> None:
    """Shell and Python blocks in their order, in one folder; those marked by hand are run by bench/docs.py."""
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    names: dict[str, object] = {}
    for block in blocks(page):
        if not block.by_hand:
            run(block, tmp_path, names)


@pytest.mark.parametrize("block", READ, ids=lambda b: b.name)
def test_yaml_blocks_are_what_supple_reads(block: Block) -> None:
    """Whole robot and test files, parts of them, and bodies: every key is known and every value has its place."""
    given = read_tree(block.text, block.name).value
    assert isinstance(given, dict)
    if given.keys() <= Motion.model_fields.keys() and not given.keys() <= RobotFile.model_fields.keys():
        Motion.model_validate(given)
    elif "links" in given and "bodies" in given and ("platform" in given or "space" in given):
        describe_text(block.text, block.name)
    elif given.keys() <= TestFile.model_fields.keys():
        missing = {k: {} for k in ("sensors", "exciters", "poses") if k not in given}
        TestFile.model_validate(given | missing)
    elif given.keys() <= RobotFile.model_fields.keys():
        RobotFile.model_validate({"space": "spatial", **given})
    elif given.keys() <= Link.model_fields.keys():
        Link.model_validate({"parent": "base", **given})
    else:
        for body in given.values():
            Body.model_validate(body)


def test_the_readme_prints_what_its_python_prints(capsys: pytest.CaptureFixture[str]) -> None:
    python, printed = (b for b in blocks(ROOT / "README.md") if b.text.startswith(("import supple", "mode 1:")))
    exec(compile(python.text, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == printed.text.strip()


@pytest.mark.parametrize("page", [p for p in pages() if commands(p)], ids=lambda p: p.stem)
def test_commands_are_as_the_command_line_takes_them(page: Path) -> None:
    """Every command that is printed parses: its verb, its options and how many arguments it has."""
    for line, command in commands(page):
        verb, *rest = words(command)
        if any(w in ("ROBOT", "NAME", "...", "[-o", "VERB") or w.startswith("[") for w in rest):
            continue  # shows what may be written
        found = main.get_command(click.Context(main), verb)
        assert found is not None, f"{page.name}:{line}: there is no verb {verb!r}"
        if "--help" in rest:
            continue
        try:
            found.make_context(verb, list(rest), resilient_parsing=False)
        except click.ClickException as problem:
            raise AssertionError(f"{page.name}:{line}: {command}: {problem.format_message()}") from problem


def test_blocks_by_hand_have_a_reason() -> None:
    """Few, and each says why CI does not run it; nothing else is left out."""
    marks = sum(len(re.findall("<!-- by hand", p.read_text(encoding="utf-8"))) for p in pages())
    left = [b for p in pages() for b in blocks(p) if b.by_hand]
    assert len(left) == marks, "a mark stands above no block, or says no reason"
    for page in pages():
        within = {k for b in blocks(page) for k in range(b.line, b.line + b.text.count("\n") + 3)}
        assert all(k in within for k, _ in commands(page)), f"{page.name}: a command stands outside of blocks"


def test_every_page_is_on_the_site() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in pages()[1:]:
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert name in ("README", "index") or f"\n{name}\n" in contents, f"{name} is in no toctree of docs/index.md"


def test_the_site_builds_without_warnings_and_broken_links(tmp_path: Path) -> None:
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason="the site needs the extra docs")
    from sphinx.application import Sphinx

    spec = importlib.util.spec_from_file_location("site_of_supple", ROOT / "docs" / "site.py")
    assert spec is not None and spec.loader is not None
    site = importlib.util.module_from_spec(spec)
    sys.modules["site_of_supple"] = site
    spec.loader.exec_module(site)
    source = site.prepare(tmp_path / "site_source")
    out = tmp_path / "site"
    app = Sphinx(str(source), str(source), str(out), str(tmp_path / "trees"), "html", warningiserror=True, status=None)
    app.build()
    assert app.statuscode == 0
    assert list(site.broken_links(out)) == []
    assert "supple identify" in (out / "reference" / "verbs.html").read_text(encoding="utf-8")
    (out / "extra.html").write_text(
        '<a href="nowhere.html">x</a><a href="index.html#nothing">y</a><img src="https://x.y/z">'
    )
    assert len(list(site.broken_links(out))) == 3
