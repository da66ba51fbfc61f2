"""modelDescription.xml of an FMU, for FMI 2.0 and 3.0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.sax.saxutils import quoteattr

from supple.backends.targets.fmu_variables import FmuParts, Variable, Variables
from supple.backends.targets.names import harmless

# Exponents of kg, m and s, or of rad
_UNITS: dict[str, dict[str, int]] = {
    "s": {"s": 1},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "kg": {"kg": 1},
    "Pa": {"kg": 1, "m": -1, "s": -2},
}
_TOLERANCE, _STOP, _INTERVAL = 1e-6, 1.0, 1e-3
_ABOUT = 400  # characters


def description_2(parts: FmuParts, table: Variables, identifier: str, token: str, generation: str) -> str:
    """The model description of FMI 2.0."""
    cosimulation = {
        "modelIdentifier": identifier,
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "true",
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
    }
    exchange = {k: v for k, v in cosimulation.items() if k[3:6] not in ("Han", "Int")}
    root = {
        "fmiVersion": "2.0",
        **_head(parts, token, generation, "guid"),
        "numberOfEventIndicators": 0,
    }
    sources = ["    <SourceFiles>", '      <File name="fmi2.c"/>', "    </SourceFiles>"]
    lines = [
        _open("fmiModelDescription", root),
        _open("ModelExchange", exchange, 1), *sources, "  </ModelExchange>",
        _open("CoSimulation", cosimulation, 1), *sources, "  </CoSimulation>",
        *_units(table),
        "  <LogCategories>", '    <Category name="logStatusError"/>', '    <Category name="logStatusDiscard"/>',
        "  </LogCategories>", _experiment(),
        "  <ModelVariables>", *(_variable_2(x, k) for k, x in enumerate(table.variables)), "  </ModelVariables>",
        *_structure_2(table), "</fmiModelDescription>", "",
    ]  # fmt: skip
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *lines])


def description_3(parts: FmuParts, table: Variables, identifier: str, token: str, generation: str) -> str:
    """The model description of FMI 3.0."""
    own = {"modelIdentifier": identifier, "canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}
    root = {"fmiVersion": "3.0", **_head(parts, token, generation, "instantiationToken")}
    lines = [
        _open("fmiModelDescription", root),
        _closed("ModelExchange", own, 1),
        _closed("CoSimulation", {**own, "canHandleVariableCommunicationStepSize": "true"}, 1),
        *_units(table),
        "  <LogCategories>", '    <Category name="logStatusError"/>', '    <Category name="logStatusDiscard"/>',
        "  </LogCategories>", _experiment(),
        "  <ModelVariables>", *(_variable_3(x, k) for k, x in enumerate(table.variables)), "  </ModelVariables>",
        *_structure_3(table), "</fmiModelDescription>", "",
    ]  # fmt: skip
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *lines])


def build_description_3(identifier: str) -> str:
    """sources/buildDescription.xml of FMI 3.0."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<fmiBuildDescription fmiVersion="3.0">',
            _open("BuildConfiguration", {"modelIdentifier": identifier}, 1),
            '    <SourceFileSet language="C99">',
            '      <SourceFile name="fmi3.c"/>',
            "    </SourceFileSet>",
            "  </BuildConfiguration>",
            "</fmiBuildDescription>",
            "",
        ]
    )


Describe = Callable[[FmuParts, Variables, str, str, str], str]
DESCRIPTIONS: Mapping[str, Describe] = {"2.0": description_2, "3.0": description_3}


def _head(parts: FmuParts, token: str, generation: str, token_key: str) -> dict[str, object]:
    return {
        "modelName": harmless(parts.robot) or "robot",
        token_key: token,
        "description": harmless(parts.about, _ABOUT),
        "generationTool": generation,
        "variableNamingConvention": "structured",
    }


def _attributes(given: Mapping[str, object]) -> str:
    return "".join(f" {key}={quoteattr(str(value))}" for key, value in given.items() if value is not None)


def _open(tag: str, given: Mapping[str, object], depth: int = 0) -> str:
    return f"{'  ' * depth}<{tag}{_attributes(given)}>"


def _closed(tag: str, given: Mapping[str, object], depth: int = 0) -> str:
    return f"{'  ' * depth}<{tag}{_attributes(given)}/>"


def _experiment() -> str:
    given = {"startTime": 0.0, "stopTime": _STOP, "tolerance": _TOLERANCE, "stepSize": _INTERVAL}
    return _closed("DefaultExperiment", given, 1)


def _units(table: Variables) -> list[str]:
    lines = ["  <UnitDefinitions>"]
    for unit in dict.fromkeys(x.unit for x in table.variables if x.unit):
        base = _UNITS.get(unit)
        if base is None:
            lines.append(_closed("Unit", {"name": unit}, 2))
        else:
            lines += [_open("Unit", {"name": unit}, 2), _closed("BaseUnit", base, 3), "    </Unit>"]
    return [*lines, "  </UnitDefinitions>"]


def _number(x: float | None) -> str | None:
    return None if x is None else repr(float(x))


def _variable_2(x: Variable, reference: int) -> str:
    outer = {
        "name": x.name,
        "valueReference": reference,
        "description": x.about,
        "causality": x.causality,
        "variability": x.variability,
        "initial": x.initial,
    }
    inner = {
        "unit": x.unit or None,
        "nominal": _number(x.nominal),
        "start": _number(x.start),
        "derivative": None if x.state is None else x.state + 1,
    }
    return f"{_open('ScalarVariable', outer, 2)}{_closed('Real', inner)}</ScalarVariable>"


def _variable_3(x: Variable, reference: int) -> str:
    given = {
        "name": x.name,
        "valueReference": reference,
        "description": x.about,
        "causality": x.causality,
        "variability": x.variability,
        "initial": x.initial,
        "unit": x.unit or None,
        "nominal": _number(x.nominal),
        "derivative": x.state,
        "start": _number(x.start),
    }
    return _closed("Float64", given, 2)


def _unknown(table: Variables) -> list[int]:
    """Value references of what initialisation computes."""
    return [i for i, x in enumerate(table.variables) if x.initial == "calculated"]


def _structure_2(table: Variables) -> list[str]:
    groups = {
        "Outputs": table.references("output"),
        "Derivatives": table.derivatives(),
        "InitialUnknowns": _unknown(table),
    }
    lines = ["  <ModelStructure>"]
    for name, references in groups.items():
        if references:
            lines.append(f"    <{name}>")
            lines += [_closed("Unknown", {"index": i + 1}, 3) for i in references]
            lines.append(f"    </{name}>")
    return [*lines, "  </ModelStructure>"]


def _structure_3(table: Variables) -> list[str]:
    groups = {
        "Output": table.references("output"),
        "ContinuousStateDerivative": table.derivatives(),
        "InitialUnknown": _unknown(table),
    }
    lines = [_closed(name, {"valueReference": i}, 2) for name, found in groups.items() for i in found]
    return ["  <ModelStructure>", *lines, "  </ModelStructure>"]
