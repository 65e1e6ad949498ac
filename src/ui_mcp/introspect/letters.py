"""Letters that begin the uids of one document: short, never twice, none that reads like a digit or a row."""

from collections.abc import Iterator
from itertools import chain, product

ALPHABET = "abcdefghijkmnopqstuvwxyz"


def all_letters() -> Iterator[str]:
    """Yield a, b, …, z, aa, ab and so on."""
    combined = chain.from_iterable(product(ALPHABET, repeat=length) for length in range(1, 6))
    return ("".join(letters) for letters in combined)


def letters(number: int) -> str:
    """Return the letters of document `number`, counted from 1."""
    written = ""
    while number > 0:
        number, digit = divmod(number - 1, len(ALPHABET))
        written = ALPHABET[digit] + written
    return written
