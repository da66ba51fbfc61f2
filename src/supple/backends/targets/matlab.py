"""MATLAB and GNU Octave: one function, whose columns are states, and its self-test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supple.backends.c_source import Names, literal
from supple.backends.package import Package
from supple.backends.targets.files import deliver
from supple.backends.targets.heading import SAMPLE_TOLERANCE, check_package, commented, flat, heading
from supple.backends.targets.listing import Dialect, Identifiers, identifiers, listing
from supple.backends.targets.names import reserved, stem

_DIALECT = Dialect(
    define="    {name} = {value};",
    store="    {name} = {value};",
    element=lambda name, i: f"{name}({i + 1}, :)",
    calls={op: op for op in ("sin", "cos", "sqrt", "sign")},
    infix={"mul": ".*", "div": "./"},
    special={"NAN": "NaN", "INFINITY": "Inf", "-INFINITY": "-Inf"},
)


def write(package: Package, folder: Path) -> list[Path]:
    """The paths of the function and of its test, written to `folder`."""
    check_package(package)
    name = stem(package)
    ids = identifiers(package.function, name, Names(reserved("matlab")))
    top = commented(heading(package, ids.inputs, ids.outputs, lambda x, i: f"{x}({i + 1})"), "%")
    return deliver(folder, {f"{name}.m": _function(package, ids, top), f"{name}_test.m": _test(package, ids, top)})


def _function(package: Package, ids: Identifiers, top: list[str]) -> str:
    f = package.function
    ins, outs = ", ".join(ids.inputs.values()), ", ".join(ids.outputs.values())
    lines = [*top, "%", "% Each column is a state; an input of one column is shared by all states."]
    lines.append(f"function [{outs}] = {ids.name}({ins})")
    for key, x in ids.inputs.items():
        size = f.inputs[key].size
        lines.append(f"    if size({x}, 1) ~= {size}, error('{ids.name}: {x} must have {size} rows'); end")
    widths = ", ".join(["1", *(f"size({x}, 2)" for x in ids.inputs.values())])
    lines.append(f"    states_ = max([{widths}]);")
    lines += [f"    {x} = zeros({f.outputs[key].size}, states_);" for key, x in ids.outputs.items()]
    return "\n".join([*lines, *listing(package, ids, _DIALECT), "end", ""])


def _column(values: Sequence[float]) -> str:
    return f"[{'; '.join(literal(x) for x in values)}]" if values else "zeros(0, 1)"


def _test(package: Package, ids: Identifiers, top: list[str]) -> str:
    results = ", ".join(ids.outputs.values())
    lines = [*top, "%", f"% Self-test: prints PASS, or stops with an error. octave --eval {ids.name}_test"]
    lines += [f"function {ids.name}_test()"]
    lines += [f"    {x} = {_column(flat(package.sample[key]))};" for key, x in ids.inputs.items()]
    call = f"{ids.name}({', '.join(ids.inputs.values())})"
    lines.append(f"    [{results}] = {call};" if results else f"    {call};")
    lines.append("    bad_ = 0;")
    for key, x in ids.outputs.items():
        lines.append(f"    bad_ = bad_ + differs_('{x}', {x}, {_column(flat(package.expected[key]))});")
    lines += [
        f"    if bad_ > 0, error('FAIL {ids.name}'); end",
        f"    fprintf('PASS {ids.name}\\n');", "end",
        _DIFFERS.format(tolerance=literal(SAMPLE_TOLERANCE)),
    ]  # fmt: skip
    return "\n".join(lines)


_DIFFERS = """
% 1 where found is further from wanted than {tolerance} of its largest element (or of 1)
function bad = differs_(name, found, wanted)
    error_ = abs(found - wanted) / max([1; abs(wanted)]);
    bad = ~all(error_ <= {tolerance});
    fprintf('%s: largest error %.2e\\n', name, max([0; error_]));
end
"""
