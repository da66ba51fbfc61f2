"""Rust: one module of plain f64 arithmetic, for the standard library or, with the feature "libm", without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from supple.backends.c_source import Names, literal
from supple.backends.package import Package
from supple.backends.targets.files import deliver
from supple.backends.targets.heading import SAMPLE_TOLERANCE, check_package, commented, flat, heading, ordered_arrays
from supple.backends.targets.listing import Dialect, Identifiers, identifiers, listing
from supple.backends.targets.names import element_words, macros, reserved, stem

_DIALECT = Dialect(
    define="    let {name} = {value};",
    store="    {name} = {value};",
    element=lambda name, i: f"{name}[{i}]",
    calls={op: f"math_::{op}" for op in ("sin", "cos", "sqrt", "sign")},
    infix={},
    special={"NAN": "f64::NAN", "INFINITY": "f64::INFINITY", "-INFINITY": "f64::NEG_INFINITY"},
)


def write(package: Package, folder: Path) -> list[Path]:
    """The path of the module, written to `folder`."""
    check_package(package)
    name = stem(package)
    return deliver(folder, {f"{name}.rs": _module(package, name)})


def _module(package: Package, name: str) -> str:
    ids = identifiers(package.function, name, Names(reserved("rust")))
    top = heading(package, ids.inputs, ids.outputs)
    use = [
        "", f"use: copy this file into src/ and write `mod {ids.name};`",
        "without the standard library: declare the feature libm = [\"dep:libm\"] in Cargo.toml",
        f"self-test: rustc --test {ids.name}.rs -o {ids.name} && ./{ids.name}",
    ]  # fmt: skip
    parts = [*commented([*top, *use], "//"), *_indices(package), _MATH, *_function(package, ids), *_tests(package, ids)]
    return "\n".join([*parts, ""])


def _indices(package: Package) -> Iterator[str]:
    """Names of the elements, as in `q[index::Q_Q11]`."""
    f = package.function
    taken = macros()
    yield from ("", "/// Where each element is.", "#[allow(dead_code, non_upper_case_globals)]", "pub mod index {")
    for signal in dict.fromkeys([*ordered_arrays(package.inputs, f.inputs), *ordered_arrays(package.outputs, f.outputs)]):
        for i, wanted in enumerate(element_words(signal.name, signal.labels)):
            yield f"    pub const {taken.unique(wanted.upper())}: usize = {i};"
    yield "}"


def _function(package: Package, ids: Identifiers) -> list[str]:
    f = package.function
    parameters = [f"{x}: &[f64; {f.inputs[key].size}]" for key, x in ids.inputs.items()]
    parameters += [f"{x}: &mut [f64; {f.outputs[key].size}]" for key, x in ids.outputs.items()]
    return [
        "", "/// One evaluation; nothing is allocated or kept.",
        "#[allow(dead_code, non_snake_case, unused_variables, clippy::all)]",
        f"pub fn {ids.name}({', '.join(parameters)}) {{",
        *listing(package, ids, _DIALECT), "}",
    ]  # fmt: skip


def _array(values: Sequence[float]) -> str:
    return f"[{', '.join(literal(x) for x in values)}]"


def _tests(package: Package, ids: Identifiers) -> list[str]:
    f = package.function
    checks = []
    for key, x in ids.outputs.items():
        checks.append(f'        agree_("{x}", &{x}, &{_array(flat(package.expected[key]))});')
    given = [f"&{_array(flat(package.sample[key]))}" for key in f.inputs]
    arguments = ", ".join([*given, *(f"&mut {x}" for x in ids.outputs.values())])
    return [
        _COMPARE.format(tolerance=literal(SAMPLE_TOLERANCE)),
        "    #[test]", "    #[allow(non_snake_case, clippy::all)]", "    fn self_test() {",
        *(f"        let mut {x} = [0.0f64; {f.outputs[key].size}];" for key, x in ids.outputs.items()),
        f"        super::{ids.name}({arguments});", *checks, "    }", "}",
    ]  # fmt: skip


_MATH = """
#[allow(dead_code, unexpected_cfgs)]
mod math_ {
    #[cfg(feature = "libm")]
    pub use libm::{cos, sin, sqrt};
    #[cfg(not(feature = "libm"))]
    pub fn sin(x: f64) -> f64 {
        x.sin()
    }
    #[cfg(not(feature = "libm"))]
    pub fn cos(x: f64) -> f64 {
        x.cos()
    }
    #[cfg(not(feature = "libm"))]
    pub fn sqrt(x: f64) -> f64 {
        x.sqrt()
    }
    /// -1, 0 or 1; not a number stays not a number
    pub fn sign(x: f64) -> f64 {
        if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            x
        }
    }
}"""

_COMPARE = """
#[cfg(test)]
mod tests_ {{
    fn agree_(name: &str, found: &[f64], wanted: &[f64]) {{
        let scale = wanted.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (i, (a, b)) in found.iter().zip(wanted).enumerate() {{
            let good = (a - b).abs() / scale <= {tolerance}; // not a number is not good
            assert!(good, "FAIL {{}}[{{}}] is {{}}, expected {{}}", name, i, a, b);
        }}
    }}
"""
