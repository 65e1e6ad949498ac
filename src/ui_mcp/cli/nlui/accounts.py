"""`nlui accounts`, `sign-in` and `sign-out`: who is signed in where, without a running gateway."""

import argparse
import sys
from contextlib import suppress
from dataclasses import replace

from anyio import to_thread
from platformdirs import user_cache_path

from ui_mcp.default_browser import BrowserError, open_default_browser
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.config.settings import GatewaySettings, TargetSettings, name_of
from ui_mcp.gateway.config.sign_in import FlowUrls, server_place, target_entries, target_place
from ui_mcp.gateway.mount_connection import SavedMounts
from ui_mcp.gateway.openapi.live import target_factory
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker, single_line
from ui_mcp.gateway.sign_ins import described
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.oauth.account import Account, Way
from ui_mcp.toolkit.names import closest


async def accounts_command(options: argparse.Namespace) -> int:
    """Print who is signed in where."""
    found = _accounts(_settings(options.source))
    rows = [await described(account, await account.held()) for account in found.values()]
    if options.json:
        print(dumps(rows))
        return 0
    for row in rows:
        print(_line(row))
    if not rows:
        print("No server behind a URL and no API with auth of type sign_in is configured.")
    return 0


async def sign_in_command(options: argparse.Namespace) -> int:
    """Sign in, by a browser of this machine or by a code that is entered on another device."""
    settings = _settings(options.source)
    account = await _with_document(settings, _account(settings, options.name))
    way: Way = "device" if options.code else "browser"
    async with account.signing_in(way) as attempt:
        if attempt.user_code:
            print(f"Open {attempt.url} on any device and enter the code {attempt.user_code}")
        else:
            print(f"Sign in at {attempt.url}")
            if not options.no_browser:
                with suppress(BrowserError):  # the address is shown
                    await to_thread.run_sync(open_default_browser, attempt.url)
        sys.stdout.flush()
        await attempt.finished()
    print(_line(await described(account, await account.held())))
    return 0


async def sign_out_command(options: argparse.Namespace) -> int:
    """Forget a sign-in, and end it at the server."""
    account = _account(_settings(options.source), options.name)
    done = await account.sign_out()
    print(f"{options.name}: {'signed out' if done else 'was not signed in'}")
    return 0


def _settings(source: str | None) -> GatewaySettings:
    return configuration(GatewayOptions(source, quiet=True)).settings


def _accounts(settings: GatewaySettings) -> dict[str, Account]:
    saved = SavedMounts(settings.data_folder / "mounts.json").load()
    servers = [server_place(one) for one in (*settings.backends, *saved)]
    places = [place for place in servers if place is not None]
    for target in map(_named, settings.targets):
        places += [target_place(target, part, entry, FlowUrls()) for part, entry in target_entries(target)]
    return {place.name: Account(place) for place in places}


def _named(target: TargetSettings) -> TargetSettings:
    return replace(target, name=name_of(target))


def _account(settings: GatewaySettings, name: str) -> Account:
    found = _accounts(settings)
    if name in found:
        return found[name]
    near = closest(name, found, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise InvalidArgumentsError(
        f"Nothing named {name!r} can be signed in to{hint}\n"
        "A server needs a url; an API needs auth: {type: sign_in} in nlui.yaml."
    )


async def _with_document(settings: GatewaySettings, account: Account) -> Account:
    """Return the account with the endpoints of the API's document, if it is an API that has them from there."""
    place = account.place
    name = place.name.removesuffix(f"/{place.part}") if place.part else place.name
    given = next((one for one in map(_named, settings.targets) if one.name == name), None)
    if given is None or place.token_url or place.issuer:
        return account
    data = settings.data_folder
    cache = user_cache_path("nlui") if not settings.data_dir else data / "cache"
    make = target_factory(cache, ResultStore(data / "results"), SecretMasker())
    async with make(given, settings) as target:
        await target.refresh()
        return target.account(place.part)


def _line(row: JsonObject) -> str:
    who = f" as {single_line(row['account'])}" if row.get("account") else ""
    where = f" at {row['issuer']}" if row.get("issuer") else ""
    kept = f", kept in the {row['kept_in']}" if row.get("kept_in") else ""
    since = f" since {row['since']}" if row.get("since") else ""
    why = f": {single_line(row['problem'])}" if row.get("problem") else ""
    return f"{row['name']}: {row['state']}{who}{where}{since}{kept}{why}"
