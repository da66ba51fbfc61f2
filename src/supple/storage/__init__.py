"""Results in files: netCDF, CSV, MATLAB and others, written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results import Array, Frf, LinearModel, Modes, Signal, Simulation
from supple.storage.linear_c import linear_c
from supple.storage.universal import functions_text, responses_of

if TYPE_CHECKING:
    import xarray


def dataset(simulation: Simulation) -> xarray.Dataset:
    """The simulation as an xarray Dataset: named axes, units, and where it comes from."""
    axes = axes_dataset(simulation)
    named = {name: (("time", *s.dims), s.values, attributes(name, s)) for name, s in simulation.signals.items()}
    return axes.assign_coords(time=("time", simulation.time, {"units": "s", "long_name": "time"})).assign(named)


def attributes(name: str, signal: Signal) -> dict[str, Any]:
    """What a file says of a signal."""
    unit = signal.unit
    said = unit if isinstance(unit, str) else unit[0] if len(set(unit)) == 1 else f"see {name}_unit"
    return {"long_name": signal.about, "units": said}


def axes_dataset(simulation: Simulation) -> xarray.Dataset:
    """All of a simulation but time and signals: entries of their axes, units, what differs from run to run, and words."""
    import xarray

    signals = simulation.signals
    used = {d for s in signals.values() for d in s.dims}
    coordinates: dict[str, Any] = {axis: (axis, list(names)) for axis, names in simulation.axes.items() if axis in used}
    variables: dict[str, Any] = {}
    if simulation.varied and "run" in used:
        variables["varied"] = (("run", "what"), np.array(list(simulation.varied.values())).T, {"long_name": "what differs"})
        coordinates["what"] = ("what", list(simulation.varied))
    if "coordinate" in used:
        coordinates["kind"] = ("coordinate", list(simulation.kinds))
    units = {f"{n}_unit": (_first_axis(s), list(s.unit)) for n, s in signals.items() if not isinstance(s.unit, str)}
    summary = {k: _attribute(x) for k, x in simulation.summary.items()}
    about = {"robot": simulation.robot, "motion": simulation.motion, "outcome": simulation.outcome}
    return xarray.Dataset(variables, coordinates | units, {**about, **summary, **simulation.provenance})


def modes_dataset(modes: Modes) -> xarray.Dataset:
    """Modes as an xarray Dataset: frequencies, damping ratios, shapes and shares of energy, with named axes and units."""
    import xarray

    variables: dict[str, Any] = {
        "frequency": ("mode", modes.frequencies_hz, {"units": "Hz"}),
        "damping_ratio": ("mode", modes.damping_ratios, {"units": "1"}),
        "shape": (("coordinate", "mode"), modes.shapes, {"long_name": "mass-normalised shape"}),
        "kinetic_share": (("body", "mode"), modes.kinetic, {"units": "1"}),
        "elastic_share": (("body", "mode"), modes.elastic, {"units": "1"}),
        "effective_mass": (("direction", "mode"), np.array(list(modes.effective_mass.values())), {"units": "kg, kg m^2"}),
    }
    coordinates: dict[str, Any] = {
        "mode": np.arange(1, len(modes.frequencies_hz) + 1),
        "coordinate": list(modes.coordinates),
        "kind": ("coordinate", list(modes.kinds)),
        "body": list(modes.bodies),
        "direction": list(modes.effective_mass),
    }
    about = {"robot": modes.robot, "actuators": "free" if modes.free else "held"}
    return xarray.Dataset(variables, coordinates, about)


def frf_dataset(found: Frf) -> xarray.Dataset:
    """Frequency responses as an xarray Dataset: real and imaginary parts over frequency, output, input."""
    import xarray

    axes = ("frequency", "output", "input")
    about = {"long_name": found.quantity, "units": "output unit per input unit"}
    variables = {"real": (axes, found.values.real, about), "imaginary": (axes, found.values.imag, about)}
    coordinates: dict[str, Any] = {
        "frequency": ("frequency", found.frequencies_hz, {"units": "Hz"}),
        "output": list(found.outputs),
        "input": list(found.inputs),
        "output_unit": ("output", list(found.output_units)),
        "input_unit": ("input", list(found.input_units)),
    }
    state = "free" if found.free else "held"
    return xarray.Dataset(variables, coordinates, {"robot": found.robot, "quantity": found.quantity, "actuators": state})


def save_frf(found: Frf, path: Path) -> None:
    """Write frequency responses to a .nc, .csv, .mat or .uff file (dataset 58)."""
    writers: dict[str, Callable[[Path], Any]] = {
        ".nc": lambda file: write_netcdf(frf_dataset(found), file),
        ".csv": lambda file: _frf_csv(found, file),
        ".mat": lambda file: named_mat(file, {**found.to_json(), "values": found.values}),
        ".uff": lambda file: file.write_text(functions_text(responses_of(found)), encoding="ascii"),
    }
    if path.suffix.lower() not in writers:
        raise SuppleError(f"{path.name}: frequency responses are written to .nc, .csv, .mat or .uff files")
    written_whole(path, writers[path.suffix.lower()])


def save_linear(model: LinearModel, path: Path) -> None:
    """Write a linear model to a .mat, .nc, .csv (a row for every row of A, B, C and D), .npz, .json or .c file."""
    data = model.to_json()
    named = {k: np.array(x) for k, x in data.items() if k not in ("error_bound", "band", "notices")}
    writers: dict[str, Callable[[Path], Any]] = {
        ".mat": lambda file: named_mat(file, data),
        ".nc": lambda file: write_netcdf(linear_dataset(model), file),
        ".csv": lambda file: _linear_csv(model, file),
        ".npz": lambda file: np.savez(file, allow_pickle=False, **named),
        ".json": lambda file: file.write_text(json.dumps(data, indent=1), encoding="utf-8"),
        ".c": lambda file: file.write_text(linear_c(model), encoding="ascii"),
    }
    if path.suffix.lower() not in writers:
        raise SuppleError(f"{path.name}: linear models are written to .mat, .nc, .csv, .npz, .json or .c files")
    written_whole(path, writers[path.suffix.lower()])


def linear_dataset(model: LinearModel) -> xarray.Dataset:
    """A, B, C and D over names of states, inputs and outputs."""
    import xarray

    states = {"state": list(model.states), "state_from": list(model.states)}
    names = {**states, "input": list(model.inputs), "output": list(model.outputs)}
    made = xarray.Dataset(
        {
            "A": (("state", "state_from"), model.A),
            "B": (("state", "input"), model.B),
            "C": (("output", "state_from"), model.C),
            "D": (("output", "input"), model.D),
            "input_unit": ("input", list(model.input_units)),
            "output_unit": ("output", list(model.output_units)),
        },
        names,
    )
    return made.assign_attrs(robot=model.robot, actuators=str(model.to_json()["actuators"]))


def _linear_csv(model: LinearModel, file: Path) -> None:
    """One row for every row of a matrix: its name, what the row is, and numbers under the names of states and inputs."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        inputs = [f"{n} ({unit})" for n, unit in zip(model.inputs, model.input_units, strict=True)]
        outputs = [f"{n} ({unit})" for n, unit in zip(model.outputs, model.output_units, strict=True)]
        writer.writerow(["row", *model.states, *inputs])
        for names, left, right in ((model.states, model.A, model.B), (outputs, model.C, model.D)):
            for name, one, two in zip(names, left, right, strict=True):
                writer.writerow([name, *(repr(float(x)) for x in (*one, *two))])


def named_mat(file: Path, data: dict[str, Any]) -> None:
    """Write plain data by name to a .mat file."""
    from scipy.io import savemat

    tidy = {
        k: np.array(x, dtype=object) if isinstance(x, list) and x and isinstance(x[0], str) else x for k, x in data.items()
    }
    savemat(file, {k: x for k, x in tidy.items() if x is not None}, long_field_names=True)


def _frf_csv(found: Frf, file: Path) -> None:
    pairs = [(o, i) for o in range(len(found.outputs)) for i in range(len(found.inputs))]
    heads = [
        f"{found.outputs[o]} / {found.inputs[i]} ({found.output_units[o]} per {found.input_units[i]})" for o, i in pairs
    ]
    columns = [
        found.frequencies_hz,
        *(part for o, i in pairs for part in (found.values[:, o, i].real, found.values[:, o, i].imag)),
    ]
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["frequency (Hz)", *(f"{part} {head}" for head in heads for part in ("real", "imaginary"))])
        writer.writerows(np.stack(columns, axis=1).tolist())


def _first_axis(signal: Signal) -> str:
    """The axis after `run`, if there are any."""
    return next((d for d in signal.dims if d != "run"), "run")


def _attribute(x: Any) -> Any:
    """A value as an attribute of a netCDF file: text for none, lists and tables."""
    return "" if x is None else json.dumps(x) if isinstance(x, (list, dict)) else x


def save(simulation: Simulation, path: Path) -> None:
    """Write a simulation to a .nc, .csv or .mat file; the file appears whole or not at all."""
    writers = {".nc": _netcdf, ".csv": _csv, ".mat": _mat}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise SuppleError(f"{path.name}: results are written to .nc, .csv or .mat files")
    written_whole(path, lambda file: writer(simulation, file))


def write_netcdf(made: xarray.Dataset, file: Path, packed: Mapping[Any, Any] | None = None) -> None:
    """Write a dataset as netCDF, made in memory: HDF5 itself does not survive a full disk. Its names have no slashes, so
    leg1/q1 is leg1.q1 there."""
    import h5netcdf  # type: ignore[import-untyped]
    from xarray.backends import H5NetCDFStore

    image = io.BytesIO()
    slashed = [str(name) for name in {*made.variables, *made.dims} if "/" in str(name)]
    made = made.rename({name: name.replace("/", ".") for name in slashed})
    with h5netcdf.File(image, "w") as whole:
        made.dump_to_store(H5NetCDFStore(whole), encoding=packed)
    file.write_bytes(image.getbuffer())


def _netcdf(simulation: Simulation, file: Path) -> None:
    made = dataset(simulation)
    packed = {name: {"zlib": True, "complevel": 4} for name, x in made.data_vars.items() if x.size > 1000}
    write_netcdf(made, file, packed)


def columns(simulation: Simulation) -> dict[str, tuple[str, Array]]:
    """Every signal as plain columns: name -> unit, values; as in "tau[q11]" or "point_position[P,x]"."""
    found: dict[str, tuple[str, Array]] = {"t": ("s", simulation.time)}
    for name, signal in simulation.signals.items():
        entries = [simulation.axes[d] for d in signal.dims]
        for index in np.ndindex(*(len(e) for e in entries)):
            label = ",".join(e[i] for e, i in zip(entries, index, strict=True))
            own = 0 if isinstance(signal.unit, str) else index[signal.dims.index(_first_axis(signal))]
            unit = signal.unit if isinstance(signal.unit, str) else signal.unit[own]
            found[f"{name}[{label}]" if label else name] = (unit, signal.values[(slice(None), *index)])
    return found


def _csv(simulation: Simulation, file: Path) -> None:
    found = columns(simulation)
    with file.open("w", newline="", encoding="utf-8") as stream:
        for key, value in {"outcome": simulation.outcome, **simulation.provenance}.items():
            stream.write(f"# {key}: {str(value).splitlines()[0] if value else ''}\n")
        writer = csv.writer(stream)
        writer.writerow([f"{name} ({unit})" for name, (unit, _) in found.items()])
        writer.writerows(np.stack([x for _, x in found.values()], axis=1).tolist())


def _mat(simulation: Simulation, file: Path) -> None:
    from scipy.io import savemat

    def tidy(name: str) -> str:
        return re.sub(r"\W", "_", name)[:31]

    content: dict[str, Any] = {"time": simulation.time[:, None]}
    content |= {tidy(k): s.values for k, s in simulation.signals.items()}
    content |= {f"names_{tidy(k)}": np.array(x, dtype=object) for k, x in simulation.axes.items()}
    content["units"] = {tidy(k): s.unit if isinstance(s.unit, str) else list(s.unit) for k, s in simulation.signals.items()}
    content["about"] = {"outcome": simulation.outcome, **{tidy(k): str(x) for k, x in simulation.provenance.items()}}
    savemat(file, content, do_compression=True, long_field_names=True)
