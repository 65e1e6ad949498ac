"""Packs the token vectors of the PyPI package `wordllama` (MIT licence) into `bundle/vectors`, for search by meaning.

The wheel is downloaded with pip and only read, never installed: it needs numpy, tokenizers and a hub client, of which
search uses nothing. The vectors are cut to signed bytes, half the size, without a measurable difference in recall.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from array import array
from pathlib import Path

PACKAGE = "wordllama==0.4.0.post1"
_WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
_TOKENS = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
_LICENCE = "licenses/LICENSE"
_MAGIC = b"uimcpvec"
_CLIP = 5.1
"""Larger numbers, one in ten thousand, are cut to this."""


class NoPipError(Exception):
    """There is no pip to download with."""


def build(output: Path) -> None:
    """Write `tokens.bin` and the licence of the vectors into a folder.

    Raises:
        OSError, subprocess.CalledProcessError: the package cannot be downloaded or read.
    """
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(_download(Path(folder))) as wheel:
        weights, tokens = wheel.read(_WEIGHTS), json.loads(wheel.read(_TOKENS))
        [licence] = [wheel.read(name) for name in wheel.namelist() if name.endswith(_LICENCE)]
    output.mkdir(parents=True, exist_ok=True)
    (output / "tokens.bin").write_bytes(packed(weights, tokens))
    (output / "LICENSE").write_bytes(licence)


def packed(weights: bytes, tokens: dict[str, dict[str, dict[str, int]]]) -> bytes:
    """Return the file of vectors: a header with the vocabulary, then one byte per number, offset by 128."""
    size = int.from_bytes(weights[:8], "little")
    [described] = [one for name, one in json.loads(weights[8 : 8 + size]).items() if name != "__metadata__"]
    count, dimensions = described["shape"]
    vocabulary = sorted(tokens["model"]["vocab"].items(), key=lambda item: item[1])
    numbers = weights[8 + size :]
    right = described["dtype"] == "F16" and len(numbers) == 2 * count * dimensions
    if not right or [number for _, number in vocabulary] != list(range(count)):
        raise OSError(f"{PACKAGE} has vectors of another form than expected")
    header = {"version": PACKAGE, "dimensions": dimensions, "tokens": [token for token, _ in vocabulary]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return _MAGIC + len(text).to_bytes(4, "little") + text + quantized(numbers)


def quantized(halves: bytes) -> bytes:
    """Return one byte for each number of two; the few that occur are worked out once, for speed."""
    scale = 127 / _CLIP
    numbers = array("H", halves)
    known = {
        bits: min(max(round(struct.unpack("<e", bits.to_bytes(2, sys.byteorder))[0] * scale), -127), 127) + 128
        for bits in set(numbers)
    }
    return bytes(map(known.__getitem__, numbers))


def _download(folder: Path) -> Path:
    # Any platform's wheel will do: the vectors are the same in all of them.
    wanted = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--platform=manylinux2014_x86_64"]
    # Build front ends hide the pip of the interpreter behind a path of their own.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [*_pip(environment), "download", "--quiet", *wanted, "--dest", str(folder), PACKAGE]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    [wheel] = folder.glob("*.whl")
    return wheel


def _pip(environment: dict[str, str]) -> list[str]:
    own = [sys.executable, "-m", "pip"]
    if not subprocess.run([*own, "--version"], check=False, capture_output=True, env=environment).returncode:
        return own
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found:
            return [found]
    raise NoPipError(
        "Packing the vectors of search needs pip, which was not found.\n"
        "Install pip, or install a released wheel, which carries them."
    )
