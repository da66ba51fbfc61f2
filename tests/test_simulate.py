"""`supple simulate` and `supple inverse` as users meet them: results, files, faults."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from click.testing import CliRunner, Result
from limits import PATIENCE
from scipy.io import loadmat

from supple.backends.stepping.settings import Settings
from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator
from supple.storage import save

SLOW = ["simulate", "dualemps", "--motion", "square", "--method", "gauss", "--tol", "1e-9"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def summary(*arguments: str) -> dict[str, Any]:
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def square() -> Any:
    return integrate(simulator(Machine.read("dualemps"), "square", duration=2.0), Settings())


def low_passed(x: np.ndarray, every: float) -> np.ndarray:
    from scipy.signal import butter, filtfilt

    b, a = butter(4, 100.0 * 2 * every)
    return filtfilt(b, a, x, axis=0)


def test_default_settings_are_within_one_percent() -> None:
    """Tip acceleration on the paper's first trajectory against a converged solution of order six, RMS."""
    made = simulator(Machine.read("dualemps"), "square")
    reference = integrate(made, Settings(method="gauss", tolerance=1e-8))
    finer = integrate(made, Settings(method="gauss", tolerance=1e-9))
    default = integrate(made, Settings())
    wanted = reference["point_acceleration"]
    rms = float(np.sqrt((wanted**2).mean()))
    assert np.sqrt(((finer["point_acceleration"] - wanted) ** 2).mean()) < 1e-3 * rms
    assert np.sqrt(((default["point_acceleration"] - wanted) ** 2).mean()) < 0.01 * rms
    assert default.summary["worst_closure"] < 1e-10
    assert default.summary["energy_balance_error"] < 1e-4


def test_acceleration_steps_after_the_papers_filter() -> None:
    """Trapezoidal moves ring every mode; below 100 Hz, where the paper measures, the default is within one percent."""
    made = simulator(Machine.read("dualemps"), "square_trapezoidal", duration=6.25)
    wanted = low_passed(integrate(made, Settings(method="gauss", tolerance=1e-8))["point_acceleration"][:, 0], 1e-3)
    found = low_passed(integrate(made, Settings())["point_acceleration"][:, 0], 1e-3)
    assert np.sqrt(((found - wanted) ** 2).mean()) < 0.01 * np.sqrt((wanted**2).mean())


def test_signals_have_names_units_and_agree_with_each_other(square: Any) -> None:
    assert set(square.signals) >= {
        "position",
        "velocity",
        "acceleration",
        "tau",
        "point_acceleration",
        "energy_kinetic",
        "closure",
    }
    q, v = square["position:q12"], square["velocity:q12"]
    assert np.allclose(np.gradient(q, square.time)[2:-2], v[2:-2], atol=2e-4)
    path = square["point_position"][:, 0]
    assert np.allclose(np.gradient(path, square.time, axis=0)[2:-2], square["point_velocity"][2:-2, 0], atol=2e-4)
    assert square.signals["tau"].unit == ("N", "N")
    assert np.abs(square["point_deformation"]).max() < 1e-3  # 0.1 mm on this robot


def test_files_hold_the_same_numbers(square: Any, tmp_path: Path) -> None:
    for suffix in (".nc", ".csv", ".mat"):
        save(square, tmp_path / f"square{suffix}")
    kept = xarray.open_dataset(tmp_path / "square.nc")
    assert np.array_equal(kept.tau.sel(actuator="q21").values, square["tau:q21"])
    assert kept.attrs["outcome"] == "complete" and len(kept.attrs["robot_file_sha256"]) == 64
    assert kept.point_acceleration.attrs["units"] == "m/s^2" and kept.kind.sel(coordinate="q12") == "passive"
    matlab = loadmat(tmp_path / "square.mat")
    assert np.array_equal(matlab["tau"], square["tau"])
    lines = [x for x in (tmp_path / "square.csv").read_text().splitlines() if not x.startswith("#")]
    column = lines[0].split(",").index("tau[q21] (N)") if '"' not in lines[0].split("tau[q21]")[0] else None
    table = np.genfromtxt(lines[1:], delimiter=",")
    assert table.shape[0] == len(square.time)
    assert column is None or np.allclose(table[:, column], square["tau:q21"])


def test_json_says_how_it_was_computed() -> None:
    found = summary("simulate", "dualemps", "--motion", "square", "--duration", "0.5")
    wanted = {"wall_time_s", "steps", "evaluations", "newton_iterations", "worst_closure", "energy_balance_error"}
    assert wanted <= set(found) and found["outcome"] == "complete" and found["last_time_s"] == 0.5


def test_inverse_dynamics_gives_the_torques_of_the_simulation(square: Any) -> None:
    """The torques of prescribed actuators drive the same motion when they are applied; quasi-static ones nearly so."""
    found = summary("inverse", "dualemps", "--motion", "square", "--duration", "2.0")
    assert found["signals"]["tau"]["most"] == pytest.approx(square["tau"].max(), rel=1e-6)
    still = summary("inverse", "dualemps", "--motion", "square", "--duration", "2.0", "--quasi-static")
    assert still["signals"]["tau"]["most"] == pytest.approx(square["tau"].max(), rel=2e-3)


def test_pictures_are_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "circle.png"
    assert run("simulate", "dualemps", "--motion", "circle", "--plot", str(picture)).exit_code == 0
    assert picture.read_bytes()[:4] == b"\x89PNG" and picture.stat().st_size > 20_000


def test_several_runs_at_once() -> None:
    found = summary("simulate", "dualemps", "--motion", "square", "--duration", "0.3", "--vary", "E=60e9:80e9:10")
    assert found["runs"] == 10 and len(found["axes"]["run"]) == 10


def test_several_runs_in_files(tmp_path: Path) -> None:
    made = simulator(Machine.read("dualemps"), "square", duration=0.1, vary={"E": [60e9, 70e9, 80e9]})
    result = integrate(made, Settings(step=1e-3, every=0.03))
    assert result.time[-1] == 0.1  # a sample at the end, though 0.03 does not divide it
    for suffix in (".nc", ".csv", ".mat"):
        save(result, tmp_path / f"runs{suffix}")
    kept = xarray.open_dataset(tmp_path / "runs.nc")
    assert kept.varied.sel(what="E").values.tolist() == [60e9, 70e9, 80e9]
    assert kept.tau.dims == ("time", "run", "actuator")
    alone = integrate(
        simulator(Machine.read("dualemps", {"E": 70e9}), "square", duration=0.1), Settings(step=1e-3, every=0.03)
    )
    assert np.allclose(result["point_position"][:, 1], alone["point_position"], rtol=0, atol=1e-9)


def test_runs_that_meet_singular_poses_are_computed_alone() -> None:
    """Side by side the Bricard mechanism cannot change its free coordinate; then each run goes its own way."""
    strict = Settings(method="gauss", tolerance=1e-10, every=0.1)
    together = integrate(simulator(Machine.read("bricard"), "fall", duration=1.6, vary={"q1": [0.0, 0.1]}), strict)
    alone = integrate(simulator(Machine.read("bricard"), "fall", duration=1.6), strict)
    assert together.complete and np.array_equal(together["point_position"][:, 0], alone["point_position"])


def test_forces_recorded_are_those_of_the_control_law() -> None:
    motion = simulator(Machine.read("3rrr"), "turn").motion
    assert motion.controller is not None
    motion = replace(motion, controller=replace(motion.controller, sample=0.0), duration=0.05)
    made = simulator(Machine.read("3rrr"), motion)
    result = integrate(made, Settings(method="gauss"))
    assert made.path is not None and motion.controller is not None
    x, xd, _ = made.path(result.time)
    for k, name in enumerate(made.path.names):
        wanted = 100.0 * (x[:, k] - result[f"position:{name}"]) + 2.0 * (xd[:, k] - result[f"velocity:{name}"])
        assert np.allclose(result[f"tau:{name}"], wanted, rtol=0, atol=1e-6)


# Faults -------------------------------------------------------------------------------------------------------------


def test_leaving_the_workspace_keeps_what_was_computed(tmp_path: Path) -> None:
    motion, kept = tmp_path / "leave.yaml", tmp_path / "leave.nc"
    motion.write_text("space: platform\nstart: {x: 0, y: 0, z: -0.6}\nmoves:\n  - {to: {x: 0.9}, duration: 1 s}\n")
    found = run("simulate", "delta", "--motion", str(motion), "-o", str(kept))
    assert found.exit_code == 2 and "Traceback" not in found.output
    assert "t = 0.6" in found.output and "last pose reached: x = 0.6" in found.output
    saved = xarray.open_dataset(kept)
    assert 0.55 < float(saved.time[-1]) < 0.65 and np.isfinite(saved.position.values).all()
    assert "last pose" in saved.attrs["outcome"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--step", "30"], "longer than the motion"),
        (["--step", "1e-13"], "steps"),
        (["--step", "-1"], "above zero"),
        (["--step", "1 kg"], "kg"),
        (["--tol", "0"], "above zero"),
        (["--rho", "1.5"], "between 0 and 1"),
        (["--every", "1e-9"], "too many"),
        (["-o", "square.txt"], ".nc"),
        (["--plot", "square.txt"], ".png"),
        (["--resume"], "-o FILE"),
        (["--controller", "pd"], "gains"),
        (["--controller", "lqr:kp=1"], "pd, pid"),
        (["--controller", "pd:kp=-1"], "zero or more"),
        (["--controller", "pid:kp=1,kd=1,ki=1"], "sample"),
        (["--controller", "pd:kp=1,kd=1,delay=1 ms"], "sample"),
        (["--controller", "pd:kp=1,kd=1,sample=1 ms,delay=1 s"], "60 samples"),
        (["--controller", "pd:kp=1,kd=1,limit=0"], "above zero"),
        (["--vary", "q11=0,0.1"], "says where it begins"),
        (["--vary", "nobody=1,2"], "nobody"),
        (["--vary", "E=1:2"], "FIRST:LAST:COUNT"),
        (["--duration", "nan"], "nan"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], words: str) -> None:
    found = run("simulate", "dualemps", "--motion", "square", *arguments)
    assert found.exit_code == 2 and words in found.output and "Traceback" not in found.output


def test_not_a_number_in_a_table(tmp_path: Path) -> None:
    table = tmp_path / "nan.csv"
    table.write_text("t,q11,q21\n0,0,0\n0.5,0.05,nan\n1,0.1,0.1\n")
    found = run("simulate", "dualemps", "--motion", str(table))
    assert found.exit_code == 2 and "nan.csv:3" in found.output and "q21" in found.output


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "supple", *arguments]


STRUCK = """
import os, signal, sys
from supple import checkpoints
from supple.analyses import simulate
from supple.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background inherits as ignored
simulate.PIECE = 1e-3
keep, struck = checkpoints.Checkpoints.keep, []

def kept(self, *given):
    keep(self, *given)
    if not struck:
        struck.append(1)
        os.kill(os.getpid(), int(sys.argv[1]))

checkpoints.Checkpoints.keep = kept
main(sys.argv[2:])
"""  # a process that is sent a signal once it has kept its first checkpoint


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_resumed_is_the_same(how: signal.Signals, tmp_path: Path) -> None:
    """A run that was killed, or interrupted, and resumed equals one that was not, to the last bit."""
    whole, broken = tmp_path / "whole.nc", tmp_path / "broken.nc"
    words = [sys.executable, "-c", STRUCK, str(int(how)), *SLOW, "-o", str(broken)]
    process = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    if how == signal.SIGINT:
        assert process.returncode == 130 and "--resume" in process.stderr
        assert 0 < float(xarray.open_dataset(broken).time[-1]) < 25
    else:
        assert process.returncode == -signal.SIGKILL and not broken.exists()
    assert run(*SLOW, "-o", str(broken), "--resume").exit_code == 0
    assert not (tmp_path / "broken.nc.part").exists()
    assert run(*SLOW, "-o", str(whole)).exit_code == 0
    a, b = xarray.open_dataset(whole), xarray.open_dataset(broken)
    assert all(np.array_equal(a[k].values, b[k].values) for k in a.data_vars)


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """Files may grow to 300 kB only: writing fails with a clear message, and the run can be resumed."""
    result = tmp_path / "full.nc"

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    done = subprocess.run(
        command(*SLOW, "-o", str(result)), capture_output=True, text=True, preexec_fn=little_room, timeout=PATIENCE
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "cannot be written" in done.stderr and not result.exists()
    if any((tmp_path / "full.nc.part").glob("state-*.bin")):
        assert run(*SLOW, "-o", str(result), "--resume").exit_code == 0
        assert float(xarray.open_dataset(result).time[-1]) == 25.0


def bytes_written() -> int:
    """By this process so far, as the kernel counts them."""
    return int(next(x for x in Path("/proc/self/io").read_text().splitlines() if x.startswith("wchar")).split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").is_file(), reason="the kernel counts no bytes")
def test_checkpoints_cost_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes written beside the states, by the kernel's count: as many as the samples have, however many checkpoints."""
    from supple.checkpoints import Checkpoints
    from supple.simulation import integrate as module

    class Counted(Checkpoints):
        states = written = samples = calls = 0

        def keep(self, block: int, state: bytes, before: int, samples: Any, notes: Any) -> None:
            begun = bytes_written()
            super().keep(block, state, before, samples, notes)
            self.written += bytes_written() - begun
            self.states += (self.folder / f"state-{block}.bin").stat().st_size
            self.samples += samples.nbytes
            self.calls += 1

    monkeypatch.setattr(module, "PIECE", 1e-4)  # 200 steps between two checkpoints
    found = []
    for duration in (0.5, 1.0):
        keeper = Counted(tmp_path / f"{duration}.nc", "same")
        made = simulator(Machine.read("dualemps"), "square", duration=duration)
        integrate(made, Settings(step=1e-4, every=1e-4), keeper=keeper)
        assert keeper.calls > 10
        assert keeper.samples == (keeper.folder / "samples-0.f64").stat().st_size
        assert keeper.written - keeper.states == pytest.approx(keeper.samples, rel=0.02)
        found.append(keeper.samples)
    assert found[1] == pytest.approx(2 * found[0], rel=1e-3)


def test_a_checkpoint_broken_off_anywhere_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples that no state counts yet do not matter, nor does keeping the same ones twice."""
    from supple import checkpoints

    rows = np.random.default_rng(1).normal(size=(9, 2, 3))
    keeper = checkpoints.Checkpoints(tmp_path / "x.nc", "same")
    keeper.keep(0, b"first", 0, rows[:4], {"a": 1})
    with monkeypatch.context() as broken:
        broken.setattr(checkpoints, "store", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            keeper.keep(0, b"second", 4, rows[4:6] + 1.0, {})
    state, samples, notes = checkpoints.Checkpoints(tmp_path / "x.nc", "same").kept(0) or (b"", None, None)
    assert state == b"first" and np.array_equal(samples, rows[:4]) and notes == {"a": 1}
    for _ in range(2):
        keeper.keep(0, b"second", 4, rows[4:], {"a": 2})
    state, samples, notes = checkpoints.Checkpoints(tmp_path / "x.nc", "same").kept(0) or (b"", None, None)
    assert state == b"second" and np.array_equal(samples, rows) and notes == {"a": 2}


def test_resumed_after_a_change_of_free_coordinates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Bricard mechanism changes its free coordinate twice a swing; the checkpoint knows which it had when."""
    from supple.checkpoints import Checkpoints
    from supple.simulation import groups
    from supple.simulation import integrate as module

    monkeypatch.setattr(module, "PIECE", 0.002)
    made = simulator(Machine.read("bricard"), "fall", duration=10.0)
    settings = Settings("generalised_alpha", tolerance=1e-7, every=0.02)

    def stop(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    keeper = Checkpoints(tmp_path / "x.nc", "same")
    broken = integrate(made, settings, keeper=keeper, progress=stop)
    assert "interrupted" in broken.outcome and 3.0 < broken.time[-1] < 10.0
    _, _, notes = keeper.kept(0) or (b"", None, {})
    resumed = integrate(made, settings, keeper=Checkpoints(tmp_path / "x.nc", "same"), resume=True)
    whole = integrate(made, settings)
    assert resumed.summary["wall_time_s"] > notes["spent"] > 0  # what was computed before counts too
    for name in ("position", "acceleration", "point_acceleration"):
        assert np.array_equal(resumed[name], whole[name])
    monkeypatch.setattr(groups, "layout_mark", lambda: "other")  # fields of the state elsewhere, though as many
    with pytest.raises(SuppleError, match="another version"):
        integrate(made, settings, keeper=Checkpoints(tmp_path / "x.nc", "same"), resume=True)
    model = made.model
    for k in range(0, len(whole.time), 50):
        a = model.forward(whole["position"][k], whole["velocity"][k], np.zeros(0)).a
        assert np.allclose(whole["acceleration"][k], a, rtol=0, atol=2e-4 * np.abs(whole["acceleration"]).max())


def test_stiff_bodies_are_sampled_as_they_bend() -> None:
    """Between long steps a deformation of 0.1 um must not ring: samples against steps of 0.1 ms."""
    made = simulator(Machine.read("five_bar_elastic", {"k": "2e6"}), "line")
    wanted = integrate(made, Settings(step=1e-4, every=1e-3))
    found = integrate(made, Settings())
    elastic = [k for k, kind in enumerate(wanted.kinds) if kind == "elastic"]
    peak = np.abs(wanted["position"][:, elastic]).max()
    assert np.abs(found["position"] - wanted["position"])[:, elastic].max() < 0.1 * peak


def test_another_simulations_checkpoint_is_refused(tmp_path: Path) -> None:
    from supple.checkpoints import Checkpoints

    result = tmp_path / "x.nc"
    Checkpoints(result, "another").keep(0, b"12345678", 0, np.zeros((3, 1, 4)), {})
    found = run(*SLOW, "-o", str(result), "--resume")
    assert found.exit_code == 2 and "another simulation" in found.output
