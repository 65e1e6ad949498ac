"""The guide to phones: its settings are read by the program, and its commands are those of the program."""

import shlex
from pathlib import Path
from textwrap import dedent

from agreeing import agree_to_file
from docs.blocks import Block, block, together
from ui_mcp.cli.main import parse
from ui_mcp.config import load, unknown_keys
from ui_mcp.phone_settings import PhoneSettings

PAGE = "docs/howto/phone.md"


def settings(given: Block, folder: Path) -> PhoneSettings:
    file = folder / "config" / "config.toml"
    file.parent.mkdir()
    file.write_text(dedent(given.code))
    agree_to_file(file)
    assert unknown_keys(file) == []
    return load(file, environment={}).phone


@together("compared", block(PAGE, "certificate ="))
def test_a_certificate_of_ones_own_is_read(given: tuple[Block], tmp_path: Path) -> None:
    read = settings(given[0], tmp_path)

    assert (read.host, read.certificate, read.key) == ("0.0.0.0", "~/.certs/laptop.pem", "~/.certs/laptop-key.pem")


@together("compared", block(PAGE, 'url = "https://laptop.tail1234.ts.net"'))
def test_an_address_turns_phones_on(given: tuple[Block], tmp_path: Path) -> None:
    assert settings(given[0], tmp_path).origin == "https://laptop.tail1234.ts.net"


@together("compared", block(PAGE, "ntfy ="))
def test_other_ways_to_be_notified_are_read(given: tuple[Block], tmp_path: Path) -> None:
    read = settings(given[0], tmp_path)

    assert read.notifies
    assert (read.ntfy or "", read.webhook, read.email, read.smtp) == (
        "https://ntfy.sh/a-long-name-that-nobody-guesses",
        "https://hooks.example.com/inbox",
        "ada@example.com",
        "smtps://ada@mail.example.com",
    )


@together("compared", block(PAGE, "ui-mcp phone pair"), block(PAGE, "ui-mcp phone revoke"))
def test_the_commands_are_those_of_the_program(given: tuple[Block, ...]) -> None:
    lines = [shlex.split(line, comments=True) for one in given for line in one.commands]
    actions = [parse(words[1:], None).action for words in lines]

    assert actions == ["pair", "list", "revoke"]
