"""Functions printed as C around assembly for x86-64 with AVX, which compilers take as it stands.

A Function of thousands of statements has no branches, so little is left to a compiler but which values stay in registers,
and most of its time goes there. Here those stay that are read soonest (Belady), in a single pass; those that memory holds
too leave rather than others, as storing a vector takes longer than loading one. Numbers are values like others. Bits are
those of the C text: the same operations, none fused. Sines, cosines and signs stay calls in C; what they need is computed
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from supple.backends import sequence
from supple.backends.c_source import Signature, body, comment, literal, signature, storage
from supple.expr.function import Function
from supple.expr.node import Expr, Scalar

_CALLED = ("sin", "cos", "sign")
_EITHER_WAY = ("add", "mul")
_MOST_ARRAYS = 10  # of a function: their addresses are in registers
_NEVER = 1 << 60  # when a free register is read next
_MINUS = ["-0.0", "-0.0"]  # the sign bit, first in the table of constants: exclusive or reads two numbers at least
_DOUBLES = {1: ("sd", "xmm"), 4: ("pd", "ymm"), 8: ("pd", "zmm")}
_FLOATS = {4: ("ps", "xmm"), 8: ("ps", "ymm"), 16: ("ps", "zmm")}
_SOON = 24  # operations within which a value must be read again for an instruction that loads it to be worth it
_STORE = 4  # a value that memory holds too leaves a register rather than one that is read up to so many times later
_MANY = 32  # registers, of processors whose operations take a number in memory for all lanes

Value = Expr | str  # of an operation or an input; the text of a number

PROLOGUE = """#define SUPPLE_QUOTED(x) #x
#define SUPPLE_WORD(x) SUPPLE_QUOTED(x)
#if SUPPLE_LANES == 1
#define SUPPLE_SAME(x) (x)
#elif SUPPLE_LANES == 4
#define SUPPLE_SAME(x) {x, x, x, x}
#elif SUPPLE_LANES == 8
#define SUPPLE_SAME(x) {x, x, x, x, x, x, x, x}
#else
#define SUPPLE_SAME(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}
#endif
"""


def registers(macros: str, lanes: int, single: bool = False) -> int:
    """How many vector registers a compiler with these predefined macros has for some lanes; none if there is no assembly."""
    if not all(f"#define {name} " in macros for name in ("__x86_64__", "__AVX__", "__GNUC__")):
        return 0
    kind, register = (_FLOATS if single else _DOUBLES).get(lanes, ("", ""))
    if kind and "#define __AVX512VL__ " in macros and "#define __AVX512DQ__ " in macros:
        return _MANY
    return 16 if register in ("xmm", "ymm") else 0


def for_lanes(text: str, lanes: int, single: bool = False) -> str:
    """Assembly for a number of states side by side; other text as it is."""
    kind, register = (_FLOATS if single else _DOUBLES).get(lanes, ("", ""))
    move, spread = ("vmovsd", "vmovsd") if lanes == 1 else (f"vmovu{kind}", f"vbroadcasts{kind[-1:]}")
    everywhere = "" if lanes == 1 else f"%{{1to{lanes}%}}"
    words = {"{all}": everywhere, "{size}": "4" if single else "8", "vspread$": spread, "vmov$": move}
    words |= {"vxor$": "vxorps" if single else "vxorpd", "$": kind, "@": f"%%{register}"}
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


def assembled(f: Function, count: int, ordered: bool = False) -> str:
    """f as a C function for `count` registers, to stand after `PROLOGUE` and to be given to `for_lanes`.

    Operations are in the order of f, or `ordered` so that values wait as little for their use as processors do for values.
    Functions with too many arrays are C."""
    sign = signature(f)
    if len(sign.inputs) + len(sign.outputs) > _MOST_ARRAYS:
        return body(f)
    file = _File(f, sign, count)
    inside = list(file.pieces(_spaced_turns(f) if ordered else _turns(f)))
    kind, entry = ("supple_scalar", "({})") if file.spread else ("real", "SUPPLE_SAME({})")
    table = ", ".join(entry.format(x) for x in [*_MINUS, *file.constants])
    head = [f"void {sign.name}({sign.parameters()})", "{", f"    static const {kind} table[] = {{{table}}};"]
    return "\n".join([*comment(f, sign, file.statements), *head, storage("work", file.slots), *inside, "}", ""])


class _File:
    """Registers and memory while the operations of a Function are printed."""

    def __init__(self, f: Function, sign: Signature, count: int) -> None:
        self.f, self.sign, self.count, self.spread = f, sign, count, count >= _MANY
        arrays = [*sign.inputs.values(), *sign.outputs.values()]
        self.base = {array: f"*.Lw(%{k})" for k, array in enumerate(["table", "work", *arrays])}
        self.named: dict[Value, str] = {}  # values in arrays of C
        self.home: dict[Value, str] = {}  # and where that is
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
        self.constants: list[str] = []
        self.place: dict[Value, int] = {}  # registers of values
        self.holds: list[Value | None] = [None] * count
        self.ahead = [_NEVER] * count  # position at which what a register holds is read next
        self.spare = [_NEVER] * count  # the same where memory holds it too
        self.uses: dict[Value, list[int]] = {}  # positions that read a value, the last first
        self.slot: dict[Value, int] = {}  # values in the array `work`
        self.free: list[int] = []
        self.ended: list[int] = []  # places that are free once the operation that reads them is printed
        self.slots = self.statements = self.position = 0
        self.lines: list[str] = []

    def pieces(self, turns: Sequence[Sequence[Expr]]) -> Iterator[str]:
        """The text in turns: assembly that computes what calls need, calls, and at last assembly for all the rest."""
        order = list(chain.from_iterable(turns))
        for position in range(len(order) - 1, -1, -1):
            for x in order[position].args:
                self.uses.setdefault(_value(x), []).append(position)
        for x in self.f.nodes:
            if x.op == "symbol" and x in self.targets:
                self._store(x, self._loaded(x))
        for turn in turns:
            if turn and turn[0].op in _CALLED:
                self._settle()
                yield from self._assembly()
                yield from self._calls(turn)
                self.position += len(turn)
            else:
                for node in turn:
                    self._operation(node)
                    self.position += 1
        self._numbers()
        yield from self._assembly()

    def _assembly(self) -> Iterator[str]:
        """The instructions so far as a statement of C."""
        if self.lines:
            arrays = "".join(f', "r"({array})' for array in list(self.base)[2:])
            clobbered = ", ".join(f'"xmm{k}"' for k in range(max(16, self.count)))  # vzeroupper knows sixteen
            text = '\\n"\n"'.join([*self.lines, ".if .Lw > 8; vzeroupper; .endif"])
            yield f'    __asm__ volatile(".set .Ls, {{size}}; .set .Lw, .Ls * " SUPPLE_WORD(SUPPLE_LANES) "\\n"\n"{text}\\n"'
            yield f'        :: "r"(table), "r"(work){arrays} : "memory", {clobbered});'
            self.statements += len(self.lines)
            self.lines = []

    def _calls(self, nodes: Sequence[Expr]) -> Iterator[str]:
        """Calls, whose operands are in memory; sines and cosines of all angles by one."""
        angles = list(dict.fromkeys(x.args[0] for x in nodes if x.op != "sign"))
        first, count = self.slots, len(angles)
        self.slots += 3 * count
        yield from (f"    work[{first + k}] = {self._given(x)};" for k, x in enumerate(angles))
        if angles:
            yield f"    supple_sincos_of({count}, work + {first}, work + {first + count}, work + {first + 2 * count});"
        unused = set(range(first, self.slots))
        for node in nodes:
            if node.op == "sign":
                given = self._given(node.args[0])
                yield f"    {self._new_slot(node)} = supple_sign({given});"
            else:
                place = first + angles.index(node.args[0]) + count * (1 if node.op == "sin" else 2)
                unused.remove(place)
                self._own(node, place)
        self.free += sorted(unused, reverse=True)
        for node in nodes:
            self._read(_value(node.args[0]))
            if node in self.targets:
                self._store(node, self._loaded(node))

    def _given(self, x: Expr) -> str:
        """The name in C of a value in memory."""
        return f"work[{self.slot[x]}]" if x in self.slot else self.named[x]

    def _operation(self, node: Expr) -> None:
        first, second = _value(node.args[0]), _value(node.args[-1])
        sooner = second in self.place or self._again(second) < self._again(first)
        if node.op in _EITHER_WAY and first not in self.place and sooner:
            first, second = second, first
        source = self._loaded(first)
        self._keep(second)
        operand = self._operand(second)
        for x in node.args:
            self._read(_value(x))
        register = self._freed()
        if node.op == "neg":
            self.lines.append(f"vxor$ (%0){'{all}' * self.spread}, @{source}, @{register}")
        elif node.op == "sqrt":
            self.lines.append(f".if .Lw <= 8; vsqrtsd @{source}, @{source}, @{register}; .endif")
            self.lines.append(f".if .Lw > 8; vsqrt$ @{source}, @{register}; .endif")
        else:
            self.lines.append(f"v{node.op}$ {operand}, @{source}, @{register}")
        self.free += self.ended
        self.ended = []
        self._hold(node, register)
        self._store(node, register)

    def _again(self, x: Value) -> int:
        """The position that reads a value after the next one that does."""
        later = self.uses[x]
        return later[-2] if len(later) > 1 else _NEVER

    def _keep(self, x: Value) -> None:
        """An operand in memory to a register, if it is read again soon, and sooner than what leaves without a store."""
        if x not in self.place and self._again(x) < min(max(self.spare), self.position + _SOON):
            register = self.spare.index(max(self.spare))
            if self.holds[register] is not None:
                self._leave(register)
            self._bring(x, register)

    def _loaded(self, x: Value) -> int:
        """The register of an operand, brought there if it is elsewhere."""
        if x not in self.place:
            self._bring(x, self._freed())
        return self.place[x]

    def _bring(self, x: Value, register: int) -> None:
        """A value in memory to a register."""
        move = "vspread$" if self.spread and isinstance(x, str) else "vmov$"
        self.lines.append(f"{move} {self._operand(x).removesuffix('{all}')}, @{register}")
        self._hold(x, register)

    def _operand(self, x: Value) -> str:
        """An operand where it is."""
        if x in self.place:
            return f"@{self.place[x]}"
        if isinstance(x, str) and x not in self.home:
            place = len(self.constants) + len(_MINUS)
            self.home[x] = f"{place}*.Ls(%0){{all}}" if self.spread else f"{place}*.Lw(%0)"
            self.constants.append(x)
        return self.home[x]

    def _freed(self) -> int:
        """A register that is free, or one that is read late, with its value in memory from now on."""
        latest, spare = max(self.ahead), max(self.spare)
        if spare == _NEVER:
            return self.spare.index(spare)
        stored = _STORE * (spare - self.position) < latest - self.position
        register = self.ahead.index(latest) if stored else self.spare.index(spare)
        self._leave(register)
        return register

    def _leave(self, register: int) -> None:
        x = self.holds[register]
        assert x is not None
        if isinstance(x, Expr) and x not in self.home and self.uses.get(x):
            self._new_slot(x)
            self.lines.append(f"vmov$ @{register}, {self.home[x]}")
        self._forget(x, register)

    def _settle(self) -> None:
        """All that is read later in memory, and no register in use."""
        for register, x in enumerate(self.holds):
            if x is not None:
                self._leave(register)

    def _hold(self, x: Value, register: int) -> None:
        self.holds[register], self.place[x] = x, register
        self._await(x, register)

    def _await(self, x: Value, register: int) -> None:
        """Note when a register is read next, and whether memory holds its value."""
        later = self.uses.get(x)
        self.ahead[register] = later[-1] if later else _NEVER - 1
        self.spare[register] = self.ahead[register] if x in self.home else -1

    def _forget(self, x: Value, register: int) -> None:
        del self.place[x]
        self.holds[register], self.ahead[register], self.spare[register] = None, _NEVER, _NEVER

    def _read(self, x: Value) -> None:
        """An operand has been read; if it is not read again, its places are free."""
        later = self.uses[x]
        later.pop()
        register = self.place.get(x)
        if register is not None and later:
            self._await(x, register)
        elif register is not None:
            self._forget(x, register)
        if not later and x in self.slot:
            self.ended.append(self.slot[x])

    def _new_slot(self, x: Expr) -> str:
        """A place in `work` for a value."""
        if not self.free:
            self.free.append(self.slots)
            self.slots += 1
        return self._own(x, self.free.pop())

    def _own(self, x: Expr, place: int) -> str:
        self.slot[x] = place
        self.home[x] = f"{place}{self.base['work']}"
        return f"work[{place}]"

    def _store(self, x: Expr, register: int) -> None:
        """Values of outputs, which are there from now on; a register whose value is not read again is free."""
        for name, target in self.targets.get(x, ()):
            self.lines.append(f"vmov$ @{register}, {target}")
            if x not in self.home:
                self.named[x], self.home[x] = name, target
        self._await(x, register)
        if not self.uses.get(x):
            self._forget(x, register)

    def _numbers(self) -> None:
        """Outputs that are numbers."""
        found: dict[str, list[str]] = {}
        for key, array in self.f.outputs.items():
            base = self.base[self.sign.outputs[key]]
            for k, x in enumerate(array.ravel()):
                if not isinstance(x, Expr):
                    found.setdefault(literal(x), []).append(f"{k}{base}")
        for number, targets in found.items():
            register = self._loaded(number)
            self.lines += [f"vmov$ @{register}, {target}" for target in targets]
            self._forget(number, register)


def _value(x: Scalar) -> Value:
    return x if isinstance(x, Expr) else literal(x)


def _spaced_turns(f: Function) -> list[list[Expr]]:
    """The operations of f as `_turns` has them, in an order that takes longer to find and less to compute."""
    found = [[n for n in turn if n.op != "symbol"] for turn in sequence.turns(f, _CALLED)]
    return [turn if turn and turn[0].op in _CALLED else sequence.spaced(turn) for turn in found]


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
