"""Pair a phone to answer your agents from, and list or revoke paired phones.

  ui-mcp phone pair          show a QR code that pairs one phone, once, within ten minutes
  ui-mcp phone list          show paired phones
  ui-mcp phone revoke ID     stop a phone from answering; takes the beginning of an id, or --all

Phones need an HTTPS address, in `phone.url` of config.toml; docs/howto/phone.md says how to get one. These commands act
for you: they need a terminal.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.phone import list_phones, pair_phone, revoke_phones
else:
    list_phones = lazy("ui_mcp.app.commands.phone:list_phones")
    pair_phone = lazy("ui_mcp.app.commands.phone:pair_phone")
    revoke_phones = lazy("ui_mcp.app.commands.phone:revoke_phones")

HELP = "pair a phone to answer from, and list or revoke phones"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("action", choices=("pair", "list", "revoke"), help="what to do")
    parser.add_argument("id", nargs="*", default=[], metavar="ID", help="revoke: ids of phones or their beginnings")
    parser.add_argument("--all", action="store_true", help="revoke every phone")


def run(options: argparse.Namespace) -> int:
    match options.action:
        case "pair":
            lines = pair_phone(options.dir)
        case "list":
            lines = list_phones()
        case _:
            lines = revoke_phones(options.id, every=options.all)
    for line in lines:
        print(line)
    return 0
