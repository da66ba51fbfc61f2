"""FMI 2.0 by ctypes alone: an FMU's library loaded and its functions called, where no other tool is installed."""

from __future__ import annotations

import ctypes
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_FINISHED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)


class _Callbacks(ctypes.Structure):
    _fields_ = [
        ("logger", _LOG), ("allocate", _ALLOCATE), ("free", _FREE), ("finished", _FINISHED), ("about", ctypes.c_void_p),
    ]  # fmt: skip


class Fmu:
    """An instance of an FMU, initialised: "me" in continuous-time mode, "cs" ready to step. Values go by name."""

    def __init__(self, path: Path, kind: str = "me", values: Mapping[str, float] | None = None) -> None:
        folder = Path(tempfile.mkdtemp(prefix=kind, dir=path.parent))  # a library in use must not be overwritten
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        description = ElementTree.parse(folder / "modelDescription.xml").getroot()
        self.variables = {v.attrib["name"]: v for v in description.iter("ScalarVariable")}
        states = [int(v[0].attrib["derivative"]) for v in self.variables.values() if "derivative" in v[0].attrib]
        listed = list(self.variables)
        self.states = [listed[k - 1] for k in states]  # of every derivative, in the order of the continuous states
        own = description.find("ModelExchange" if kind == "me" else "CoSimulation")
        assert own is not None
        library = next((folder / "binaries").rglob(f"{own.attrib['modelIdentifier']}.*"))
        self.library = ctypes.CDLL(str(library))
        libc = ctypes.CDLL(None)
        libc.calloc.restype, libc.calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        self.callbacks = _Callbacks(
            _LOG(lambda *_: None), _ALLOCATE(libc.calloc), _FREE(libc.free), _FINISHED(lambda *_: None)
        )
        make = self.library.fmi2Instantiate
        make.restype = ctypes.c_void_p
        guid = description.attrib["guid"].encode()
        made = make(b"test", int(kind == "cs"), guid, folder.as_uri().encode(), ctypes.byref(self.callbacks), 0, 0)
        assert made, "no instance"
        self.component = ctypes.c_void_p(made)
        self.call("SetupExperiment", 0, ctypes.c_double(0), ctypes.c_double(0), 0, ctypes.c_double(0))
        self.set(values or {})
        self.call("EnterInitializationMode")
        self.call("ExitInitializationMode")
        if kind == "me":
            self.call("EnterContinuousTimeMode")

    def call(self, name: str, *arguments: Any) -> None:
        assert getattr(self.library, f"fmi2{name}")(self.component, *arguments) == 0, name

    def _references(self, names: Iterable[str]) -> Any:
        found = [int(self.variables[n].attrib["valueReference"]) for n in names]
        return (ctypes.c_uint * len(found))(*found)

    def set(self, values: Mapping[str, float]) -> None:
        numbers = (ctypes.c_double * len(values))(*values.values())
        self.call("SetReal", self._references(values), ctypes.c_size_t(len(values)), numbers)

    def get(self, names: Iterable[str]) -> dict[str, float]:
        wanted = list(names)
        numbers = (ctypes.c_double * len(wanted))()
        self.call("GetReal", self._references(wanted), ctypes.c_size_t(len(wanted)), numbers)
        return dict(zip(wanted, numbers, strict=True))

    def move(self, values: Mapping[str, float]) -> None:
        """Set some of the continuous states, by name."""
        known = self.get(self.states) | dict(values)
        numbers = (ctypes.c_double * len(self.states))(*(known[n] for n in self.states))
        self.call("SetContinuousStates", numbers, ctypes.c_size_t(len(self.states)))

    def step(self, time: float, size: float) -> None:
        self.call("DoStep", ctypes.c_double(time), ctypes.c_double(size), 1)
