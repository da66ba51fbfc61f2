"""Files of measurements: what is written is read, headers that lie are noticed, and pyuff agrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine
from supple.measured.functions import read_functions
from supple.measured.gathered import modes_in, responses_in, table_of
from supple.measured.hammer import Blow, Processing, blow_fault, responses_of
from supple.measured.instrumented import instrumented, rows_of
from supple.measured.mode_sets import NodalMode, write_modes
from supple.measured.test import parse_test
from supple.model.posture import posture
from supple.storage.universal import Function58, write_functions

X = np.arange(64) * 0.4887585532746823


def function(**change):
    rng = np.random.default_rng(0)
    y = rng.normal(size=64) + 1j * rng.normal(size=64)
    made = {"kind": 4, "x": X, "y": y, "node": 3, "direction": -3, "reference": 1, "reference_direction": 2, "order": 2,
            "force": False, "name": "a", "case": 7}  # fmt: skip
    return Function58(**(made | change))


def test_functions_are_read_as_they_were_written(tmp_path: Path) -> None:
    first, second = function(), function(kind=1, y=np.sin(X), force=True, order=None)
    path = write_functions(tmp_path / "a.uff", [first, second], {1: (0, 0, 1), 3: (1, 2, 3)})
    found = read_functions(path)
    for a, b in zip(found.functions, (first, second), strict=True):
        np.testing.assert_allclose(a.y, b.y, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(a.x, b.x)  # the step keeps all its digits
        assert (a.node, a.direction, a.reference, a.reference_direction, a.order, a.force, a.case) == (
            b.node, b.direction, b.reference, b.reference_direction, b.order, b.force, 7,
        )  # fmt: skip
    assert found.nodes[3] == (1, 2, 3)


def test_pyuff_reads_the_same(tmp_path: Path) -> None:
    pyuff = pytest.importorskip("pyuff")
    path = write_functions(tmp_path / "a.uff", [function()])
    (units, found) = pyuff.UFF(str(path)).read_sets()
    assert units["type"] == 164 and (found["rsp_node"], found["rsp_dir"], found["ref_dir"]) == (3, -3, 2)
    np.testing.assert_allclose(found["data"], function().y, rtol=1e-10)


def test_units_and_labels_scale_to_si(tmp_path: Path) -> None:
    path = write_functions(tmp_path / "a.uff", [function()])
    text = path.read_text()
    in_g = tmp_path / "g.uff"
    in_g.write_text(text.replace("m/s^2               ", "g                   "))
    np.testing.assert_allclose(read_functions(in_g).functions[0].y, 9.80665 * function().y, rtol=1e-9)
    millimetres = tmp_path / "mm.uff"
    one = f"{1.0:25.17E}"
    made = text.replace("m/s^2", "NONE ").replace(one, f"{1000.0:25.17E}", 1)  # 1000 mm a metre
    millimetres.write_text(made)
    np.testing.assert_allclose(read_functions(millimetres).functions[0].y, 1e-3 * function().y, rtol=1e-9)


def binary(values: int = 64, announced: int | None = None) -> bytes:
    """A dataset 58b of complex doubles."""
    y = function().y
    data = np.column_stack([y.real, y.imag]).astype("<f8").tobytes()
    size = len(data) if announced is None else announced
    rows = [
        "NONE", "NONE", "NONE", "NONE", "NONE",
        f"{4:5d}{0:10d}{0:5d}{0:10d} {'NONE':<10}{3:10d}{-3:4d} {'NONE':<10}{1:10d}{2:4d}",
        f"{6:10d}{values:10d}{1:10d}{0.0:13.5E}{0.5:13.5E}{0.0:13.5E}",
        f"{18:10d}{0:5d}{0:5d}{0:5d} NONE                 Hz", f"{12:10d}{0:5d}{0:5d}{0:5d} NONE                 m/s^2",
        f"{13:10d}{0:5d}{0:5d}{0:5d} NONE                 N", f"{0:10d}{0:5d}{0:5d}{0:5d} NONE                 NONE",
    ]  # fmt: skip
    head = f"    -1\n    58b{1:6d}{2:6d}{11:12d}{size:12d}{0:6d}{0:6d}{0:12d}{0:12d}\n" + "\n".join(rows) + "\n"
    return head.encode() + data + b"\n    -1\n"


def test_binary_functions_and_headers_that_lie(tmp_path: Path) -> None:
    path = tmp_path / "b.uff"
    path.write_bytes(binary())
    found = read_functions(path)
    np.testing.assert_array_equal(found.functions[0].y, function().y)
    assert not found.notices
    path.write_bytes(binary(announced=512))  # as pyuff writes it: half of what there is
    found = read_functions(path)
    np.testing.assert_array_equal(found.functions[0].y, function().y)
    assert "announces 512 bytes" in found.notices[0]
    for content in (binary(values=200_000_000), binary()[:-400], binary(values=63), binary(announced=10**10)[:900]):
        path.write_bytes(content)
        with pytest.raises(SuppleError, match=r"^b.uff:2: dataset 58b: .*(announces|holds|is broken)"):
            read_functions(path)


def test_large_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.uff"
    with path.open("wb") as file:
        file.truncate(10_000_000_000)  # takes no room
    with pytest.raises(SuppleError, match="has 10000 MB; at most 1000 MB are read"):
        read_functions(path)


# Tests --------------------------------------------------------------------------------------------------------------

TEXT = """
sensors:
  tip: {link: '17', at: [0.02, 0, 0], axes: link, node: 4, mass: 30 g, directions: [x, -y]}
  left: {joint: q11, kind: encoder, node: 5}
exciters:
  hammer: {point: P, direction: -x, node: 9}
poses:
  first: {at: {q11: 0.05}, frequencies: [25 Hz, 14 Hz], damping: [0.02, 0.01]}
"""


@pytest.fixture(scope="module")
def robot() -> Machine:
    return Machine.read("dualemps")


def read(text: str, robot: Machine, folder: Path = Path()):
    return parse_test(text, "test.yaml", folder, robot.description, robot.mechanism())


def test_a_test_is_read_in_numbers(robot: Machine) -> None:
    test = read(TEXT, robot)
    assert [c.name for c in test.outputs] == ["tip.x", "tip.-y", "left"]
    assert [(c.node, c.code, c.order) for c in test.outputs] == [(4, 1, 2), (4, -2, 2), (5, 0, 0)]
    assert test.inputs[0].vector.tolist() == [-1, 0, 0] and test.poses[0].at == {"q11": 0.05}
    table = table_of(test, test.poses[0])
    assert table is not None and table.frequencies_hz.tolist() == [14, 25] and table.ratios.tolist() == [0.01, 0.02]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("link: '17'", "link: '18'"), "test.yaml:3: sensors.tip.link: there is no link '18'"),
        (("joint: q11", "joint: q99"), "sensors.left.joint: there is no joint 'q99'"),
        (("point: P", "point: Q"), "exciters.hammer.point: there is no point of the robot 'Q'"),
        (("q11: 0.05", "q12345: 0.05"), "poses.first.at.q12345"),
        (("14 Hz]", "14]"), ""),
        (("25 Hz", "25 mm"), "poses.first.frequencies"),
        (("damping: [0.02, 0.01]", "damping: [0.02]"), "needs a ratio for each"),
        (("node: 5", "nod: 5"), "unknown key; did you mean 'node'?"),
        (("mass: 30 g", "mass: -30 g"), "must not be negative"),
        (("point: P, ", ""), "needs exactly one of point or link"),
    ],
)
def test_faults_of_a_test_are_told_with_their_line(robot: Machine, change: tuple[str, str], words: str) -> None:
    text = TEXT.replace(*change)
    if not words:
        read(text, robot)
        return
    with pytest.raises(RobotFileError) as told:
        read(text, robot)
    assert words in str(told.value) and "test.yaml:" in str(told.value)


def test_sensors_load_the_robot_and_watch_it(robot: Machine) -> None:
    """The sensor's mass is there; its rows are those of the link's axes, found here by moving the robot a little."""
    test = read(TEXT, robot)
    model = instrumented(robot, test).model()
    bare = sum(float(f.body.mass) for f in robot.mechanism().frames)
    assert sum(float(f.body.mass) for f in model.mechanism.frames) == pytest.approx(bare + 0.03)
    q = posture(model, {"q11": 0.05})
    rows = rows_of(model, q, test.outputs, np.eye(model.nv))
    k, h = list(model.mechanism.points).index("tip"), 1e-6
    R = model.call("points", q=q)["rotation"][k]
    for i in range(0, model.nv, 3):
        step = np.zeros(model.nv)
        step[i] = h
        ends = [model.call("points", q=model.retract(q, s))["position"][k] for s in (step, -step)]
        moved = R.T @ (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(rows[:2, i], [moved[0], -moved[1]], atol=1e-7)
    assert rows[2].tolist() == np.eye(model.nv)[model.index("q11")].tolist()


def test_nodes_and_directions_become_channels(robot: Machine, tmp_path: Path) -> None:
    text = TEXT.replace("frequencies: [25 Hz, 14 Hz], damping: [0.02, 0.01]", "responses: a.uff, modes: m.uff")
    test = read(text, robot, tmp_path)
    kinds = [(4, -1), (4, 2)]
    hit = {"reference": 9, "reference_direction": 1}
    write_functions(tmp_path / "a.uff", [function(node=n, direction=d, **hit) for n, d in kinds])
    found = responses_in(test, test.poses[0])
    assert found is not None and found.outputs == ("tip.x", "tip.-y")
    np.testing.assert_allclose(found.values[:, 0, 0], function().y, rtol=1e-9)  # -x by +x of a hammer along -x
    np.testing.assert_allclose(found.values[:, 1, 0], function().y, rtol=1e-9)
    write_modes(tmp_path / "m.uff", [NodalMode(-1 + 50j, {4: np.array([1, 2, 3 + 1j])})])
    modes = modes_in(test, test.poses[0])
    assert modes is not None and modes.shapes[:, 0].tolist() == [1, -2]
    write_functions(tmp_path / "a.uff", [function(node=44, direction=1, reference=9, reference_direction=1)])
    with pytest.raises(SuppleError, match=r"node 44 belong to no channel of test.yaml, whose nodes are 4, 5"):
        responses_in(test, test.poses[0])


# Blows --------------------------------------------------------------------------------------------------------------


def blow(second: float = 0.0, noise: float = 0.0, seed: int = 0, samples: int = 4096) -> Blow:
    """A smooth pulse of 10 ms on a damped oscillator (12 Hz, 2 %), by exact steps of the pulse on a fine grid."""
    from scipy.signal import cont2discrete

    step, fine = 1e-3, 10
    t = np.arange(samples * fine) * step / fine
    force = np.where((t > 0.02) & (t < 0.03), np.sin(np.pi * (t - 0.02) / 0.01) ** 2, 0.0) * 100
    force = force + second * np.roll(force, int(0.1 / step * fine))
    w, z = 2 * np.pi * 12, 0.02
    system = (np.array([[0, 1], [-(w**2), -2 * z * w]]), np.array([[0], [1.0]]), np.array([[1.0, 0]]), np.zeros((1, 1)))
    A, B, C, D, _ = cont2discrete(system, step / fine, "foh")
    x, y = np.zeros(2), np.empty(len(t))
    for k, f in enumerate(force):
        y[k] = C[0] @ x + D[0, 0] * f
        x = A @ x + B[:, 0] * f
    rng = np.random.default_rng(seed)
    y, force = y[::fine], force[::fine]
    return Blow(force, (y + noise * np.abs(y).max() * rng.normal(size=len(y)))[:, None], f"blow {seed}")


def exact(f, decay):
    s, w, z = 2j * np.pi * f + decay, 2 * np.pi * 12, 0.02
    return 1 / (s**2 + 2 * z * w * s + w**2)


def test_responses_from_blows_are_those_of_the_oscillator() -> None:
    """Where coherence is high, within 1 %; a double hit is left out, an exponential window shifts the frequency axis."""
    blows = [blow(noise=0.002, seed=k) for k in range(3)] + [blow(second=0.4, seed=3)]
    how = Processing(1e-3, force_window=0.05, exponential=0.05)
    found = responses_of(blows, how, ("a",), "hammer", (0,))
    assert len(found.notices) == 1 and "blow 3 of hammer is left out: it hits twice" in found.notices[0]
    f = found.frequencies_hz
    assert found.coherence is not None
    good = (found.coherence[:, 0, 0] > 0.95) & (f > 5) & (f < 20)
    assert good.sum() > 30
    error = np.abs(found.values[good, 0, 0] / exact(f[good], found.decay) - 1)
    assert np.sqrt(np.mean(error**2)) < 0.01


def test_overloads_and_silence_are_found() -> None:
    good, how = blow(), Processing(1e-3)
    assert blow_fault(good, how) is None
    cut = Blow(good.force, np.clip(good.responses, -0.5 * good.responses.max(), 0.5 * good.responses.max()))
    assert "a response is overloaded" in str(blow_fault(cut, how))
    assert "the force is overloaded" in str(blow_fault(good, Processing(1e-3, full_scale=50)))
    assert "no blow" in str(blow_fault(Blow(0 * good.force, good.responses), how))
