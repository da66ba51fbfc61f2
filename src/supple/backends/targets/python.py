"""Python: one module that needs numpy only, vectorised over leading axes, with its own self-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from supple.backends.c_source import Names
from supple.backends.package import NamedArray, Package
from supple.backends.targets.files import deliver
from supple.backends.targets.heading import SAMPLE_TOLERANCE, check_package, commented, flat, heading, ordered_arrays
from supple.backends.targets.listing import Dialect, Identifiers, identifiers, listing
from supple.backends.targets.names import harmless, reserved, stem

_DIALECT = Dialect(
    define="    {name} = {value}",
    store="    {name} = {value}",
    element=lambda name, i: f"{name}[..., {i}]",
    calls={op: f"np.{op}" for op in ("sin", "cos", "sqrt", "sign")},
    infix={},
    special={"NAN": "np.nan", "INFINITY": "np.inf", "-INFINITY": "-np.inf"},
)


def write(package: Package, folder: Path) -> list[Path]:
    """The path of the module, written to `folder`."""
    check_package(package)
    name = stem(package)
    return deliver(folder, {f"{name}.py": _module(package, name)})


def _module(package: Package, name: str) -> str:
    f = package.function
    ids = identifiers(f, name, Names(reserved("python")))
    return "\n".join(
        [
            *commented(heading(package, ids.inputs, ids.outputs), "#"), "",
            "from typing import NamedTuple", "", "import numpy as np", "",
            f"TOLERANCE = {SAMPLE_TOLERANCE!r}  # of the self-test",
            *_labels("INPUTS", ordered_arrays(package.inputs, f.inputs), ids.inputs),
            *_labels("OUTPUTS", ordered_arrays(package.outputs, f.outputs), ids.outputs),
            *_values("SAMPLE", {ids.inputs[key]: flat(package.sample[key]) for key in f.inputs}),
            *_values("EXPECTED", {ids.outputs[key]: flat(package.expected[key]) for key in f.outputs}),
            "", "", "class Outputs(NamedTuple):", f'    """What {ids.name} returns."""', "",
            *(f"    {x}: np.ndarray" for x in ids.outputs.values()), *_HELPERS, *_function(package, ids),
            _SELF_TEST.format(name=ids.name, shapes=_shapes(package, ids)),
        ]
    )  # fmt: skip


def _labels(title: str, signals: Sequence[NamedArray], names: Mapping[str, str]) -> list[str]:
    """Label and unit of every element, as a dictionary."""
    lines = [f"{title} = {{  # label and unit of each element"]
    for signal in signals:
        pairs = zip(signal.labels, signal.units, strict=True)
        quoted = "".join(f'("{harmless(label)}", "{harmless(unit, 24)}"), ' for label, unit in pairs)
        lines.append(f'    "{names[signal.name]}": ({quoted.rstrip(" ")}),')
    return [*lines, "}"]


def _values(title: str, values: Mapping[str, list[float]]) -> list[str]:
    return [f"{title} = {{", *(f'    "{name}": {numbers!r},' for name, numbers in values.items()), "}"]


def _shapes(package: Package, ids: Identifiers) -> str:
    return repr({ids.inputs[key]: array.shape for key, array in package.function.inputs.items()})


def _function(package: Package, ids: Identifiers) -> list[str]:
    f = package.function
    ins = ", ".join(ids.inputs.values())
    lines = ["", "", f"def {ids.name}({ins}):", '    """Outputs of arrays with any leading axes in common."""']
    lines += [f'    {x} = _table("{x}", {x}, {f.inputs[key].shape!r})' for key, x in ids.inputs.items()]
    shapes = ", ".join(f"{x}.shape[:-1]" for x in ids.inputs.values())
    lines.append(f"    _lead = np.broadcast_shapes({shapes})")
    lines.append(f"    _kind = np.result_type({', '.join(['np.float64', *ids.inputs.values()])})")
    lines += [f"    {x} = np.empty((*_lead, {f.outputs[key].size}), _kind)" for key, x in ids.outputs.items()]
    lines += listing(package, ids, _DIALECT)
    results = [f"{x}.reshape({('*_lead', *f.outputs[key].shape)!s})".replace("'", "") for key, x in ids.outputs.items()]
    return [*lines, f"    return Outputs({', '.join(results)})"]


_HELPERS = """

def _table(name, values, shape):
    values = np.asarray(values)
    if values.dtype.kind not in "fc":
        values = values.astype(np.float64)
    lead = values.ndim - len(shape)
    if lead < 0 or values.shape[lead:] != shape:
        raise ValueError(f"{name} has shape {values.shape}, expected {shape} after any leading axes")
    return values.reshape(*values.shape[:lead], int(np.prod(shape)))
""".rstrip("\n").split("\n")

_SELF_TEST = """

def self_test():
    \"\"\"True if the sample gives the expected outputs.\"\"\"
    shapes = {shapes}
    found = {name}(**{{key: np.reshape(SAMPLE[key], shape) for key, shape in shapes.items()}})
    good = True
    for key, values in EXPECTED.items():
        error = np.abs(getattr(found, key).ravel() - values) / np.max(np.abs(values), initial=1.0)
        good = good and bool(np.all(error <= TOLERANCE))
    return good


if __name__ == "__main__":
    passed = self_test()
    print("PASS" if passed else "FAIL", "{name}")
    raise SystemExit(not passed)
"""
