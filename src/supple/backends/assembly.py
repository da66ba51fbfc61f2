"""Functions printed as C around assembly for x86-64 with AVX, which compilers take as it stands.

A Function of thousands of statements has no branches, so little is left to a compiler but which values stay in registers,
and most of its time goes there. Here those stay that are read soonest (Belady), which no choice without branches beats, in a
single pass. Bits are those of the C text: the same operations, none fused. Sines, cosines and signs stay calls in C; what
they need is computed first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from supple.backends.c_source import Signature, body, comment, literal, partners, signature, storage
from supple.expr.function import Function
from supple.expr.node import Expr, Scalar

_CALLED = {"sin": "supple_sin", "cos": "supple_cos", "sign": "supple_sign"}
_EITHER_WAY = ("add", "mul")
_MOST_ARRAYS = 10  # of a function: their addresses are in registers
_NEVER = 1 << 60  # when a free register is read next
_MINUS = ["-0.0", "-0.0"]  # the sign bit, first in the table of constants: exclusive or reads two numbers at least
_LANES = {1: ("sd", "xmm"), 4: ("pd", "ymm"), 8: ("pd", "zmm")}

PROLOGUE = """#define SUPPLE_QUOTED(x) #x
#define SUPPLE_WORD(x) SUPPLE_QUOTED(x)
#if SUPPLE_LANES == 1
#define SUPPLE_SAME(x) (x)
#elif SUPPLE_LANES == 4
#define SUPPLE_SAME(x) {x, x, x, x}
#else
#define SUPPLE_SAME(x) {x, x, x, x, x, x, x, x}
#endif
"""


def registers(macros: str, lanes: int) -> int:
    """How many vector registers a compiler with these predefined macros has for some lanes; none if there is no assembly."""
    if not all(f"#define {name} " in macros for name in ("__x86_64__", "__AVX__", "__GNUC__")):
        return 0
    many = "#define __AVX512VL__ " in macros and "#define __AVX512DQ__ " in macros
    return 32 if many and lanes in _LANES else 16 if lanes in (1, 4) else 0


def for_lanes(text: str, lanes: int) -> str:
    """Assembly for a number of states side by side; other text as it is."""
    kind, register = _LANES.get(lanes, ("", ""))
    move = "vmovsd" if lanes == 1 else "vmovupd"
    return text.replace("vmov$", move).replace("$", kind).replace("@", f"%%{register}")


def assembled(f: Function, count: int) -> str:
    """f as a C function for `count` registers, to stand after `PROLOGUE` and to be given to `for_lanes`.

    Functions with too many arrays are C."""
    sign = signature(f)
    if len(sign.inputs) + len(sign.outputs) > _MOST_ARRAYS:
        return body(f)
    file = _File(f, sign, count)
    inside = list(file.pieces())
    table = ", ".join(f"SUPPLE_SAME({x})" for x in [*_MINUS, *file.constants])
    head = [f"void {sign.name}({sign.parameters()})", "{", f"    static const real table[] = {{{table}}};"]
    return "\n".join([*comment(f, sign, file.statements), *head, storage("work", file.slots), *inside, "}", ""])


class _File:
    """Registers and memory while the operations of a Function are printed."""

    def __init__(self, f: Function, sign: Signature, count: int) -> None:
        self.f, self.sign, self.count = f, sign, count
        arrays = [*sign.inputs.values(), *sign.outputs.values()]
        self.base = {array: f"*.Lw(%{k})" for k, array in enumerate(["table", "work", *arrays])}
        self.named: dict[Expr, str] = {}  # values in arrays of C
        self.home: dict[Expr, str] = {}  # and where that is
        for key, array in f.inputs.items():
            name, base = sign.inputs[key], self.base[sign.inputs[key]]
            for k, x in enumerate(array.ravel()):
                self.named[x], self.home[x] = f"{name}[{k}]", f"{k}{base}"
        self.targets: dict[Expr, list[tuple[str, str]]] = {}
        for key, array in f.outputs.items():
            name, base = sign.outputs[key], self.base[sign.outputs[key]]
            for k, x in enumerate(array.ravel()):
                if isinstance(x, Expr):
                    self.targets.setdefault(x, []).append((f"{name}[{k}]", f"{k}{base}"))
        self.constants: dict[str, str] = {}
        self.place: dict[Expr, int] = {}  # registers of values
        self.holds: list[Expr | None] = [None] * count
        self.ahead = [_NEVER] * count  # position at which what a register holds is read next
        self.uses: dict[Expr, list[int]] = {}  # positions that read a value, the last first
        self.slot: dict[Expr, int] = {}  # values in the array `work`
        self.free: list[int] = []
        self.ended: list[int] = []  # places that are free once the operation that reads them is printed
        self.slots = self.statements = 0
        self.lines: list[str] = []

    def pieces(self) -> Iterator[str]:
        """The text in turns: assembly that computes what calls need, calls, and at last assembly for all the rest."""
        turns, pairs = _turns(self.f), partners(self.f)
        order = list(chain.from_iterable(turns))
        for position in range(len(order) - 1, -1, -1):
            for x in order[position].args:
                if isinstance(x, Expr):
                    self.uses.setdefault(x, []).append(position)
        for x in self.f.nodes:
            if x.op == "symbol" and x in self.targets:
                self._store(x, self._loaded(x))
        for turn in turns:
            if turn and turn[0].op in _CALLED:
                self._settle()
                yield from self._assembly()
                yield from self._calls(turn, pairs)
            else:
                for node in turn:
                    self._operation(node)
        self._numbers()
        yield from self._assembly()

    def _assembly(self) -> Iterator[str]:
        """The instructions so far as a statement of C."""
        if self.lines:
            arrays = "".join(f', "r"({array})' for array in list(self.base)[2:])
            clobbered = ", ".join(f'"xmm{k}"' for k in range(max(16, self.count)))  # vzeroupper knows sixteen
            text = '\\n"\n"'.join([*self.lines, ".if .Lw > 8; vzeroupper; .endif"])
            yield f'    __asm__ volatile(".set .Lw, 8 * " SUPPLE_WORD(SUPPLE_LANES) "\\n"\n"{text}\\n"'
            yield f'        :: "r"(table), "r"(work){arrays} : "memory", {clobbered});'
            self.statements += len(self.lines)
            self.lines = []

    def _calls(self, nodes: Sequence[Expr], pairs: dict[Expr, Expr]) -> Iterator[str]:
        """Calls, whose operands are in memory."""
        for node in nodes:
            x = node.args[0]
            given = f"work[{self.slot[x]}]" if x in self.slot else self.named[x]
            if node not in pairs:
                yield f"    {self._new_slot(node)} = {_CALLED[node.op]}({given});"
            elif node not in self.slot:
                sine, cosine = (node, pairs[node]) if node.op == "sin" else (pairs[node], node)
                yield f"    supple_sincos({given}, &{self._new_slot(sine)}, &{self._new_slot(cosine)});"
        for node in nodes:
            self._read(node.args[0])
            if node in self.targets:
                self._store(node, self._loaded(node))

    def _operation(self, node: Expr) -> None:
        op, first, second = node.op, node.args[0], node.args[-1]
        if op in _EITHER_WAY and first not in self.place and second in self.place:
            first, second = second, first
        source = self._loaded(first)
        line = f"vxorpd (%0), @{source}, @" if op == "neg" else f"v{op}$ {self._operand(second)}, @{source}, @"
        for x in node.args:
            self._read(x)
        register = self._freed()
        if op == "sqrt":
            self.lines.append(f".if .Lw == 8; vsqrtsd @{source}, @{source}, @{register}; .endif")
            line = f".if .Lw > 8; vsqrtpd @{source}, @{register}; .endif"
            self.lines.append(line)
        else:
            self.lines.append(f"{line}{register}")
        self.free += self.ended
        self.ended = []
        self._hold(node, register)
        self._store(node, register)

    def _loaded(self, x: Scalar) -> int:
        """The register of an operand, brought there if it is elsewhere."""
        register = self.place.get(x) if isinstance(x, Expr) else None
        if register is None:
            register = self._freed()
            self.lines.append(f"vmov$ {self._operand(x)}, @{register}")
            if isinstance(x, Expr):
                self._hold(x, register)
        return register

    def _operand(self, x: Scalar) -> str:
        """An operand where it is."""
        if not isinstance(x, Expr):
            text = literal(x)
            if text not in self.constants:
                self.constants[text] = f"{len(self.constants) + len(_MINUS)}{self.base['table']}"
            return self.constants[text]
        register = self.place.get(x)
        return self.home[x] if register is None else f"@{register}"

    def _freed(self) -> int:
        """A register that is free, or the one that is read last, with its value in memory from now on."""
        register = self.ahead.index(max(self.ahead))
        if self.holds[register] is not None:
            self._leave(register)
        return register

    def _leave(self, register: int) -> None:
        x = self.holds[register]
        assert x is not None
        if x not in self.home and self.uses.get(x):
            self._new_slot(x)
            self.lines.append(f"vmov$ @{register}, {self.home[x]}")
        self._forget(x, register)

    def _settle(self) -> None:
        """All that is read later in memory, and no register in use."""
        for register, x in enumerate(self.holds):
            if x is not None:
                self._leave(register)

    def _hold(self, x: Expr, register: int) -> None:
        self.holds[register], self.place[x] = x, register
        later = self.uses.get(x)
        self.ahead[register] = later[-1] if later else _NEVER

    def _forget(self, x: Expr, register: int) -> None:
        del self.place[x]
        self.holds[register], self.ahead[register] = None, _NEVER

    def _read(self, x: Scalar) -> None:
        """An operand has been read; if it is not read again, its places are free."""
        if not isinstance(x, Expr):
            return
        later = self.uses[x]
        later.pop()
        register = self.place.get(x)
        if register is not None and later:
            self.ahead[register] = later[-1]
        elif register is not None:
            self._forget(x, register)
        if not later and x in self.slot:
            self.ended.append(self.slot[x])

    def _new_slot(self, x: Expr) -> str:
        """A place in `work` for a value."""
        if not self.free:
            self.free.append(self.slots)
            self.slots += 1
        self.slot[x] = self.free.pop()
        self.home[x] = f"{self.slot[x]}{self.base['work']}"
        return f"work[{self.slot[x]}]"

    def _store(self, x: Expr, register: int) -> None:
        """Values of outputs, which are there from now on; a register whose value is not read again is free."""
        for name, target in self.targets.get(x, ()):
            self.lines.append(f"vmov$ @{register}, {target}")
            if x not in self.home:
                self.named[x], self.home[x] = name, target
        if not self.uses.get(x):
            self._forget(x, register)

    def _numbers(self) -> None:
        """Outputs that are numbers."""
        found: dict[str, list[str]] = {}
        for key, array in self.f.outputs.items():
            base = self.base[self.sign.outputs[key]]
            for k, x in enumerate(array.ravel()):
                if not isinstance(x, Expr):
                    found.setdefault(self._operand(x), []).append(f"{k}{base}")
        for number, targets in found.items():
            register = self._freed()
            self.lines.append(f"vmov$ {number}, @{register}")
            self.lines += [f"vmov$ @{register}, {target}" for target in targets]


def _turns(f: Function) -> list[list[Expr]]:
    """The operations of f: those that the first calls need, these calls, and so on; at last all others."""
    depth: dict[Expr, int] = {}
    calls: dict[int, list[Expr]] = {}
    operations = [node for node in f.nodes if node.op != "symbol"]
    for node in operations:
        depth[node] = max((depth.get(x, 0) for x in node.args if isinstance(x, Expr)), default=0)
        if node.op in _CALLED:
            depth[node] += 1
            calls.setdefault(depth[node], []).append(node)
    turns: list[list[Expr]] = []
    placed: set[Expr] = set()
    for level in sorted(calls):
        before = _below(operations, (x for node in calls[level] for x in node.args), placed)
        turns += [before, calls[level]]
        placed.update(before, calls[level])
    return [*turns, [node for node in operations if node not in placed]]


def _below(operations: Sequence[Expr], roots: Iterable[Expr], placed: set[Expr]) -> list[Expr]:
    """Operations that roots are made of, and are not placed yet, in their order."""
    wanted = set(roots)
    found = []
    for node in reversed(operations):
        if node in wanted and node not in placed:
            found.append(node)
            wanted.update(x for x in node.args if isinstance(x, Expr))
    return found[::-1]
