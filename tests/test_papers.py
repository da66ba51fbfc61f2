"""Papers made again: their own matrices beside other derivations, and the pages that show the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from closed_states import closed_state

from supple import papers
from supple.backends.interpreter import interpret
from supple.cli.main import main
from supple.formulations.rigid_links.named_matrices import named_matrices
from supple.formulations.tree.virtual_power import last_of_legs, recursion_model, recursion_names
from supple.machine import Machine
from supple.results.paper import Entry, Picture, Reproduction, Section
from supple.views.paper_page import paper_html


@pytest.mark.parametrize("name", ["dualemps", "five_bar_elastic", "3rrr", "3prr"])
def test_the_papers_recursion_balances_accelerations_of_lagranges_equations(name: str) -> None:
    """M a + c of the recursion (Briot & Khalil 2014, eq. 44) gives back the torques under which Lagrange's equations with
    multipliers, another derivation, accelerate: on the actuators tau, on all else nothing."""
    model = Machine.read(name).model("lagrange")
    m = model.mechanism
    f = interpret(recursion_model(m))
    places = [m.names().index(n) for n in recursion_names(m)]
    assert len(last_of_legs(m)) == m.equations and len(places) == m.nv - m.equations
    for seed in range(3):
        state = closed_state(model, seed)
        tau = np.random.default_rng(seed).uniform(-5, 5, len(model.active))
        a = model.forward(state.q, state.v, tau).a
        found = f(q=state.q, v=state.v, g=model.gravity)
        balance = found["M"] @ a[places] + found["c"]
        size = np.abs(found["M"]) @ np.abs(a[places]) + np.abs(found["c"])
        wanted = np.concatenate([tau, np.zeros(len(places) - len(tau))])
        assert np.abs(balance - wanted) == pytest.approx(0, abs=1e-9 * size.max())
        assert found["M"] == pytest.approx(found["M"].T)
        dependent = last_of_legs(m)
        order = [k for k in range(m.nv) if k not in set(dependent)]
        if dependent:
            assert found["J_d"] @ state.v[order] == pytest.approx(state.v[dependent], abs=1e-9)


def test_the_rule_for_dependent_coordinates_takes_the_last_of_each_leg() -> None:
    """Section 4.1: DualEMPS' second leg gives its blade; all three legs of the overconstrained 3-PRR give alike."""
    m = Machine.read("dualemps").mechanism()
    assert [m.names()[k] for k in last_of_legs(m)] == ["23.x1", "23.y1", "23.rz1"]
    m = Machine.read("3prr").mechanism()
    legs = [[n.split("/")[1] for k in last_of_legs(m) if (n := m.names()[k]).startswith(f"leg{i}/")] for i in (1, 2, 3)]
    assert legs[0] == legs[1] == legs[2] and len(legs[0]) == m.equations // 3 == 5


def test_the_matrices_of_the_erls_are_those_of_its_forces() -> None:
    """Eqs. (15)-(22) summed over links are the derivatives of the elastic forces by u'', u' and u (eq. 23)."""
    model = Machine.read("pacdrive", {"elements": 1, "beta": 0, "stiffening": "none"}).model("erls_compatible")
    m, rng = model.mechanism, np.random.default_rng(0)
    e = m.indices("elastic")
    q, v, a = (rng.uniform(-0.3, 0.3, m.nv) for _ in range(3))
    q[e] = v[e] = a[e] = 0.0
    found = interpret(named_matrices(m))(q=q, v=v, a=a, g=model.gravity)
    total = {k: sum(found[f"{k}_{f.name}"] for f in m.frames if f"{k}_{f.name}" in found) for k in
             ("M", "K", "MG1", "MG2", "MC1", "MC2", "MC3", "fg")}  # fmt: skip
    lam, w = np.zeros(m.equations), np.zeros((len(m.points), 6))

    def forces(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return model.call("forces", q=q, v=v, a=a, g=model.gravity, lam=lam, w=w)["f"][e]

    def slope(which: int) -> np.ndarray:
        columns = []
        for k in e:
            sides = []
            for sign in (1, -1):
                args = [q.copy(), v.copy(), a.copy()]
                args[which][k] = sign * 1e-3
                sides.append(forces(*args))
            columns.append((sides[0] - sides[1]) / 2e-3)
        return np.array(columns).T

    by_rate, by_place = 2 * (total["MG1"] + total["MG2"]), total["MC1"] + 2 * total["MC2"] + total["MC3"] + total["K"]
    assert slope(2) == pytest.approx(total["M"], abs=1e-9 * np.abs(total["M"]).max())
    assert slope(1) == pytest.approx(by_rate, abs=1e-7 * np.abs(by_rate).max())
    assert slope(0) == pytest.approx(by_place, abs=1e-7 * np.abs(by_place).max())
    still = [q, np.zeros(m.nv), np.zeros(m.nv)]
    assert -forces(*still) == pytest.approx(total["fg"], abs=1e-9)


def test_pages_state_printed_ours_difference_and_why_as_text() -> None:
    nasty = '<script>alert("x")</script>'
    entry = Entry("table 1", nasty, 2.0, 2.5, "kg", nasty)
    assert entry.difference == 0.5 and entry.relative == 0.25 and Entry("", "", None, 1.0).difference is None
    made = Reproduction("x", nasty, nasty, (Section(nasty, nasty, (entry,), (Picture(nasty, nasty, b"png"),)),), 1.0)
    page = paper_html([made, replace(made, name="y")])
    assert "<script" not in page and "+0.5 (+25 %)" in page and "http" not in page and 'href="#y"' in page


def test_a_paper_by_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, its page and its JSON, on the tables of one paper (its motions: `supple paper all` by hand)."""
    from supple.papers import stachera2008

    monkeypatch.setattr(stachera2008, "_motion", lambda printed: [])
    monkeypatch.setattr(stachera2008, "_operations", lambda printed: Section("left out: it takes long"))
    found = CliRunner().invoke(main, ["paper", "stachera2008", "-o", str(tmp_path / "out"), "--json"])
    assert found.exit_code == 0, found.output
    numbers = [n for s in json.loads(found.stdout)["sections"] for n in s["numbers"]]
    triglide = next(n for n in numbers if n["what"] == "Triglide, SCDD")
    assert (triglide["printed"], triglide["ours"]) == (162, 192) and "six rods" in triglide["why"]
    assert all(n["why"] or n["difference"] == 0 for n in numbers)
    page = (tmp_path / "out" / "stachera2008.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "Triglide" in page
    wrong = CliRunner().invoke(main, ["paper", "nonsense"])
    assert wrong.exit_code == 2 and "choose one of briot2014" in wrong.stderr


@pytest.mark.parametrize("name", papers.PAPERS)
def test_every_paper_has_its_printed_numbers_and_its_file(name: str) -> None:
    folder = Path(papers.__file__).parent
    assert (folder / "printed" / f"{name}.toml").is_file() and (folder / f"{name}.py").is_file()
