"""Hypothesis strategies: files that were once whole, arguments, settings, addresses, messages and commands."""

from __future__ import annotations

import base64
import bz2
import functools
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as some

import sparsescope as ss
from sparsescope import registry
from sparsescope.live import settings as live_settings
from sparsescope.live.recordings import packing
from sparsescope.runs.trace import Mark, Trace

INTERESTING = [
    b"0",
    b"-1",
    b"1e400",
    b"1e308",
    b"nan",
    b"inf",
    b"-inf",
    b"99999999999",
    b"1" * 40,
    b"",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b",",
    b";",
    b":",
    b"#",
    b'"',
    b"1:1",
    b"0:1",
    b"-1:2",
    b"qid:1",
    b"2:1 1:1",
    b"1,2",
    b"True",
    b"None",
    b"1e-320",
    b"<f8",
    b"|O",
    b"'shape': (1000000000,)",
    b"(-1,)",
    "ä λ \u2028".encode(),
    b"1_000",
    b"0x10",
    b"+",
    b"1.5",
]


# ------------------------------------------------------------------------------------------------------------- files
@functools.cache
def whole_files() -> tuple[tuple[str, bytes], ...]:
    """Names and contents of files that can be read."""
    X, y = np.arange(48.0).reshape(12, 4) % 7, np.arange(12) % 3
    S = sp.csr_matrix(X)
    parts = {"X_data": S.data, "X_indices": S.indices, "X_indptr": S.indptr, "X_shape": np.array(S.shape)}
    arrays: list[dict[str, Any]] = [
        {"X": X, "y": y},
        parts | {"y": y},
        {"X_train": X.astype(np.float32), "y_train": y, "X_test": X[:3], "y_test": y[:3]},
        {"X": X, "Y": (X > 3).astype(np.uint8), "feature_names": np.array(list("abcd"))},
        {
            "X": X,
            "y": np.array(list("abc"))[y],
            "image_shape": np.array([2, 2]),
            "title": np.array("t"),
            "feature_names_utf8": np.frombuffer(b"a\nb\nc\nd", np.uint8),
        },
    ]
    found: list[tuple[str, bytes]] = []
    for given in arrays:
        for save in (np.savez, np.savez_compressed):
            file = io.BytesIO()
            save(file, **given)
            found.append(("x.npz", file.getvalue()))
    csv = b"a,b,colour,label\n" + b"".join(
        b"%d,%.1f,%s,%s\n" % (k, k / 3, [b"red", b"blue"][k % 2], b"xyz"[k % 3 : k % 3 + 1]) for k in range(9)
    )
    svm = b"".join(b"%d 1:%d 3:%.2f # c\n" % (k % 3, k, k / 7) for k in range(9))
    sets = b"".join(b"%s 1:%d 2:0.5\n" % ([b"1,2", b"2", b"3,1"][k % 3], k) for k in range(9))
    texts = [("x.csv", csv), ("x.tsv", csv.replace(b",", b"\t")), ("x.svm", svm), ("x.libsvm", sets), ("data", svm)]
    found += texts
    found += [(name + ".gz", gzip.compress(text, mtime=0)) for name, text in texts[:4]]
    found += [(name + ".bz2", bz2.compress(text)) for name, text in texts[:4]]
    return tuple(found)


@functools.cache
def whole_trace() -> bytes:
    """A saved trace with marks."""
    import tempfile
    from pathlib import Path

    trace = Trace({"d": 3, "name": "x"})
    trace.marks.append(Mark(0, 0, 0.0, 0.0, "λ = 1", "lam"))
    with tempfile.TemporaryDirectory() as folder:
        return trace.save(Path(folder) / "t.npz").read_bytes()


def _mutate(content: bytes, steps: list[tuple[int, float, float, int]]) -> bytes:
    """Apply steps (what, where, how much, which): each a small damage."""
    made = bytearray(content)
    for what, where, much, which in steps:
        at = int(where * len(made))
        size = 1 + int(much * min(64, len(made)))
        if what == 0 and made:
            made[min(at, len(made) - 1)] ^= 1 << which % 8
        elif what == 1:
            del made[at : at + size]
        elif what == 2:
            made[at:at] = INTERESTING[which % len(INTERESTING)]
        elif what == 3:
            made[at : at + size] = INTERESTING[which % len(INTERESTING)]
        elif what == 4:
            made[at:at] = made[at : at + size]
        elif what == 5:
            del made[at:]
        elif what == 6:
            made[at : at + size] = bytes([which % 256]) * size
        else:
            made[at:at] = bytes(made[: int(much * len(made))])
    return bytes(made)


share = some.floats(0, 1, allow_nan=False)
steps = some.lists(some.tuples(some.integers(0, 7), share, share, some.integers(0, 255)), min_size=1, max_size=4)


def _inside(content: bytes, which: int, damage: Callable[[bytes], bytes]) -> bytes:
    """The same archive with one member damaged and everything else right: checksums do not protect from this."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = [(name, old.read(name)) for name in old.namelist()]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for k, (name, data) in enumerate(members):
            new.writestr(name, damage(data) if k == which % len(members) else data)
    return file.getvalue()


@some.composite
def damaged(draw: Any, content: bytes, name: str) -> bytes:
    """The content with some damage, outside or inside of what packs it."""
    done, inside = draw(steps), draw(some.booleans())
    if not inside or name.endswith((".csv", ".tsv", ".svm", ".libsvm", "data")):
        return _mutate(content, done)
    if name.endswith(".npz"):
        return _inside(content, draw(some.integers(0, 9)), lambda member: _mutate(member, done))
    unpack, pack = (gzip.decompress, gzip.compress) if name.endswith(".gz") else (bz2.decompress, bz2.compress)
    return pack(_mutate(unpack(content), done))


@some.composite
def files(draw: Any) -> tuple[str, bytes]:
    """A damaged file and its name."""
    name, content = draw(some.sampled_from(whole_files()))
    return name, draw(damaged(content, name))


def traces() -> Any:
    """A damaged trace."""
    return damaged(whole_trace(), "t.npz")


@functools.cache
def whole_recording() -> tuple[str, bytes, str]:
    """A recording's text, and what stands in it: its unpacked numbers and its header."""
    problem = ss.Problem(np.eye(4, 3), np.arange(4) % 2, lam=0.01)
    text = ss.record(problem, max_iter=3, tol=1e-12).html()
    header, block = packing.extracted(text.encode(), "r.html")
    return text[: text.index('<script type="module">')], block, json.dumps(header)


@some.composite
def recordings(draw: Any) -> bytes:
    """A recording that is damaged outside, in its header, in its numbers, or with other values in its header."""
    text, block, header = whole_recording()
    where, done = draw(some.integers(0, 3)), draw(steps)
    if where == 0:
        return _mutate(text.encode(), done)
    if where == 1:
        header = _mutate(header.encode(), done).decode("utf-8", "replace").replace("</", "<")
    elif where == 2:
        block = _mutate(block, done)
        header = json.dumps({**json.loads(header), "bytes": len(block)})
    else:
        changed = json.loads(header)
        at = changed if draw(some.booleans()) else changed[draw(some.sampled_from(["problem", "run"]))]
        at[draw(some.sampled_from(sorted(at)))] = draw(values)
        header = json.dumps(changed)
    packed = base64.b64encode(zlib.compress(block)).decode()
    return f"{packing.HEADER_MARK}{header}{packing.END}{packing.BLOCK_MARK}{packed}{packing.END}".encode(
        "utf-8", "replace"
    )


# ----------------------------------------------------------------------------------------------- values and messages
texts = some.one_of(
    some.text(max_size=20),
    some.sampled_from(
        ["", "nan", "inf", "1e999", "-0", "true", "max", "x" * 5000, "\0", "<b>", "../../etc/passwd", "l1/l2", "iris"]
    ),
)
numbers = some.one_of(
    some.integers(-10, 10), some.integers(), some.floats(), some.sampled_from([10**400, 2**63, -(2**31), 1e308])
)
scalars = some.one_of(some.none(), some.booleans(), numbers, texts)
values = some.recursive(
    scalars,
    lambda inner: some.one_of(some.lists(inner, max_size=4), some.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)


@functools.cache
def setting_keys() -> list[str]:
    """Keys that settings have, with parameters of all parts."""
    keys = list(live_settings.defaults())
    for kind, parts in live_settings.PARTS.items():
        keys += [f"{kind}.{f.name}" for name in parts.names() for f in live_settings.fields_of(kind, name)]
    return sorted(set(keys))


@functools.cache
def known_words() -> list[str]:
    """Names of parts and of data."""
    return [
        *registry.losses.names(),
        *registry.penalties.names(),
        *registry.solvers.names(),
        "iris",
        "digits",
        "classes",
        "covariance",
        "norm",
        "block",
        "max",
        "1",
        "0",
    ]


def settings(keep: Any = scalars) -> Any:
    """Settings from a stranger."""
    value = some.one_of(some.sampled_from(known_words()), keep)
    return some.dictionaries(some.one_of(some.sampled_from(setting_keys()), texts), value, max_size=8)


def addresses() -> Any:
    """Query texts of addresses, some well-formed."""

    def joined(query: dict[str, Any]) -> str:
        return "&".join(f"{quote(key)}={quote(str(value)[:9000])}" for key, value in query.items())

    short = some.one_of(some.none(), some.booleans(), some.integers(-(10**20), 10**20), some.floats(), texts)
    return some.one_of(settings(short).map(joined), some.text(max_size=80))


def messages() -> Any:
    """Draw what a page could send: messages of the protocol with odd fields, and anything else."""
    kinds = some.sampled_from(["credit", "set", "do", "ask", "layout"])
    fields = some.sampled_from(
        [
            "id",
            "n",
            "changes",
            "action",
            "kind",
            "row",
            "cls",
            "line",
            "column",
            "rows",
            "zoom",
            "mode",
            "part",
            "visible",
            "columns",
            "seq",
            "paint_ms",
        ]
    )
    words = some.sampled_from(
        [
            "run",
            "pause",
            "step",
            "reset",
            "value",
            "cell",
            "names",
            "snippet",
            "spectrum",
            "rate",
            "matrix",
            "images",
            "stage",
        ]
    )
    field = some.dictionaries(fields, some.one_of(values, words, settings(values)), max_size=6)
    return some.one_of(some.builds(lambda kind, rest: {**rest, "type": kind}, kinds, field), values)


def fragments() -> Any:
    """Texts on a websocket."""
    return some.one_of(
        messages().map(lambda m: json.dumps(m, default=str)),
        some.text(max_size=200),
        some.text(alphabet='[]{}",:\\u0', max_size=400),
    )


hosts = some.one_of(
    some.text(max_size=40),
    some.from_regex(r"\A[a-z0-9.\-\[\]:@]{0,30}(:[0-9]{0,6})?\Z"),
    some.sampled_from(["localhost:5006", "127.0.0.1", "[::1]:80", "evil.example", "localhost.evil.example"]),
)

# ------------------------------------------------------------------------------------------------ arguments of Problem
shapes = some.tuples(some.integers(0, 5), some.integers(0, 4))
elements = some.one_of(
    some.floats(width=32), some.integers(-3, 3).map(float), some.sampled_from([1e300, -1e300, 5e-324])
)


@some.composite
def matrices(draw: Any) -> Any:
    """X as somebody might hand it over."""
    n, d = draw(shapes)
    rows = draw(some.lists(some.lists(elements, min_size=d, max_size=d), min_size=n, max_size=n))
    with np.errstate(over="ignore"):
        made = np.array(rows, dtype=draw(some.sampled_from([float, np.float32, object, complex]))).reshape(n, d)
    form = draw(some.sampled_from(["dense", "list", "csr", "csc", "coo", "int", "bool", "transposed", "flat", "text"]))
    if form in ("csr", "csc", "coo") and made.dtype != object:
        return getattr(sp, f"{form}_matrix")(made)
    with np.errstate(all="ignore"):
        plain = np.nan_to_num(made.real.astype(float))
        return {
            "list": made.tolist(),
            "int": np.clip(plain, -9, 9).astype(int),
            "bool": plain > 0,
            "transposed": made.T,
            "flat": made.ravel(),
            "text": made.astype(str),
        }.get(form, made)


@some.composite
def labels(draw: Any) -> Any:
    """y as somebody might hand it over."""
    label = some.one_of(
        some.integers(-1, 3), some.sampled_from(["a", "b", None, np.nan, 0.5, 1.0, True, b"x", (), "1"])
    )
    listed = draw(some.lists(label, max_size=6))
    form = draw(some.sampled_from(["list", "array", "column", "row", "sets", "indicator"]))
    if form == "list":
        return listed
    if form == "sets":
        return [set(map(str, listed[:k])) for k in range(len(listed))]
    if form == "indicator":
        return np.array([[k % 2, 1] for k in range(len(listed))])
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return {"column": made[:, None], "row": made[None, :]}.get(form, made)


def problem_arguments() -> Any:
    """Keywords of a Problem."""
    return some.fixed_dictionaries(
        {"X": matrices(), "y": labels()},
        optional={
            "loss": some.one_of(some.sampled_from(registry.losses.names()), scalars),
            "penalty": some.one_of(some.sampled_from(registry.penalties.names()), scalars),
            "lam": scalars,
            "intercept": some.one_of(some.booleans(), scalars),
        },
    )


# ------------------------------------------------------------------------------------------------------------ commands
def commands() -> Any:
    """Words after `sparsescope`."""
    word = some.one_of(
        some.sampled_from(
            [
                "solve",
                "explore",
                "paper",
                "datasets",
                "doctor",
                "iris",
                "--data",
                "--tol",
                "--max-iter",
                "--save",
                "--loss",
                "--penalty",
                "--solver",
                "--lam-ratio",
                "--port",
                "--address",
                "--allow-host",
                "--token",
                "--no-token",
                "--linger",
                "--max-sessions",
                "--version",
                "--help",
                "--",
                "-1",
                "1e-3",
                "0",
            ]
        ),
        texts.filter(lambda text: "\0" not in text),
    )
    return some.lists(word, max_size=6)
