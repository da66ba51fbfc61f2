"""C99: a header with a name for every index, the model, and a program that checks itself against the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from supple.backends.c_source import RESERVED, Names, Signature, body, literal, signature
from supple.backends.c_source import header as real_header
from supple.backends.package import Package
from supple.backends.program import body as program_body
from supple.backends.targets.files import deliver
from supple.backends.targets.heading import SAMPLE_TOLERANCE, c_comment, check_package, flat, heading, ordered_arrays
from supple.backends.targets.names import element_words, harmless, macros, prefix, stem
from supple.expr.function import Function


@dataclass(frozen=True)
class Interface:
    """What a caller of the model sees: the function with its C names, and the macros of the header."""

    function: Function
    sign: Signature
    guard: str
    defines: tuple[tuple[str, int, str], ...]  # name, value, remark
    words: frozenset[str]  # that no other identifier may be

    def names(self) -> Names:
        """Unique names for whatever stands in a file that includes the header."""
        return Names(self.words)

    def sizes(self) -> dict[str, int]:
        """Elements of each array, by its C name."""
        f, sign = self.function, self.sign
        ins = {sign.inputs[key]: array.size for key, array in f.inputs.items()}
        return ins | {sign.outputs[key]: array.size for key, array in f.outputs.items()}


def write(package: Package, folder: Path) -> list[Path]:
    """The paths of the header, the model and main.c, written to `folder`."""
    check_package(package)
    shared = interface(package)
    return deliver(folder, {**library(package, shared), "main.c": _main(package, shared)})


def interface(package: Package) -> Interface:
    """The C names of a package."""
    name = stem(package)
    f = replace(package.function, name=name)
    taken = macros()
    guard = taken.unique(f"{name.upper()}_H")
    defines: list[tuple[str, int, str]] = []
    described = [*ordered_arrays(package.inputs, f.inputs), *ordered_arrays(package.outputs, f.outputs)]
    signals = list(dict.fromkeys(described))
    for signal in signals:
        size = taken.unique(f"{prefix(package)}_{harmless(signal.name)}_SIZE".upper())
        defines.append((size, len(signal.labels), ""))
    for signal in signals:
        for i, wanted in enumerate(element_words(signal.name, signal.labels)):
            index = taken.unique(f"{prefix(package)}_{wanted}".upper())
            defines.append((index, i, harmless(signal.units[i], 24)))
    words = RESERVED | {guard} | {define for define, _, _ in defines}
    return Interface(f, signature(f, Names(words)), guard, tuple(defines), words)


def library(package: Package, shared: Interface) -> dict[str, str]:
    """The header and the model: file name -> text."""
    name = shared.sign.name
    return {f"{name}.h": _header(package, shared), f"{name}.c": _model(package, shared)}


def title(package: Package, shared: Interface, *more: str) -> list[str]:
    """The comment at the top of each file."""
    return c_comment([*heading(package, shared.sign.inputs, shared.sign.outputs), *more])


def constant_array(name: str, values: Sequence[float]) -> str:
    """A constant array; C has no empty ones."""
    return f"static const double {name}[] = {{{', '.join(literal(x) for x in values) or '0.0'}}};"


def _header(package: Package, shared: Interface) -> str:
    ins = [f"const double *{x}" for x in shared.sign.inputs.values()]
    parameters = ", ".join([*ins, *(f"double *{x}" for x in shared.sign.outputs.values())]) or "void"
    width = max((len(name) for name, _, _ in shared.defines), default=0)
    defines = [
        f"#define {name:<{width}} {value}" + (f" /* {remark} */" if remark else "") for name, value, remark in shared.defines
    ]
    lines = [
        *title(package, shared), f"#ifndef {shared.guard}", f"#define {shared.guard}", "", *defines, "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        "/* One evaluation. The arrays may not overlap; nothing is allocated or kept. */",
        f"void {shared.sign.name}({parameters});", "",
        "#ifdef __cplusplus", "}", "#endif", "", "#endif", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _model(package: Package, shared: Interface) -> str:
    # clang fuses a * b + c unless told otherwise; see compiler.py
    contract = ["#ifdef __clang__", "#pragma STDC FP_CONTRACT OFF", "#endif"]
    plain = ["#undef SUPPLE_SINGLE", "#undef SUPPLE_LANES"]
    top = [*title(package, shared), f'#include "{shared.sign.name}.h"', *contract, *plain, ""]
    if package.program is not None:
        return "\n".join([*top, real_header(), program_body(package.program, shared.sign.name)])
    return "\n".join([*top, real_header(), body(shared.function, shared.names())])


def _main(package: Package, shared: Interface) -> str:
    sign, names = shared.sign, shared.names()
    names.unique(sign.name)
    sizes = shared.sizes()
    given = {key: names.unique(f"given_{x}") for key, x in sign.inputs.items()}
    wanted = {key: names.unique(f"wanted_{x}") for key, x in sign.outputs.items()}
    found = {key: names.unique(f"found_{x}") for key, x in sign.outputs.items()}
    command = f"cc -std=c99 -O2 -ffp-contract=off main.c {sign.name}.c -lm -o {sign.name} && ./{sign.name}"
    lines = [
        *title(package, shared, "", "self-test:", f"  {command}"),
        "#include <math.h>", "#include <stdio.h>", f'#include "{sign.name}.h"', "",
        *(constant_array(name, flat(package.sample[key])) for key, name in given.items()),
        *(constant_array(name, flat(package.expected[key])) for key, name in wanted.items()),
        *(f"static double {name}[{max(sizes[sign.outputs[key]], 1)}];" for key, name in found.items()),
        _COMPARE.format(tolerance=literal(SAMPLE_TOLERANCE)),
        "int main(void)", "{", "    int failures_ = 0;",
        f"    {sign.name}({', '.join([*given.values(), *found.values()])});",
        *(
            f'    failures_ += differs_("{x}", {found[key]}, {wanted[key]}, {sizes[x]});'
            for key, x in sign.outputs.items()
        ),
        f'    puts(failures_ ? "FAIL {sign.name}" : "PASS {sign.name}");',
        "    return failures_ ? 1 : 0;", "}", "",
    ]  # fmt: skip
    return "\n".join(lines)


_COMPARE = """
/* 1 where found is further from wanted than {tolerance} of its largest element (or of 1) */
static int differs_(const char *name, const double *found, const double *wanted, int size)
{{
    double scale = 1.0, worst = 0.0;
    int i, bad = 0;
    for (i = 0; i < size; i++)
        scale = fmax(scale, fabs(wanted[i]));
    for (i = 0; i < size; i++) {{
        const double error = fabs(found[i] - wanted[i]) / scale;
        worst = fmax(worst, error);
        bad |= !(error <= {tolerance}); /* not a number is bad, too */
    }}
    printf("%s: largest error %.2e%s\\n", name, worst, bad ? "  <-- wrong" : "");
    return bad;
}}
"""
