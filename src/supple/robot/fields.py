"""Fields of robot files: quantities with a dimension and bounds, names, vectors, and the record they stand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
)
from pydantic import model_validator as _model_validator
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from supple.robot.quantity import QuantityError, parse


@dataclass(frozen=True)
class Q:
    """Marks a field as a quantity of a dimension, with bounds that are checked once it has a value."""

    dimension: str
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    whole: bool = False
    kind: str = ""  # what usual sizes are known for, if it is not the dimension

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_parsed)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "anyOf": [{"type": "number"}, {"type": "string"}],
            "description": f"{self.dimension}, SI without a unit; may use parameters and + - * / ^",
        }


def _parsed(raw: Any) -> Any:
    try:
        return parse(raw)
    except QuantityError as error:
        raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from error


Number = Annotated[Any, Q("number")]
Ratio = Annotated[Any, Q("number", least=0, kind="damping ratio")]
Angle = Annotated[Any, Q("angle")]
Length = Annotated[Any, Q("length")]
Size = Annotated[Any, Q("length", above=0)]
Vector = Annotated[list[Length], Field(min_length=3, max_length=3)]
Direction = Literal["x", "y", "z", "-x", "-y", "-z"] | Annotated[list[Number], Field(min_length=3, max_length=3)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}$")]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
AXES = ("x", "y", "z", "rx", "ry", "rz")  # of motions and what resists them
NameInFile = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-/]{0,129}$")]
Rotation = dict[Literal["x", "y", "z"], Angle]


class FileRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)

    def relation(self, numbers: Any) -> str | None:
        """What is wrong between the values of this part (`numbers`: the part with its values)."""
        return None

    def faults(self, numbers: Any) -> list[tuple[tuple[Any, ...], str]]:
        """What is wrong between values, each with the path within this part where it stands."""
        problem = self.relation(numbers)
        return [((), problem)] if problem else []


def one_of(*keys: str) -> Any:
    """A validator: exactly one of these keys must be there."""

    def check(self: Any) -> Any:
        given = [k for k in keys if getattr(self, k) is not None]
        if len(given) != 1:
            wanted = ", ".join(keys)
            found = "none is given" if not given else f"{' and '.join(given)} are given"
            raise PydanticCustomError("one_of", "needs exactly one of {wanted}; {found}", {"wanted": wanted, "found": found})
        return self

    return _model_validator(mode="after")(check)
