"""Functions printed as C99, one operation per statement, readable beside the literature.

The text is what is exported and what runs here, in lanes where there is no assembly. `real` (see real.h) is double, float
or a vector of states, chosen when compiling with -DSUPPLE_LANES=4 or -DSUPPLE_SINGLE. Robot files are not trusted: no text
of theirs reaches the C source except through `Names`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from supple.backends.sequence import sequence
from supple.errors import BackendError
from supple.expr.function import Function
from supple.expr.node import Expr, Scalar

SPLIT_ABOVE = 3000  # statements; gcc's time grows faster than linearly beyond
PART = 2000  # statements in each part of a split function; larger ones hand on less and take longer to compile
_STACK = 16_384  # scalars; larger working arrays live in thread-local storage, not on the stack
_NAME_LENGTH = 40

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_PARTNER = {"sin": "cos", "cos": "sin"}
_CALLS = {"sin": "supple_sin", "cos": "supple_cos", "sqrt": "supple_sqrt", "sign": "supple_sign"}

# Keywords of C and C++, words of real.h and the driver, macros of <math.h>, functions built in.
_RESERVED_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
    consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else
    enum explicit export extern false far float for friend fortran goto huge if inline int interrupt long
    mutable namespace near new noexcept not not_eq nullptr operator or or_eq private protected public
    register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename typeof
    union unsigned using virtual void volatile wchar_t while xor xor_eq real num fill work count in out
    step live main linux unix i386 errno assert offsetof I NULL NAN INFINITY HUGE HUGE_VAL HUGE_VALF
    HUGE_VALL MATH_ERRNO MATH_ERREXCEPT DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS EOF TRUE FALSE BOOL M_E
    M_PI M_1_PI M_2_PI M_LN2 M_LN10 M_LOG2E M_LOG10E M_PI_2 M_PI_4 M_SQRT2 M_SQRT1_2 M_2_SQRTPI abort abs
    acos acosf acosh acosl asin asinf asinh atan atan2 atanh calloc cabs carg cbrt ceil cexp cimag clog
    conj copysign cos cosf cosh cosl cpow cproj creal csin csqrt drem erf erfc exit exp exp10 exp2 expf
    expl expm1 fabs fabsf fabsl fdim ffs floor fma fmax fmin fmod fprintf fputc fputs free frexp fscanf
    fwrite gamma hypot ilogb index isalpha isdigit isfinite isinf isnan isnormal j0 j1 jn labs ldexp
    lgamma llabs llrint llround log log10 log1p log2 logb lrint lround malloc memchr memcmp memcpy memmove
    memset modf nan nearbyint nextafter nexttoward pow pow10 printf putc putchar puts realloc remainder
    remquo rindex rint round scalb scalbln scalbn scanf signbit significand sin sincos sinf sinh sinl
    snprintf sprintf sqrt sqrtf sqrtl sscanf stpcpy strcat strchr strcmp strcpy strdup strlen strncpy
    strstr tan tanf tanh tanl tgamma time tolower toupper trunc vprintf y0 y1 yn first block stdin stdout
    stderr math_errhandling matherr popen pclose wpopen wcswcs L_tmpnam L_tmpnam_s L_ctermid P_tmpdir WIN32
    WIN64
"""
RESERVED = frozenset(_RESERVED_WORDS.split())


def looks_like_macro(word: str) -> bool:
    """Whether `word` is in capitals, and long enough to be a macro such as INT_MAX of some header."""
    return word == word.upper() and len(re.findall("[A-Z]", word)) > 3


class Names:
    """Unique identifiers made of words nobody vouches for: ASCII, no underscore first or last, none reserved."""

    def __init__(self, reserved: Set[str] = RESERVED, length: int = _NAME_LENGTH, capitals: bool = False) -> None:
        self._reserved = reserved
        self._length = length
        self._capitals = capitals  # whether words in capitals may stay, though headers may have macros of that name
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted` in letters, digits and underscores, numbered if it is taken or reserved."""
        letters = re.sub(r"[^A-Za-z0-9]+", "_", wanted[: 4 * self._length]).strip("_")
        stem = letters[: self._length].rstrip("_") or "v"
        loud = looks_like_macro(stem) and not self._capitals
        if stem[0].isdigit() or stem.lower().startswith("supple") or stem.startswith("FP_") or loud:
            stem = "v_" + stem
        name, tail = stem, self._next.get(stem, 2)
        while name in self._taken or name in self._reserved:
            name, tail = f"{stem}_{tail}", tail + 1
        self._next[stem] = tail
        self._taken.add(name)
        return name


@dataclass(frozen=True)
class Statement:
    """One line of C, the locals it defines and those it reads."""

    text: str
    defines: tuple[str, ...]
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Signature:
    """The C name of a function and of its arrays, in the order of its parameters."""

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]

    def parameters(self, *more: str) -> str:
        ins = [f"const real *restrict {x}" for x in self.inputs.values()]
        outs = [f"real *restrict {x}" for x in self.outputs.values()]
        return ", ".join([*ins, *outs, *more]) or "void"


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="ascii")


def header() -> str:
    """The text of real.h, which every printed function needs once in front of it."""
    return _file("real.h")


def literal(x: Any) -> str:
    """x as a C constant that reads back as the nearest double (17 digits or fewer)."""
    try:
        value = float(x)
    except OverflowError:
        raise BackendError("a constant is too large for a floating point number") from None
    if math.isnan(value):
        return "NAN"
    return repr(value) if math.isfinite(value) else "INFINITY" if value > 0 else "-INFINITY"


def source(f: Function) -> str:
    """f as one self-contained C file."""
    return header() + "\n" + body(f)


def signature(f: Function, names: Names | None = None) -> Signature:
    """The C names of f and its arrays."""
    names = names or Names()
    name = names.unique(f.name)
    inputs = {key: names.unique(key) for key in f.inputs}
    return Signature(name, inputs, {key: names.unique(key) for key in f.outputs})


def body(f: Function, names: Names | None = None) -> str:
    """f as a C function NAME(inputs..., outputs...), to stand after `header()`; its words are taken from `names`."""
    names = names or Names()
    sign = signature(f, names)
    statements = list(_statements(f, sign, names))
    if len(statements) <= SPLIT_ABOVE:
        lines = _definition(f"void {sign.name}({sign.parameters()})", sign, statements)
    else:
        lines = _split(sign, statements)
    return "\n".join([*comment(f, sign, len(statements)), *lines, ""])


def driver(f: Function) -> str:
    """The C functions that run f over states: supple_batch, stored one after the other; supple_blocks, stored in lanes."""
    ins, outs = [x.size for x in f.inputs.values()], [x.size for x in f.outputs.values()]
    sized = [(f"supple_in_{k}", n) for k, n in enumerate(ins)]
    sized += [(f"supple_out_{k}", n) for k, n in enumerate(outs)]
    gathers = [
        f"        if (step[{k}] || first == 0)\n"
        f"            supple_gather(supple_in_{k}, in[{k}] + first * step[{k}], {n}, step[{k}], live, step[{k}] && follow);"
        for k, n in enumerate(ins)
    ]
    scatters = [f"        supple_scatter(out[{k}] + first * {n}, supple_out_{k}, {n}, live);" for k, n in enumerate(outs)]
    in_lanes = [f"(const real *)in[{k}] + k * step[{k}]" for k in range(len(ins))]
    in_lanes += [f"(real *)out[{k}] + k * {n}" for k, n in enumerate(outs)]
    direct = [f"in[{k}] + first * step[{k}]" for k in range(len(ins))]
    direct += [f"out[{k}] + first * {n}" for k, n in enumerate(outs)]
    return _file("batch.h") + _DRIVER.format(
        name=signature(f).name,
        direct=", ".join(direct),
        in_lanes=", ".join(in_lanes),
        blocks=", ".join(name for name, _ in sized),
        declared="\n".join(storage(name, n) for name, n in sized),
        gathers="\n".join(gathers),
        scatters="\n".join(scatters),
    )


class _Printer:
    """The statements of a Function; negations are printed where they are used."""

    def __init__(self, f: Function, sign: Signature, names: Names) -> None:
        self._names = names
        self._text = {x: f"{sign.inputs[key]}[{i}]" for key, a in f.inputs.items() for i, x in enumerate(a.ravel())}
        self._local: dict[Expr, str] = {}
        self._targets = _targets(f, sign)
        self._inner = _operands(f)
        self._minus = {n.args[0]: f"minus_{n.label}" for n in f.nodes if n.op == "neg" and n.label}
        self._serial = {node: serial for serial, node in enumerate(f.nodes)}

    def operation(self, node: Expr) -> Iterator[Statement]:
        if node.op not in ("symbol", "neg"):
            value, used = _value(node, self._operand), self._reads(*node.args)
            if node in self._inner or node.label or len(self._targets.get(node, ())) != 1:
                name = self._define(node, "t", node)
                yield Statement(f"const real {name} = {value};", (name,), used)
            else:
                yield Statement(f"{self._targets.pop(node)[0]} = {value};", (), used)
        yield from self._results(node)

    def turns(self, nodes: Sequence[Expr]) -> Iterator[Statement]:
        """Sines and cosines, none of which is made of another."""
        angles: dict[Scalar, dict[str, str]] = {n.args[0]: {} for n in nodes}
        first = {n.args[0]: n for n in reversed(nodes)}
        for n in nodes:
            angles[n.args[0]][n.op] = self._define(n, n.op[0], first[n.args[0]])
        names = tuple(name for pair in angles.values() for name in pair.values())
        yield Statement(self._turn(angles, ", ".join(names)), names, self._reads(*angles))
        for n in nodes:
            yield from self._results(n)

    def _turn(self, angles: Mapping[Scalar, Mapping[str, str]], names: str) -> str:
        given = [self._operand(x, alone=True) for x in angles]
        if len(given) == 1:
            (pair,) = angles.values()
            return f"real {names}; supple_sincos({given[0]}, &{pair['sin']}, &{pair['cos']});"
        count = len(given)
        lines = [
            f"real {names};",
            f"{{   const real supple_x[{count}] = {{{', '.join(given)}}};",
            f"    real supple_s[{count}], supple_c[{count}];",
            f"    supple_sincos_of({count}, supple_x, supple_s, supple_c);",
        ]
        for k, pair in enumerate(angles.values()):
            lines.append("    " + " ".join(f"{name} = supple_{op[0]}[{k}];" for op, name in pair.items()))
        return "\n    ".join([*lines, "}"])

    def _results(self, node: Expr) -> Iterator[Statement]:
        for target in self._targets.get(node, ()):
            yield Statement(f"{target} = {self._operand(node, alone=True)};", (), self._reads(node))

    def _reads(self, *operands: Scalar) -> tuple[str, ...]:
        return tuple(self._local[_bare(x)] for x in operands if isinstance(x, Expr) and _bare(x) in self._local)

    def _operand(self, x: Scalar, alone: bool = False) -> str:
        if not isinstance(x, Expr):
            return f"num({literal(x)})"
        if x.op != "neg":
            return self._text[x]
        return f"-{self._text[x.args[0]]}" if alone else f"(-{self._text[x.args[0]]})"

    def _define(self, node: Expr, letter: str, first: Expr) -> str:
        fallback = self._minus.get(node, f"{letter}{self._serial[first]}")
        self._text[node] = self._local[node] = self._names.unique(node.label or fallback)
        return self._local[node]


def _statements(f: Function, sign: Signature, names: Names) -> Iterator[Statement]:
    """The evaluation of f in order."""
    printer = _Printer(f, sign, names)
    for step in sequence(f):
        yield from printer.operation(step[0]) if len(step) == 1 else printer.turns(step)
    for target, constant in _constants(f, sign):
        yield Statement(f"{target} = fill({literal(constant)});", (), ())


def _operands(f: Function) -> set[Expr]:
    """Nodes that others are made of."""
    return {a for n in f.nodes if n.op != "symbol" for a in n.args if isinstance(a, Expr)}


def partners(f: Function) -> dict[Expr, Expr]:
    """The cosine of every sine whose argument has both, and the other way round."""
    present = {(n.op, n.args[0]): n for n in f.nodes if n.op in _PARTNER}
    return {n: present[_PARTNER[op], x] for (op, x), n in present.items() if (_PARTNER[op], x) in present}


def _bare(x: Expr) -> Expr:
    """x without its negation."""
    return x.args[0] if x.op == "neg" else x


def _value(node: Expr, operand: Callable[..., str]) -> str:
    if node.op in _BINARY:
        return f"{operand(node.args[0])} {_BINARY[node.op]} {operand(node.args[1])}"
    if node.op in _CALLS:
        return f"{_CALLS[node.op]}({operand(node.args[0], alone=True)})"
    raise BackendError(f"the operation {node.op} cannot be printed as C")


def _targets(f: Function, sign: Signature) -> dict[Expr, list[str]]:
    found: dict[Expr, list[str]] = {}
    for key, array in f.outputs.items():
        for i, x in enumerate(array.ravel()):
            if isinstance(x, Expr):
                found.setdefault(x, []).append(f"{sign.outputs[key]}[{i}]")
    return found


def _constants(f: Function, sign: Signature) -> Iterator[tuple[str, Any]]:
    for key, array in f.outputs.items():
        for i, x in enumerate(array.ravel()):
            if not isinstance(x, Expr):
                yield f"{sign.outputs[key]}[{i}]", x


def _split(sign: Signature, statements: Sequence[Statement]) -> list[str]:
    """The function as parts of bounded length that hand values on through the array `work`."""
    parts = [statements[i : i + PART] for i in range(0, len(statements), PART)]
    slots, size = _slots(parts)
    lines: list[str] = []
    arguments = ", ".join([*sign.inputs.values(), *sign.outputs.values(), "work"])
    for k, part in enumerate(parts, 1):
        known: set[str] = set()
        made: list[Statement] = []
        for statement in part:
            for name in statement.reads:
                if name not in known:
                    made.append(Statement(f"const real {name} = work[{slots[name]}];", (), ()))
                    known.add(name)
            made.append(statement)
            known.update(statement.defines)
            made += [Statement(f"work[{slots[d]}] = {d};", (), ()) for d in statement.defines if d in slots]
        title = f"SUPPLE_APART void supple_{sign.name}_part{k}({sign.parameters('real *restrict work')})"
        lines += [*_definition(title, sign, made, "work"), ""]
    lines += [f"void {sign.name}({sign.parameters()})", "{", storage("work", size)]
    lines += [f"    supple_{sign.name}_part{k}({arguments});" for k in range(1, len(parts) + 1)]
    return [*lines, "}"]


def _slots(parts: Sequence[Sequence[Statement]]) -> tuple[dict[str, int], int]:
    """Places in `work` of the values that cross parts, reused after the last read, and their number."""
    born = {name: k for k, part in enumerate(parts) for s in part for name in s.defines}
    last = {name: k for k, part in enumerate(parts) for s in part for name in s.reads}
    crossing = [name for name in born if last.get(name, -1) > born[name]]
    slots: dict[str, int] = {}
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    size = now = 0
    for name in crossing:
        while now < born[name]:
            free += ending.pop(now, [])
            now += 1
        if not free:
            free.append(size)
            size += 1
        slots[name] = free.pop()
        ending.setdefault(last[name], []).append(slots[name])
    return slots, size


def storage(name: str, size: int) -> str:
    """A local array, on the stack as long as it is small."""
    if size * 8 <= _STACK:
        return f"    real {name}[{max(size, 1)}];"
    return f"    SUPPLE_THREAD_LOCAL real {name}[{size}];"


def _definition(title: str, sign: Signature, statements: Sequence[Statement], *more: str) -> list[str]:
    """A C function of these statements, its unused parameters marked as such."""
    used = {array for s in statements for array in re.findall(r"\w+(?=\[)", s.text)}
    unused = [x for x in (*sign.inputs.values(), *sign.outputs.values(), *more) if x not in used]
    return [title, "{", *(f"    (void){x};" for x in unused), *(f"    {s.text}" for s in statements), "}"]


def comment(f: Function, sign: Signature, statements: int) -> list[str]:
    counts = ", ".join(f"{f.counts[op]} {op}" for op in (*_BINARY, "neg", *_CALLS) if f.counts[op])
    given = ", ".join(f"{c}[{f.inputs[k].size}]" for k, c in sign.inputs.items()) or "nothing"
    results = ", ".join(f"{c}[{f.outputs[k].size}]" for k, c in sign.outputs.items()) or "nothing"
    return [
        f"/* {sign.name}: {given} -> {results}; arrays may not overlap.",
        f" * {f.operations} operations ({counts or 'none'}) in {statements} statements.",
        " * Generated; do not edit. */",
    ]


_DRIVER = """
void supple_batch(
    long long count, const supple_scalar *const *in, const long long *step, supple_scalar *const *out)
{{
    (void)in; (void)step; (void)out;
#if SUPPLE_LANES == 1
    for (long long first = 0; first < count; first++)
        {name}({direct});
#else
{declared}
    for (long long first = 0; first < count; first += SUPPLE_LANES) {{
        const int live = count - first < SUPPLE_LANES ? (int)(count - first) : SUPPLE_LANES;
        const int follow = count - first - SUPPLE_LANES >= 4;
{gathers}
        {name}({blocks});
{scatters}
    }}
#endif
}}

void supple_blocks(
    long long count, const supple_scalar *const *in, const long long *step, supple_scalar *const *out)
{{
    (void)in; (void)step; (void)out;
    for (long long k = 0; k < count; k++)
        {name}({in_lanes});
}}
"""
