"""Text of strangers made plain for people: nothing hidden, nothing that moves a cursor or turns the reading order."""


def plain(text: str) -> str:
    """Write characters that show nothing, or change how others are shown, as escapes; line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter == "\n" or _shows(letter) else _escaped(letter) for letter in text)


def one_line(text: str, most: int = 200) -> str:
    """Make it plain, on one line and not too long: for names that a program gives itself."""
    return plain(text).replace("\n", " ")[:most]


def _shows(letter: str) -> bool:
    return letter.isprintable()


def _escaped(letter: str) -> str:
    number = ord(letter)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
