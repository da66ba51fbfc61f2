"""Matrices of MATLAB files (level 5: versions 5 to 7.2), read strictly: a damaged file is refused, never followed.

Layout: "MAT-File Format", The MathWorks. A file is a header of 128 bytes and elements, each a tag (type, bytes) and its
data; a matrix is an element made of elements. Cells, structures, texts and objects are passed over.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.nodal import MOST_COORDINATES
from supple.robot.named_files import LARGEST_FILE, checked_file

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_INT8, _INT32, _UINT32 = 1, 5, 6
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE, _NUMERIC = 5, range(6, 16)  # classes of arrays
_COMPLEX = 0x08  # flag
_DIMENSIONS = 2
_HDF5 = 0x0200  # version of files that are HDF5


@dataclass
class _Bytes:
    """Bytes that are read once, front to back; reading on past the end is a fault of the file."""

    data: memoryview
    order: str  # "<" or ">"
    file: str
    at: int = 0

    def fault(self, text: str) -> SuppleError:
        return SuppleError(f"{self.file}: {text}; the file is cut off or broken")

    def take(self, count: int) -> memoryview:
        if count > len(self.data) - self.at:
            raise self.fault("an element goes on past the end")
        self.at += count
        return self.data[self.at - count : self.at]

    def element(self, padded: bool = True) -> tuple[int, memoryview]:
        """Type and data of the next element."""
        first, second = struct.unpack(self.order + "II", self.take(8))
        if first >> 16:  # small: the count stands beside the type, the data in the second word
            count = first >> 16
            if count > 4:
                raise self.fault("a small element has more than four bytes")
            return first & 0xFFFF, self.data[self.at - 4 : self.at - 4 + count]
        content = self.take(second)
        if padded and first != _COMPRESSED and second % 8:
            self.take(min(8 - second % 8, len(self.data) - self.at))
        return first, content

    def numbers(self) -> Array:
        """The numbers of the next element."""
        kind, content = self.element()
        if kind not in _TYPES:
            raise self.fault("numbers of an unknown type")
        stored = np.dtype(self.order + _TYPES[kind])
        if len(content) % stored.itemsize:
            raise self.fault("a number is cut")
        return np.frombuffer(content, stored)

    def wanted(self, kind: int, what: str) -> memoryview:
        found, content = self.element()
        if found != kind:
            raise self.fault(f"{what} is not where it should be")
        return content


def read_variables(path: Path) -> dict[str, Any]:
    """The matrices of a MATLAB file by name: dense arrays, or sparse matrices."""
    content = _content(path)
    made: dict[str, Any] = {}
    left = 4 * LARGEST_FILE
    while content.at < len(content.data):
        kind, data = content.element()
        if kind == _COMPRESSED:
            data = _unpacked(data, left, content)
            left -= len(data)
            kind, data = _Bytes(data, content.order, content.file).element()
        if kind != _MATRIX:
            raise content.fault("holds something that is no variable")
        found = _variable(_Bytes(data, content.order, content.file))
        if found is not None:
            made[found[0]] = found[1]
    return made


def _content(path: Path) -> _Bytes:
    """What follows the header, in the order of bytes that it says."""
    data = memoryview(checked_file(path).read_bytes())
    mark = bytes(data[126:128])
    if len(data) < _HEADER or mark not in (b"IM", b"MI"):
        raise SuppleError(f"{path.name}: is no MATLAB file of version 5 to 7.2; save it with -v7")
    order = "<" if mark == b"IM" else ">"
    if struct.unpack(order + "H", data[124:126])[0] == _HDF5:
        raise SuppleError(f"{path.name}: is of MATLAB version 7.3; save it with -v7")
    return _Bytes(data, order, path.name, _HEADER)


def _unpacked(data: memoryview, most: int, content: _Bytes) -> memoryview:
    """The bytes of a compressed element, at most so many."""
    unpacker = zlib.decompressobj()
    try:
        made = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise content.fault("a compressed variable cannot be unpacked") from error
    if len(made) > most:
        raise SuppleError(f"{content.file}: unpacks to more than {4 * LARGEST_FILE / 1e6:.0f} MB, the most that is read")
    if not unpacker.eof:
        raise content.fault("a compressed variable ends too soon")
    return memoryview(made)


def _variable(part: _Bytes) -> tuple[str, Any] | None:
    """Name and matrix of a variable; None for what is no matrix of numbers."""
    flags = part.wanted(_UINT32, "the class of a variable")
    if len(flags) != 8:
        raise part.fault("the class of a variable has the wrong size")
    word = struct.unpack(part.order + "I", flags[:4])[0]
    kind, is_complex = word & 0xFF, bool(word >> 8 & _COMPLEX)
    if kind != _SPARSE and kind not in _NUMERIC:
        return None
    sizes = part.wanted(_INT32, "the size of a variable")
    if len(sizes) % 4:
        raise part.fault("the size of a variable is cut")
    shape = tuple(int(k) for k in np.frombuffer(sizes, part.order + "i4"))
    name = bytes(part.wanted(_INT8, "the name of a variable")).decode("latin-1")
    if len(shape) != _DIMENSIONS:
        return None
    if min(shape) < 0:
        raise part.fault("a size is negative")
    return name, (_sparse if kind == _SPARSE else _dense)(part, shape, is_complex)


def _dense(part: _Bytes, shape: tuple[int, ...], is_complex: bool) -> Array:
    made = _values(part, is_complex)
    if made.size != shape[0] * shape[1]:
        raise part.fault(f"{shape[0]} x {shape[1]} numbers are said, {made.size} are there")
    return made.reshape(shape, order="F")


def _values(part: _Bytes, is_complex: bool) -> Array:
    real = part.numbers().astype(float)
    if not is_complex:
        return real
    imaginary = part.numbers().astype(float)
    if imaginary.size != real.size:
        raise part.fault("real and imaginary parts differ in size")
    return real + 1j * imaginary


def _sparse(part: _Bytes, shape: tuple[int, ...], is_complex: bool) -> Any:
    """A matrix by columns: rows of the entries, where columns begin, values."""
    if max(shape) > MOST_COORDINATES:
        raise SuppleError(f"{part.file}: is {shape[0]} x {shape[1]}; at most {MOST_COORDINATES} rows are read")
    rows, begins = (part.numbers().astype(np.int64) for _ in range(2))
    values = _values(part, is_complex)
    if begins.size != shape[1] + 1 or begins[0] != 0 or (np.diff(begins) < 0).any():
        raise part.fault("columns of a sparse matrix do not follow each other")
    count = int(begins[-1])
    if count > min(rows.size, values.size):
        raise part.fault("a sparse matrix has fewer entries than its columns say")
    rows, values = rows[:count], values[:count]
    if count and (rows.min() < 0 or rows.max() >= shape[0]):
        raise part.fault("an entry of a sparse matrix lies outside it")
    columns = np.repeat(np.arange(shape[1]), np.diff(begins))
    if (np.diff(columns * shape[0] + rows) <= 0).any():
        raise part.fault("entries of a sparse matrix are out of order")
    return sparse.csr_matrix((values, (rows, columns)), shape)
