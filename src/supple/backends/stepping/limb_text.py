"""The C text of what is eliminated body by body, see limbs.h."""

from __future__ import annotations

from collections.abc import Sequence

from supple.backends import c_source
from supple.backends.stepping.layout import LIMB_STRUCTS, struct_text
from supple.backends.stepping.limb_pattern import Columns, factor_columns, stiff_entries
from supple.backends.stepping.limb_teams import LANES, TeamTables, roots
from supple.backends.stepping.plant import Limb, Limbs, Plant
from supple.backends.stepping.tables import rows, table


def limb_tables(plant: Plant, limbs: Limbs) -> list[str]:
    """Tables of what is eliminated body by body, and where its parts stand."""
    store, reach, pull, bent = _limb_places(limbs)
    numbers = ", ".join(c_source.literal(float(x)) for x in limbs.numbers)
    lines = [line for struct in LIMB_STRUCTS for line in struct_text(struct)]
    for name, records in (
        ("Limb LIMB", limbs.frames),
        ("Tie TIES", limbs.ties),
        ("Meeting MEETINGS", limbs.meetings),
        ("Bend BENDS", limbs.bends),
        ("Window WINDOWS", limbs.windows),
    ):
        lines.append(f"static const {name}[{max(1, len(records))}] = {{{rows(records) or '{0}'}}};")
    lines += [table("LIMB_ORDER", limbs.order), table("LOOPED_ROW", limbs.rows), table("LIMB_STORE", store[:-1])]
    lines += [table("LIMB_REACH", reach[: len(limbs.frames)]), table("TIE_REACH", reach[len(limbs.frames) : -1])]
    lines += [table("LIMB_BENT", bent[:-1]), table("TWIST", limbs.twists)]
    lines += [table("LIMB_PULL", pull[:-1]), f"static const double LIMB_NUMBERS[] = {{{numbers}}};"]
    columns = factor_columns(limbs)
    teams = _teams(limbs, columns)
    lines += _pattern_tables(plant, limbs, store, columns, {j for legs in teams.legs for x in legs for j in x.frames})
    lines += _team_tables(limbs, teams)
    elastic = {x.e + k for x in limbs.frames for k in range(x.elastic)}
    lines.append(table("ELASTIC", [int(k in elastic) for k in range(plant.nv)]))
    lines += [] if limbs.balance is None else ["#define LIMB_BALANCE"]
    if plant.damping and limbs.balance is not None:
        lines.append(f"#define LIMB_DAMPING {sum(len(x.at) for x in plant.damping)}")
        lines.append(f"#define LIMB_POWER {c_source.signature(plant.power).name}")
    return lines


def _teams(limbs: Limbs, columns: list[Columns]) -> TeamTables:
    store, reach, _, bent = _limb_places(limbs)
    loops, held, solved, size = _loop_places(limbs, store[-1])
    sizes = {"loops": loops, "held": held, "solved": solved, "reach": bent[-1], "numbers": bent[-1] + size}
    return TeamTables(limbs, columns, {"store": store, "reach": reach}, sizes)


def _team_tables(limbs: Limbs, teams: TeamTables) -> list[str]:
    """Tables of legs solved side by side; LIMB_LEFT: limbs in no team, IN_TEAM: whether a meeting is a team's."""
    legs = [leg for x in teams.legs for leg in x]
    together = {leg.meeting for leg in legs}
    left = _left(limbs, teams)
    meetings = [int(k in together) for k in range(len(limbs.meetings))]
    return [*teams.text(), table("LIMB_LEFT", left), table("IN_TEAM", meetings), f"#define TEAM_LANES {LANES}"]


def _left(limbs: Limbs, teams: TeamTables) -> list[int]:
    gone = {j for x in teams.legs for leg in x for j in leg.frames}
    return [j for j in limbs.order if j not in gone]


def _pattern_tables(plant: Plant, limbs: Limbs, store: Sequence[int], columns: list[Columns], others: set[int]) -> list[str]:
    """LIMB_COLUMN: ends of every elastic column's numbers among PACKED_FROM, where they stand in the factors, and PACKED_TO,
    where what they act on stands in Forced, but others; STIFF_: where stiffness and damping of bodies are, what they tie."""
    n = len(limbs.twists)
    ends, first, source, target = [0], list[int](), list[int](), list[int]()
    for j, (x, own) in enumerate(zip(limbs.frames, columns, strict=True)):
        first.append(len(ends) - 1)
        for k, column in enumerate([] if j in others else own):
            for i in column:
                source.append(store[j] + k * _wide(limbs, x) + i)
                other = i - 1 - x.band
                loop = plant.nv + x.first + other - n
                twist = plant.nv + max(1, len(limbs.rows)) + n * j + other
                target.append(x.e + k + i if other < 0 else twist if other < n else loop)
            ends.append(len(source))
    stiff = [(limbs.frames[j], store[j], k, i) for j, k, i in stiff_entries(limbs)]
    return [
        table("LIMB_COLUMN", ends), table("LIMB_FIRST", first), table("PACKED_FROM", source), table("PACKED_TO", target),
        table("STIFF_FROM", [at + k * _wide(limbs, x) + i for x, at, k, i in stiff]),
        table("STIFF_ROW", [x.e + k + i for x, _, k, i in stiff]), table("STIFF_COLUMN", [x.e + k for x, _, k, _ in stiff]),
    ]  # fmt: skip


def _wide(limbs: Limbs, x: Limb) -> int:
    """Numbers in the column of an elastic coordinate."""
    return 1 + x.band + len(limbs.twists) + x.last - x.first


def _limb_places(limbs: Limbs) -> tuple[list[int], list[int], list[int], list[int]]:
    """Where columns of factors, what twists are made of, forces in loops on twists, and, behind what twists are made of, the
    numbers of bodies as bent begin; last, where they all end."""
    store, pull, n = [0], [0], len(limbs.twists)
    for x in limbs.frames:
        forces = x.last - x.first
        store.append(store[-1] + x.elastic * _wide(limbs, x) + x.dofs * (1 + n + forces))
        pull.append(pull[-1] + n * forces)
    reach = [0]
    for marked, height in [*((x.marked, n) for x in limbs.frames), *((x.marked, 6) for x in limbs.ties)]:
        reach.append(reach[-1] + height * (n + marked))
    bent = [reach[-1]]
    for x in limbs.frames:
        slopes = sum(at.wide for at in limbs.windows[x.stretch : x.stretch + x.stretches])
        bent.append(bent[-1] + n * n + n * x.elastic + slopes)
    return store, reach, pull, bent


def _loop_places(limbs: Limbs, first: int) -> tuple[int, int, int, int]:
    """Where what is between forces in loops, what twists of hosts make of these, and what they leave them begin; the end."""
    n, twists = len(limbs.rows), len(limbs.twists)
    return first, first + n * n, first + n * n + twists * n, first + n * n + 2 * twists * n


_LIMB_SIZES = (
    "LIMBS", "LIMBED", "LIMBS_BEFORE", "N_TIES", "N_MEETINGS", "N_LOOPED", "TWISTS", "STIFF_ENTRIES",
    "N_EQUATIONS", "LIMB_POSTURE", "REACH_SIZE",
    "PULL_SIZE", "LIMB_LOOPS", "LIMB_HELD", "LIMB_SOLVED", "LIMB_SIZE", "PACKED_SIZE", "N_TEAMS", "TEAM_FACTORS",
    "TEAM_RATES", "TEAM_WORK", "LIMBS_LEFT", "LEFT_BEFORE",
)  # fmt: skip


def limb_sizes(limbs: Limbs | None) -> dict[str, int]:
    """Sizes of what is eliminated body by body; zeros where nothing is."""
    if limbs is None:
        return dict.fromkeys(_LIMB_SIZES, 0)
    store, _, pull, bent = _limb_places(limbs)
    root, columns = roots(limbs), factor_columns(limbs)
    hosts = {root[x.host] for x in limbs.meetings if x.host >= 0}
    teams = _teams(limbs, columns)
    left = _left(limbs, teams)
    loops, held, solved, size = _loop_places(limbs, store[-1])
    sizes = (
        len(limbs.frames), 1, sum(root[j] not in hosts for j in limbs.order), len(limbs.ties), len(limbs.meetings),
        len(limbs.rows), len(limbs.twists), sum(1 for _ in stiff_entries(limbs)),
        max(1, limbs.equations), limbs.posture.outputs["posture"].size, bent[-1], pull[-1], loops, held, solved,
        size, sum(len(x) for j in left for x in columns[j]), len(teams.team), len(teams.factors), len(teams.rates),
        teams.work, len(left), sum(root[j] not in hosts for j in left),
    )  # fmt: skip
    return dict(zip(_LIMB_SIZES, sizes, strict=True))
