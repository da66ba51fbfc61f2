"""Exported models built and run with the tools of their language: written files and inputs in, outputs back.

Every runner takes the paths a target wrote and inputs of shape (states, elements), in the order of the function's
arrays, and returns the outputs alike. None of them looks at the text.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limits import PATIENCE

from supple.backends.package import Package

STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic")
ZIG = (sys.executable, "-m", "ziglang", "cc")

Arrays = list[np.ndarray]
Runner = Callable[[Package, list[Path], Arrays], Arrays]


def tool(name: str) -> str:
    """The path of a program, or a skipped test."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def zig() -> tuple[str, ...]:
    return ZIG if importlib.util.find_spec("ziglang") else pytest.skip("ziglang is not installed")


def execute(*command: str | Path, folder: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, input=text, capture_output=True, text=True, timeout=PATIENCE)


def done(*command: str | Path, folder: Path, text: str | None = None) -> str:
    """What a command that must succeed, and warn of nothing, prints."""
    made = execute(*command, folder=folder, text=text)
    assert made.returncode == 0, f"{command}: {made.stdout}{made.stderr}"
    assert "warning" not in made.stderr, made.stderr
    return made.stdout


def sizes(package: Package) -> list[int]:
    return [a.size for a in package.function.outputs.values()]


def called(library: Path, name: str, package: Package, inputs: Arrays) -> Arrays:
    """Outputs of a C function (const double *..., double *...) of a shared library, state by state."""
    f = ctypes.CDLL(str(library))[name]
    f.restype = None
    outputs = [np.full((len(inputs[0]), max(n, 1)), np.nan) for n in sizes(package)]
    for k in range(len(inputs[0])):
        rows = [np.ascontiguousarray(x[k], dtype=float) for x in inputs] + [y[k] for y in outputs]
        f(*(ctypes.c_void_p(row.ctypes.data) for row in rows))
    return [y[:, :n] for y, n in zip(outputs, sizes(package), strict=True)]


def by_c(package: Package, files: list[Path], inputs: Arrays) -> Arrays:
    source = files[1]
    library = source.with_suffix(".so")
    done(tool("gcc"), *STRICT, "-shared", "-fPIC", source, "-o", library, "-lm", folder=source.parent)
    return called(library, source.stem, package, inputs)


def by_simulink(package: Package, files: list[Path], inputs: Arrays) -> Arrays:
    """The S-function between ports of its own description, played by a stub of Simulink's headers."""
    folder = files[0].parent
    stub = Path(__file__).parent / "data" / "simulink_stub"
    library = folder / "sfun.so"
    extra = ("-DMATLAB_MEX_FILE", f"-I{stub}", "-shared", "-fPIC", "-lm")
    done(tool("gcc"), *STRICT, files[2], files[1], "-o", library, *extra, folder=folder)
    f = package.function
    outputs = [np.full((len(inputs[0]), n), np.nan) for n in sizes(package)]
    wired = [n for n in (a.size for a in f.inputs.values()) if n], [n for n in sizes(package) if n]
    simulate = ctypes.CDLL(str(library)).stub_simulate
    for k in range(len(inputs[0])):
        ins = [np.ascontiguousarray(x[k], dtype=float) for x in inputs if x.shape[1]]
        outs = [y[k] for y in outputs if y.shape[1]]
        pointers = [(ctypes.c_void_p * max(len(a), 1))(*(x.ctypes.data for x in a)) for a in (ins, outs)]
        widths = [(ctypes.c_int * max(len(w), 1))(*w) for w in wired]
        assert simulate(len(ins), widths[0], pointers[0], len(outs), widths[1], pointers[1]) == 0
    return outputs


def imported(path: Path) -> Any:
    """The generated Python module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_python(package: Package, files: list[Path], inputs: Arrays) -> Arrays:
    shapes = [a.shape for a in package.function.inputs.values()]
    given = [x.reshape(len(x), *shape) for x, shape in zip(inputs, shapes, strict=True)]
    found = getattr(imported(files[0]), files[0].stem)(*given)
    for y, array in zip(found, package.function.outputs.values(), strict=True):
        assert y.shape == (len(inputs[0]), *array.shape)
    return [y.reshape(len(inputs[0]), -1 if y.size else 0) for y in found]


def by_matlab(package: Package, files: list[Path], inputs: Arrays) -> Arrays:
    """Octave, through text files with 17 digits."""
    folder = files[0].parent
    lines = []
    for i, x in enumerate(inputs):
        np.savetxt(folder / f"in{i}.txt", x.T, fmt="%.17g")
        shape = f"{x.shape[1]}, {x.shape[0]}"
        lines.append(f"in{i} = reshape(load('-ascii', 'in{i}.txt'), {shape});" if x.size else f"in{i} = zeros({shape});")
    outs = [f"out{i}" for i in range(len(sizes(package)))]
    lines.append(f"[{', '.join(outs)}] = {files[0].stem}({', '.join(f'in{i}' for i in range(len(inputs)))});")
    for name in outs:
        lines.append(f"f = fopen('{name}.txt', 'w'); fprintf(f, '%.17g\\n', {name}); fclose(f);")
    done(tool("octave-cli"), "--norc", "--eval", "\n".join(lines), folder=folder)
    texts = [(folder / f"{name}.txt").read_text(encoding="ascii").split() for name in outs]
    return [np.array(t, dtype=float).reshape(len(inputs[0]), n) for t, n in zip(texts, sizes(package), strict=True)]


def by_rust(package: Package, files: list[Path], inputs: Arrays) -> Arrays:
    folder, name = files[0].parent, files[0].stem
    ins = [x.shape[1] for x in inputs]
    declared = "".join(f"    let mut y{i} = [0f64; {n}];\n" for i, n in enumerate(sizes(package)))
    given = "".join(f"    let x{i}: [f64; {n}] = std::array::from_fn(|_| next());\n" for i, n in enumerate(ins))
    arguments = ", ".join([f"&x{i}" for i in range(len(ins))] + [f"&mut y{i}" for i in range(len(sizes(package)))])
    prints = "".join(f'    for y in &y{i} {{ println!("{{:e}}", y); }}\n' for i in range(len(sizes(package))))
    (folder / "driver.rs").write_text(
        f'#[path = "{files[0].name}"]\nmod {name};\nfn main() {{\n'
        "    let text = std::io::read_to_string(std::io::stdin()).unwrap();\n"
        "    let mut words = text.split_whitespace();\n"
        "    let mut next = || words.next().unwrap().parse::<f64>().unwrap();\n"
        f"    for _ in 0..{len(inputs[0])} {{\n{given}{declared}    {name}::{name}({arguments});\n{prints}    }}\n}}\n"
    )
    done(tool("rustc"), "--edition=2021", "driver.rs", "-o", "driver", folder=folder)
    numbers = " ".join(repr(float(v)) for k in range(len(inputs[0])) for x in inputs for v in x[k])
    found = np.array(done(folder / "driver", folder=folder, text=numbers).split(), dtype=float)
    return _split(found.reshape(len(inputs[0]), -1), sizes(package))


def _split(table: np.ndarray, widths: Sequence[int]) -> Arrays:
    return np.split(table, np.cumsum(widths)[:-1], axis=1) if widths else []


RUNNERS: dict[str, Runner] = {
    "c": by_c, "python": by_python, "matlab": by_matlab, "simulink": by_simulink, "rust": by_rust,
}  # fmt: skip


def self_test(target: str, files: list[Path]) -> subprocess.CompletedProcess[str]:
    """The self-test that comes with the exported files, built and run."""
    folder, name = files[0].parent, files[0].stem
    if target == "c":
        done(tool("gcc"), *STRICT, "main.c", f"{name}.c", "-o", "check", "-lm", folder=folder)
        return execute(folder / "check", folder=folder)
    if target == "python":
        return execute(sys.executable, files[0], folder=folder)
    if target == "matlab":
        return execute(tool("octave-cli"), "--norc", "--eval", f"{name}_test", folder=folder)
    assert target == "rust"
    done(tool("rustc"), "--test", files[0], "-o", "check", folder=folder)
    return execute(folder / "check", folder=folder)


SELF_TESTING = ("c", "python", "matlab", "rust")
