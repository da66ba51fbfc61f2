"""Bad robot files: each problem in one line with file, line and remedy; all problems at once."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from limits import limited

from supple.analyses.check import check
from supple.errors import PoseError, RobotFileError, SuppleError
from supple.formulations.newton_euler import newton_euler
from supple.machine import GALLERY, Machine, gallery
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.description import RobotFile
from supple.robot.reader import describe_text
from supple.robot.yaml_tree import LARGEST_TEXT, read_text, read_tree

GALLERY = {name: (GALLERY / f"{name}.yaml").read_text(encoding="utf-8") for name in gallery()}


def changed(robot: str, *changes: tuple[str, str]) -> str:
    """A gallery file with pieces of its text replaced, each of which must be there."""
    text = GALLERY[robot]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def problems_of(text: str) -> list[str]:
    with pytest.raises(RobotFileError) as caught:
        assemble(describe_text(text, "robot.yaml"))
    for line in caught.value.problems:
        assert re.match(r"robot\.yaml:\d+: ", line), line
        assert len(line.splitlines()) == 1 and line.isprintable(), line
    return caught.value.problems


TIP = "tip: {parent: beam, on: end, body: tip}"
CRANK = "joint: revolute, q: q1, body: crank"

# robot, text to replace, its replacement, and what the one problem found in that line says
BAD_PARTS = [
    # keys
    ("cantilever", "material: steel", "materiel: steel", "unknown key; did you mean 'material'?"),
    ("cantilever", "sections:", "section:", "unknown key; did you mean 'sections'?"),
    ("five_bar", "actuators:\n", "actuator:\n", "unknown key; did you mean 'actuators'?"),
    ("cantilever", "L: {value: 1 m,", "L: {valu: 1 m,", "unknown key; did you mean 'value'?"),
    ("cantilever", TIP, TIP[:-1] + ", xyzzy: 1}", "unknown key; known here: a, mu, sigma"),
    ("cantilever", TIP, TIP[:-1] + ", parent: base}", "is given twice (first in line 25); remove one"),
    ("cantilever", TIP, TIP[:-1] + ", [1, 2]: 3}", "a key must be a plain name"),
    ("cantilever", "{parent: base, body: beam}", "{body: beam}",
     "needs exactly one of a, parent; none is given"),
    ("cantilever", "{rigid: {mass: tip_mass}}", "{rigid: {}}", "bodies.tip.rigid.mass: is missing; add it"),
    ("cantilever", "{rigid: {mass: tip_mass}}", "",
     "bodies.tip: must be keys, like {key: value}, not nothing"),
    # kinds
    ("cantilever", TIP, TIP[:-4] + "[1, 2]}", "must be text or keys, like {key: value}, not a list"),
    ("cantilever", TIP, TIP[:-4] + "{rigit: {mass: 1}}}", "body.rigit: unknown key; did you mean 'rigid'?"),
    ("cantilever", TIP, TIP[:-1] + ", at: [1, 2]}", "links.tip.at: needs 3 values; has 2"),
    ("cantilever", TIP, TIP[:-1] + ", at: far}", "links.tip.at: must be a list, not a single value"),
    ("cantilever", TIP, TIP[:-1] + ", rotate: {w: 3}}", "links.tip.rotate.w: must be one of 'x', 'y' or 'z'"),
    ("cantilever", "L: {value: 1 m, about: length}", "L: [1, 2]", "or a number, not a list"),
    ("five_bar", "joint: revolute, q: q1", "joint: revolt, q: q1", "must be one of 'fixed', 'revolute'"),
    ("five_bar", "count: 2", "count: 2.5", "legs.arm.count: must be a whole number"),
    ("five_bar", "count: 2", "count: 65", "legs.arm.count: must be at most 64"),
    ("five_bar", "space: planar", "space: flat", "space: must be one of 'planar' or 'spatial'"),
    # values
    ("cantilever", "nu: 0.3", "nu: 0.6", "materials.steel.nu: must be below 0.5"),
    ("cantilever", "rho: rho", "rho: -7850", "materials.steel.rho: must be positive"),
    ("cantilever", "y: 20 mm", "y: 0", "must be positive"),
    ("cantilever", "elements: elements", "elements: 2.5", "elements: must be a whole number"),
    ("cantilever", "elements: elements", "elements: 1000", "elements: must be at most 200"),
    ("cantilever", "elements: elements", "elements: -1", "elements: must not be negative"),
    ("cantilever", "value: 1 m", "value: 1e999", "parameters.L.value: is out of range"),
    ("cantilever", "value: 1 m", "value: 1e40", "parameters.L: is out of range"),
    ("cantilever", "value: 1 m", "value: .nan", "must be finite"),
    ("cantilever", "value: 1 m", "value: -.inf", "must be finite"),
    ("cantilever", "value: 1 m", "value: " + "9" * 5000, "is longer than 300 characters"),
    ("cantilever", "value: 1 m", "value: ((1e100^9)^9)^9", "is out of range"),
    ("cantilever", "value: 1 m", "value: true", "needs a number, such as 0.25 or '70 GPa'"),
    ("cantilever", "value: 1 m", "value: 2*L", "parameters.L: depends on itself"),
    ("cantilever", "value: 1 m", "value: 2*M", "does not know 'M'"),
    ("five_bar", "{y: 20 mm, z: 30 mm, wall: 2 mm}", "{y: 20 mm, z: 30 mm, wall: 15 mm}",
     "thinner than half"),
    ("delta", "{diameter: 40 mm, wall: 2 mm}", "{diameter: 40 mm, wall: 2 cm}", "thinner than half"),
    ("five_bar", "side: [-0.5, 0.5]", "side: [1]", "legs.arm.vary.side: needs 2 values, one per leg; has 1"),
    ("five_bar", "side: [-0.5, 0.5]", "side: [1, 1/0]", "legs.arm.vary.side.1: divides by zero"),
    # units
    ("cantilever", "{E: E,", "{E: 70 kg,", "E: must be a pressure, but the units given make a mass"),
    ("cantilever", "length: L", "length: L + 1 kg",
     "length: adds a length and a mass; terms need the same units"),
    ("3rrr", "alpha: 0", "alpha: 2 Hz", "must be a rate, but the units given make a frequency; write rad/s"),
    ("dualemps", "viscous: 250,", "viscous: 250 kg,",
     "must be a translational damping or rotational damping"),
    ("surgiscope", "rx: kt1", "rx: kr1", "must be a rotational stiffness"),
    ("five_bar", "home: {arm1/q1: 130 deg", "home: {arm1/q1: 1 m",
     "must be an angle, but the units given make a length"),
    # names
    ("cantilever", "  L: {", "  m: 3\n  L: {", "m is a unit, constant or function; choose another name"),
    ("five_bar", "  E: {", "  n: 3\n  E: {", "n counts the legs; choose another name"),
    ("cantilever", "  L: {", "  'L 1': 3\n  L: {", "must be a name of letters"),
    ("cantilever", "  tip: {link", "  '[red]x': {link", "points.[red]x: must be a name of letters"),
    ("cantilever", "  tip: {link", '  "a\\nb\\e[31m": {link',
     "points.a\\nb\\x1b[31m: must be a name of letters"),
    ("cantilever", "  tip: {link", '  "../../x": {link', "points.../../x: must be a name of letters"),
    ("cantilever", "name: cantilever", 'name: "\\e[31m"',
     "name: holds hidden control characters; remove them"),
    ("cantilever", "name: cantilever", 'name: "\\ud800"',
     "name: holds hidden control characters; remove them"),
    ("cantilever", "name: cantilever", "name: " + "n" * 100, "name: must be shorter"),
    # references
    ("cantilever", TIP, TIP.replace("body: tip", "body: tipp"),
     "there is no body 'tipp'; did you mean 'tip'?"),
    ("cantilever", "material: steel", "material: oak",
     "there is no material 'oak'; define it under materials"),
    ("cantilever", "section: strip", "section: stripe",
     "there is no section 'stripe'; did you mean 'strip'?"),
    ("cantilever", "parent: beam", "parent: bean", "there is no link 'bean'; did you mean 'beam'?"),
    ("cantilever", "{link: tip}", "{link: nose}", "there is no link 'nose'; known here: base, beam, tip"),
    ("five_bar", "to: {link: arm2/coupler", "to: {link: arm3/coupler", "there is no link 'arm3/coupler'"),
    ("five_bar", "      q1: {inertia", "      q7: {inertia",
     "there is no joint coordinate 'q7'; known: q1, q2"),
    ("five_bar", "home: {arm1/q1", "home: {arm1/q9", "there is no coordinate 'arm1/q9'; did you mean"),
    ("cantilever", "bodies:\n", "bodies:\n  spare: {rigid: {mass: 1}}\n",
     "spare: is not connected: no link carries it"),
    ("cantilever", "links:\n", "links:\n  base: {parent: beam}\n", "the name base is taken; choose another"),
    # the whole
    ("cantilever", TIP, TIP[:-1] + ", stiffness: {matrix: [[1, 2], [2, 1]]}}", "needs a 6 x 6 matrix"),
    ("cantilever", TIP, TIP[:-1] + ", stiffness: {axes: [x, y], matrix: [[1, 2], [3, 1]]}}",
     "must be symmetric"),
    ("cantilever", TIP, TIP[:-1] + ", stiffness: {}}", "needs a stiffness for at least one of x, y, z"),
    ("cantilever", TIP, TIP[:-1] + ", q: q1}", "a fixed joint has no coordinate q; remove q"),
    ("cantilever", TIP, TIP[:-1] + ", joint: universal, axis: [x, x]}",
     "the two axes of a universal joint must differ"),
    ("cantilever", TIP, TIP[:-1] + ", joint: revolute, axis: [0, 0, 0]}",
     "needs a direction, not three zeros"),
    ("cantilever", TIP, TIP[:-1] + ", d: 1}", "'d' belongs to a Khalil-Kleinfinger row"),
    ("cantilever", "elements: {value: 4", "elements: {value: 0",
     "nothing moves or bends; give a link a joint"),
    ("dualemps", "alpha: pi/2, q: q12", "alpha: pi/3, q: q12", "leaves the plane xz"),
    ("five_bar", CRANK, CRANK.replace("q1", "[q1, q2]"), "a revolute joint needs 1 name in q"),
    ("five_bar", CRANK, CRANK.replace("revolute", "spherical"), "a planar robot has no spherical joints"),
    ("delta", "platform: {body: plate", "platform: {body: {rigid: {mass: 1}}",
     "bodies.plate: is not connected"),
    ("3rrr", "at: [0, 0, 0]}\n\nlegs", "at: [0, 0, 1]}\n\nlegs", "platform.at: leaves the plane xy"),
    ("3rrr", "at: [0, 0, 0]}\n\nlegs", "rotate: {x: 1}}\n\nlegs",
     "platform.rotate: a planar robot turns about z only"),
]  # fmt: skip


@pytest.mark.parametrize(("robot", "old", "new", "says"), BAD_PARTS, ids=[f"{r}-{s[:40]}" for r, _, _, s in BAD_PARTS])
def test_a_bad_part_is_named_with_its_line(robot: str, old: str, new: str, says: str) -> None:
    problems = problems_of(changed(robot, (old, new)))
    assert len(problems) == 1, problems
    assert says in problems[0]
    if "nothing moves" not in says and "bodies.plate" not in says:
        written = GALLERY[robot].index(old)
        first = GALLERY[robot][:written].count("\n") + 1
        assert first <= int(problems[0].split(":")[1]) <= first + old.count("\n") + new.count("\n")


# whole texts that are no robot file, and what the first problem says
BAD_TEXTS = {
    "empty": ("", "1: is empty"),
    "comment": ("# nothing\n", "1: is empty"),
    "list": ("- a\n- b\n", "1: must hold keys such as space, links and bodies, not a list"),
    "text": ("hello", "1: must hold keys such as space, links and bodies, not text"),
    "number": ("42", "1: must hold keys"),
    "null": ("~", "1: must hold keys such as space, links and bodies, not nothing"),
    "syntax": ("a: [1, 2\nb: 3\n", "2: is not valid YAML"),
    "tab": ("a:\n\tb: 1\n", "2: is not valid YAML"),
    "quote": ('a: 1\nb: "x\n', "is not valid YAML"),
    "two documents": ("a: 1\n---\nb: 2\n", "2: is not valid YAML"),
    "control character": ("a: 1\nb: \x00\n", "2: is not valid YAML: holds a control character"),
    "brackets": ("a:\n  " + "[" * 100_000, "2: is nested too deeply"),
    "braces": ("{a: " * 100_000, "1: is nested too deeply"),
    "dashes": ("- " * 100_000, "1: is nested too deeply"),
    "steps": ("".join(" " * i + "a:\n" for i in range(300)), "is nested too deeply"),
    "alias in itself": ("a: &a [*a]\n", "1: is nested too deeply"),
    "unknown alias": ("a: *b\n", "1: is not valid YAML"),
    "unknown robot": ("a: 1\n", "1: space: is missing; add it"),
    "python tag": ("!!python/object/apply:os.system ['true']\n", "1: must hold keys"),
}
BILLION_LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(("text", "says"), [*BAD_TEXTS.values(), (BILLION_LAUGHS, "holds more than")], ids=str)
def test_a_text_that_is_no_robot_is_refused_quickly(text: str, says: str) -> None:
    with limited(60):
        assert says in problems_of(text)[0]


def test_problems_of_structure_values_and_references_come_together() -> None:
    text = changed(
        "cantilever",
        ("material: steel", "materiel: steel"),
        ("nu: 0.3", "nu: 0.6"),
        ("y: 20 mm", "y: 20 kg"),
        ("value: 9.81 m/s^2", "value: 9.81 m/z^2"),
        ("space: spatial", "space: spatial\nspace: planar"),
        (TIP, TIP.replace("body: tip", "body: tipp")),
        ("{link: tip}", "{link: tip, at: [1, 2]}"),
    )
    found = "\n".join(problems_of(text))
    for says in (
        "robot.yaml:6: space: is given twice (first in line 5)",
        "robot.yaml:13: parameters.gravity: does not know 'z'",
        "robot.yaml:18: materials.steel.nu: must be below 0.5",
        "robot.yaml:20: sections.strip.rectangle.y: must be a length, but the units given make a mass",
        "robot.yaml:22: bodies.beam.beam.materiel: unknown key; did you mean 'material'?",
        "robot.yaml:26: links.tip.body: there is no body 'tipp'; did you mean 'tip'?",
        "robot.yaml:28: points.tip.at: needs 3 values; has 2",
    ):
        assert says in found
    assert len(found.splitlines()) == 7, found  # and nothing that only follows from these


def test_all_problems_of_assembly_come_together() -> None:
    text = changed(
        "dualemps",
        ("alpha: pi/2, q: q12", "alpha: pi/3, q: q12"),
        ("'21': {a: base, mu: 1, sigma: 1,", "'21': {a: base, mu: 1,"),
    )
    found = problems_of(text)
    assert [line.split(": ")[1] for line in found] == ["links.12", "links.21"]
    assert "needs sigma" in found[1]


def test_chains_that_never_reach_the_base() -> None:
    found = problems_of(changed("five_bar", ("parent: base", "parent: coupler")))
    assert len(found) == 3 and all("which never reaches the base" in line for line in found)


def test_a_platform_without_closures() -> None:
    text = GALLERY["delta"]
    text = text[: text.index("    closures:")] + text[text.index("    actuators:") :]
    assert "platform: is not connected: add closures to its legs" in problems_of(text)[0]


def test_a_robot_without_links() -> None:
    assert "links: there are no links; a robot needs at least one" in problems_of("space: spatial\n")[0]


def test_two_legs_of_the_same_name() -> None:
    leg = "links: {rod: {parent: base, body: {rigid: {mass: 1}}}}"
    text = f"space: spatial\nlegs:\n  leg: {{count: 11, {leg}}}\n  leg1: {{count: 1, {leg}}}\n"
    assert problems_of(text) == ["robot.yaml:4: legs.leg1.links.rod: there are two links 'leg11/rod'; rename one"]


# Files ----------------------------------------------------------------------------------------------------------


def noise(size: int) -> bytes:
    return os.urandom(1000) * (size // 1000)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("noise.yaml", noise(10_000_000), "is larger than 200 kB"),
        ("letters.yaml", b"abc def\n" * 1_250_000, "is larger than 200 kB"),
        ("small.yaml", b"a: \xff\xfe" + noise(10_000), "is not UTF-8 text (byte 3); save it as UTF-8"),
        ("latin.yaml", "a: 1\nname: Gerät\n".encode("latin-1"), ":2: is not UTF-8 text"),
        ("wide.yaml", "name: x\n".encode("utf-16"), "is not UTF-8 text"),
        ("words.yaml", b"xyz " * (LARGEST_TEXT // 4 - 1), "must hold keys"),
        ("items.yaml", b"a: [" + b"1," * 45_000 + b"]", "holds more than"),
    ],
)
def test_a_file_that_is_no_robot(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with limited(60), pytest.raises(RobotFileError) as caught:
        Machine.read(file)
    assert says in caught.value.problems[0] and f"{name}:" in caught.value.problems[0]


def test_what_is_no_file(tmp_path: Path) -> None:
    for path, says in (
        (tmp_path, "is a directory; give the path of a robot file"),
        (tmp_path / "none.yaml", "no such file; 'supple robots' lists the gallery"),
        (tmp_path / ("x" * 300 + ".yaml"), "cannot be read"),
        (tmp_path / "a\0b.yaml", "cannot be read"),
        (Path("/dev/zero"), "it is a device or a pipe; give a regular file"),
    ):
        with pytest.raises(RobotFileError, match=re.escape(says)) as caught:
            read_text(path)
        assert caught.value.problems[0].isprintable()


def test_a_byte_order_mark_and_windows_line_ends_are_welcome(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + GALLERY["cantilever"].replace("\n", "\r\n").encode())
    assert Machine.read(file).name == "cantilever"


# Numbers and poses ----------------------------------------------------------------------------------------------


def test_numbers_of_the_file_stay_exact() -> None:
    tree = read_tree("a: 0.1\nb: 1e5\nc: '7'\nd: 010\ne: 1e-3\nf: [1, 2.50]\ng: yes\nh: 1e999\n", "robot.yaml")
    assert tree.value == {
        "a": Fraction(1, 10), "b": 100000, "c": "7", "d": 10, "e": Fraction(1, 1000), "f": [1, Fraction(5, 2)],
        "g": "yes", "h": "1e999",
    }  # fmt: skip
    assert tree.line(("f", 1)) == 6 and tree.line(("f", 7, 8)) == 6 and tree.line(("none",)) == 1


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"LL": 1}, "there is no parameter 'LL'; did you mean 'L'?"),
        ({"xyzzy": 1}, "there is no parameter 'xyzzy'; it has: L, E, rho"),
        ({"L": "1 kg"}, "parameter L: '1 kg' makes a mass; the robot file has a length"),
        ({"L": "abc"}, "parameter L: 'abc' does not know 'abc'"),
        ({"L": "1 +"}, "parameter L: '1 +' ends too early"),
        ({"L": float("nan")}, "must be finite"),
        ({"L": 1e300}, "is out of range"),
        ({"L": -1}, "bodies.beam.beam.length: must be positive"),
        ({"elements": 2.5}, "bodies.beam.beam.elements: must be a whole number"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(SuppleError, match=re.escape(says)):
        Machine.read("cantilever", settings)


def test_settings_may_use_units_and_other_parameters() -> None:
    parameters = Machine.read("cantilever", {"L": "2*tip_mass*(1 m/kg)", "tip_mass": "500 g"}).description.parameters
    assert parameters["L"].number == 1 and parameters["tip_mass"].number == Fraction(1, 2)


CRANK = """
space: spatial
gravity: [0, 0, 0]
bodies: {{bar: {{rigid: {{mass: 1, centre: [0.5, 0, 0], inertia: {{xx: 0.01, yy: 0.1, zz: 0.1}}}}}}}}
links:
  one: {{parent: base, joint: revolute, axis: z, q: a, body: bar}}
  two: {{parent: one, at: [1, 0, 0], joint: revolute, axis: z, q: b, body: bar}}
closures:
  knee: {{joint: revolute, from: {{link: two, at: [1, 0, 0]{turn}}}, to: {{link: base, at: [{x}, 0, 0]}}}}
assembly: {{up: {{a: {a} deg, b: {b} deg}}}}
"""


@pytest.mark.parametrize(
    ("x", "turn", "says"),
    [
        (2.5, "", "its ends stay 0.5 m apart"),
        (1.5, ", rotate: {x: 90 deg}", "turned by 90 deg; do the axes of its frames `from` and `to` fit (rotate)?"),
        (1.5, ", rotate: {x: 180 deg}", "upside down"),
    ],
)
def test_loops_that_cannot_close_say_by_how_much_in_m_or_deg(x: float, turn: str, says: str) -> None:
    """Two bars of 1 m end at most 2 m from the base; frames turned by 90 and 180 deg fit at no place."""
    with pytest.raises(PoseError, match=re.escape(says)) as caught:
        check(Machine.parse(CRANK.format(x=x, turn=turn, a=30 if turn else 0, b=-60 if turn else 0)).model())
    assert "(or rad)" not in str(caught.value) and ("180 deg (rotate)" in str(caught.value)) == (says == "upside down")


@pytest.mark.parametrize(
    ("robot", "changes", "at", "says"),
    [
        ("delta", [], {"z": -5.0}, "cannot close at z=-5, x=0, y=0; the pose is out of reach"),
        (
            "five_bar",
            [("coupler: {value: 0.4 m", "coupler: {value: 0.04 m")],
            {},
            "the loop 'tool' cannot close",
        ),
        ("five_bar", [], {"arm1/q11": 1.0}, "no coordinate 'arm1/q11'; did you mean 'arm1/q1'?"),
        ("five_bar", [], {"arm1/crank.x1": 1.0}, "is an elastic coordinate"),
        ("3rrr", [], {"x": 0.0, "leg1/q1": 1.0}, "give either the platform's pose (x, ...) or joint values"),
    ],
)
def test_poses_that_cannot_be(robot: str, changes: list[tuple[str, str]], at: dict[str, float], says: str) -> None:
    model = Model(newton_euler(assemble(describe_text(changed(robot, *changes), "robot.yaml"))))
    with pytest.raises(SuppleError, match=re.escape(says)) as caught:
        check(model, at)
    assert len(str(caught.value).splitlines()) == 1
    assert isinstance(caught.value, PoseError) == ("cannot close" in says)


# Schema ---------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A YAML value as JSON has it."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return float(value) if isinstance(value, Fraction) else value


def test_the_schema_refers_only_to_itself_and_knows_every_key() -> None:
    schema = RobotFile.model_json_schema(by_alias=True)
    text = json.dumps(schema, allow_nan=False)
    assert {ref.split("/")[-1] for ref in re.findall(r'"\$ref": "([^"]*)"', text)} <= schema["$defs"].keys()
    assert schema["properties"].keys() == RobotFile.model_fields.keys() and schema["additionalProperties"] is False
    assert {"from", "to"} <= schema["$defs"]["Closure"]["properties"].keys()
    assert schema["$defs"]["Material"]["properties"]["nu"]["default"] == "0.3"


@pytest.mark.parametrize("robot", GALLERY)
def test_the_schema_fits_the_gallery(robot: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = RobotFile.model_json_schema(by_alias=True)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    data = plain(read_tree(GALLERY[robot], robot).value)
    assert [e.message for e in validator.iter_errors(data)] == []
    assert list(validator.iter_errors({**data, "lnks": {}}))
