"""Matrix files, whole and damaged: own readers against scipy's writers; cut anywhere and flipped bytes give words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite, savemat

from supple.errors import SuppleError
from supple.robot.finite_elements.matlab_files import read_variables
from supple.robot.finite_elements.matrix_market import read_market

A = np.array([[2.0, -1.25e-7, 0.0], [-1.25e-7, 3e100, 1 / 3], [0.0, 1 / 3, 5.0]])
B = np.array([[1.0, 2.0], [3.0, 4.0]])


def market(tmp_path: Path, text: str) -> np.ndarray:
    path = tmp_path / "K.mtx"
    path.write_text(text)
    return read_market(path).toarray()


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("form", [np.asarray, sparse.coo_matrix])
def test_market_as_scipy_writes_it(tmp_path: Path, form: object, symmetry: str) -> None:
    mmwrite(tmp_path / "K.mtx", form(A), symmetry=symmetry, precision=17)  # type: ignore[operator]
    assert np.array_equal(read_market(tmp_path / "K.mtx").toarray(), A)


def test_market_by_hand(tmp_path: Path) -> None:
    head = "%%MatrixMarket matrix "
    assert np.array_equal(market(tmp_path, head + "array real general\n% by columns\n2 2\n1\n3\n2\n4\n"), B)
    assert np.array_equal(market(tmp_path, head + "array integer symmetric\n2 2\n1\n3\n4\n"), [[1, 3], [3, 4]])
    assert np.array_equal(market(tmp_path, head + "coordinate pattern general\n2 2 1\n2 1\n"), [[0, 0], [1, 0]])
    assert np.array_equal(
        market(tmp_path, head + "coordinate real symmetric\n2 2 2\n\n1 2 1.5D1\n1 1 -.5\n"), [[-0.5, 15], [15, 0]]
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("coordinate real general\n1 1 1\n1 1 1.5E\n", r"K.mtx:3: its value is no number"),
        ("coordinate real general\n1 1 1\n1 1 nan\n", r":3: its value is no number"),
        ("coordinate real general\n1 1 1\n1 1 1_0\n", r":3: its value is no number"),
        ("coordinate real general\n1 1 1\n1 1 1e9999\n", r":3: its value is too large"),
        ("coordinate integer general\n1 1 1\n1 1 1.5\n", r":3: its value is no whole number"),
        ("coordinate real general\n1 1 1\n1 1 1.5", "ends within a line"),
        ("coordinate real general\n2 2 2\n1 1 1.5\n", "ends after 1 of 2 entries"),
        ("coordinate real general\n1 1 1\n1 1 1\n1 1 1\n", ":4: holds more than the 1 entries"),
        ("coordinate real general\n1 1 1\n1 2 1\n", ":3: its entry lies outside 1 x 1"),
        ("coordinate real general\n99999 99999 9999999\n1 1 1\n", ":2: says 9999999 entries, more than the file holds"),
        ("array real general\n9999999 9999999\n1\n", ":2: is 9999999 x 9999999; a square matrix of at most 5000 rows"),
        ("coordinate complex general\n1 1 1\n1 1 1 0\n", ":1: must be one of real, double, integer, pattern: word 4 is not"),
        ("coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n", "both sides of the diagonal"),
    ],
)
def test_market_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SuppleError, match=words):
        market(tmp_path, "%%MatrixMarket matrix " + text)


def test_market_cut_at_every_byte(tmp_path: Path) -> None:
    """A file that lacks its end is never read as something else."""
    path = tmp_path / "K.mtx"
    mmwrite(path, sparse.coo_matrix(A), precision=17)
    data = path.read_bytes()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(SuppleError, match=r"^K\.mtx"):
            read_market(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_as_scipy_writes_it(tmp_path: Path, compressed: bool) -> None:
    given = {
        "K": sparse.csc_matrix(A),
        "M": A,
        "small": np.array([[3]], dtype=np.int8),
        "z": B + 2j,
        "text": "a",
        "s": {"a": 1},
    }
    savemat(tmp_path / "b.mat", given, do_compression=compressed)
    found = read_variables(tmp_path / "b.mat")
    assert sorted(found) == ["K", "M", "small", "z"]  # texts and structures are passed over
    assert np.array_equal(found["K"].toarray(), A) and np.array_equal(found["M"], A)
    assert found["small"] == 3 and np.array_equal(found["z"], B + 2j)


def test_matlab_of_the_other_byte_order(tmp_path: Path) -> None:
    """The 1 x 2 matrix [1, 2] named x, written by hand with the most significant byte first."""
    parts = [
        np.array([6, 8, 6, 0], ">u4"), np.array([5, 8, 1, 2], ">i4"), np.array([(1 << 16) | 1], ">u4"),
        np.frombuffer(b"x\0\0\0", "u1"), np.array([9, 16], ">u4"), np.array([1.0, 2.0], ">f8"),
    ]  # fmt: skip
    body = b"".join(p.tobytes() for p in parts)
    head = b"by hand".ljust(124) + b"\x01\x00MI" + np.array([14, len(body)], ">u4").tobytes()
    (tmp_path / "x.mat").write_bytes(head + body)
    assert np.array_equal(read_variables(tmp_path / "x.mat")["x"], [[1.0, 2.0]])


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_damaged_at_every_byte(tmp_path: Path, compressed: bool) -> None:
    """Cut: words, or the variables before the cut. Flipped: words, or matrices of the sizes that are said."""
    path = tmp_path / "b.mat"
    savemat(path, {"K": sparse.csc_matrix(A), "M": A}, do_compression=compressed)
    data = path.read_bytes()
    refused = 0
    for at in range(len(data)):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]):
            path.write_bytes(damaged)
            try:
                found = read_variables(path)
                assert all(v.ndim == 2 and len(v.nonzero()[0]) <= 9 for v in found.values())
            except SuppleError as error:
                assert str(error).startswith("b.mat: ") and "\n" not in str(error)
                refused += 1
    assert refused > len(data) - 128  # nearly every cut, and many flips


def test_matlab_of_other_versions(tmp_path: Path) -> None:
    savemat(tmp_path / "old.mat", {"K": A}, format="4")
    with pytest.raises(SuppleError, match=r"old\.mat: is no MATLAB file of version 5 to 7\.2"):
        read_variables(tmp_path / "old.mat")
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3".ljust(124) + b"\x00\x02IM" + b"\0" * 400)
    with pytest.raises(SuppleError, match=r"version 7\.3; save it with -v7"):
        read_variables(tmp_path / "new.mat")
