"""Formulations show themselves: one record each is all that lists, help, comparison and generator know of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from toy_formulation import FORMULATION

from supple.cli.main import main
from supple.errors import SuppleError
from supple.formulations import registry
from supple.machine import Machine
from supple.model.couplings import COUPLINGS

PENDULUM = """
name: pendulum
space: planar
gravity: [0, -9.81, 0]
bodies: {rod: {rigid: {mass: 1, first_moments: [0.5, 0, 0], inertia_at_origin: {zz: 0.4}}}}
links: {rod: {parent: base, joint: revolute, q: q1, body: rod}}
actuators: {q1: {viscous: 0.1}}
"""


def run(*arguments: str) -> Result:
    shown = CliRunner().invoke(main, list(arguments), prog_name="supple", terminal_width=200)
    assert shown.exit_code == 0, shown.output
    return shown


@pytest.fixture
def toy() -> Iterator[str]:
    with registry.registered(FORMULATION):
        yield FORMULATION.name
    assert FORMULATION.name not in registry.names()


def test_a_further_formulation_is_in_every_list(toy: str, tmp_path: Path) -> None:
    """Help names it, `modes`, `count` and `compare` take it, and it differs from the first by rounding, as it promised."""
    for verb in ("modes", "count", "generate", "simulate", "inverse"):
        assert f"erls_compatible, {toy}." in " ".join(run(verb, "--help").stdout.split())
    at = ("five_bar", "--json")
    own, first = (json.loads(run("modes", *at, *more).stdout) for more in (("--formulation", toy), ()))
    assert own["frequencies_hz"] == pytest.approx(first["frequencies_hz"], rel=1e-9)
    pendulum = tmp_path / "pendulum.yaml"
    pendulum.write_text(PENDULUM, encoding="utf-8")
    counts = json.loads(run("count", str(pendulum), "--json", "--model", "forward", "--formulation", toy).stdout)
    assert counts["operations"]["total"] > 3
    compared = json.loads(run("compare", *at, "--no-time", "--only", toy).stdout)
    row = {row["formulation"]: row for row in compared["rows"]}[toy]
    assert row["expected"] == "rounding" and row["forward_operations"] > 100
    assert max(row["mass_difference"], row["force_difference"]) < 1e-10


def test_it_is_gone_afterwards_and_names_are_taken_once() -> None:
    with pytest.raises(SuppleError, match="there is no formulation 'toy'; choose one of newton_euler, lagrange"):
        registry.formulation("toy")
    with registry.registered(FORMULATION), pytest.raises(SuppleError, match="there is a formulation 'toy' already"):
        registry.register(FORMULATION)


@pytest.mark.parametrize("name", registry.names())
def test_records_say_what_the_methods_do(name: str) -> None:
    """The record's name is that of its file; its equations carry it and its coupling."""
    method = registry.formulation(name)
    robot = Machine.read("gough_stewart_plate" if name == "platform_eliminated" else "five_bar_elastic")
    equations = robot.equations(name)
    assert method.name == name == equations.formulation
    assert method.couple == equations.coupling and method.couple in COUPLINGS
    assert method.about and method.models
