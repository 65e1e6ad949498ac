"""Tries real OpenAPI documents by hand: each loads whole, accepts its own examples, and a strict server its requests.

`python scripts/real_documents.py FOLDER [--prism COMMAND]` takes every document below a folder. COMMAND is Prism's
(npm: @stoplight/prism-cli); it serves each document with request validation on, without security and with an empty
answer for every operation, and judges one call per operation, with the required arguments only. It gets 60 paths at a
time with the components that these use, because it resolves all of a document's schemas before it listens, which takes
it longer than 20 minutes for 86 schemas that refer to each other in cycles. Nothing of a document is kept; whatever is
not accepted is printed with the reason. Of objects of the style deepObject Prism makes up every member, also when none
was sent, and then misses what they require: such refusals are counted apart.
"""

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2

from ui_mcp.errors import InvalidArgumentsError, UiMcpError
from ui_mcp.gateway.config.parse import is_openapi, parse
from ui_mcp.gateway.openapi.arguments import ArgumentCheck
from ui_mcp.gateway.openapi.document import Document, Place, load
from ui_mcp.gateway.openapi.fetch import Fetcher
from ui_mcp.gateway.openapi.model import Api, Operation
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.payload import EncodingOptions
from ui_mcp.gateway.openapi.request import build

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from gateway.sample_calls import value

_PATHS = 60
_START_SECONDS = 180.0
_SECTIONS = ("components", "definitions", "parameters", "responses")
_LEFT_OUT = frozenset({"security", "host", "servers", "webhooks", "x-webhooks"})
_UNSENT = "about what was not sent: "


class PrismError(Exception):
    """Prism gave no verdict."""


def documents(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that are whole documents."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in {".json", ".yaml", ".yml"} and "node_modules" not in file.relative_to(folder).parts:
            try:
                if is_openapi(parse(file.read_bytes())):
                    yield file
            except UiMcpError as error:
                print(f"{file.name}: not read: {error.message}")


async def read(file: Path) -> tuple[Document, Api]:
    async with Fetcher(str(file)) as fetcher:
        root = await fetcher.root()
        assert root is not None
        document = await load(fetcher, root)
    return document, read_api(document)


def required_arguments(operation: Operation) -> dict[str, Any]:
    """Make up a value for each required argument; a path is text, in which `1` would be both a number and a text."""
    schema = operation.input_schema
    wanted = {name: schema["properties"][name] for name in schema.get("required", [])}
    for parameter in operation.parameters:
        texts = [one for one in parameter.schema.get("oneOf", ()) if one.get("type") == "string"]
        if parameter.location == "path" and texts:
            wanted[parameter.argument] = texts[0]
    return {name: value(one, schema, 2) for name, one in wanted.items()}


@dataclass(frozen=True)
class Example:
    """A value that the document gives for an argument; a partial one has only the fields with examples of their own."""

    operation: Operation
    argument: str
    value: Any
    media_type: str = ""
    is_partial: bool = False


def examples(document: Document, api: Api) -> Iterator[Example]:
    """Yield the examples of all bodies, of their fields and of all parameters."""
    for operation in api.operations:
        try:
            place = document.follow(document.root.at("paths", operation.path))
            place = document.follow(place.at(operation.method.lower()))
        except (UiMcpError, ValueError):
            continue
        yield from _body_examples(document, operation, place)
        yield from _parameter_examples(document, operation, place)


def _body_examples(document: Document, operation: Operation, place: Place) -> Iterator[Example]:
    kinds = [variant.media_type for variant in operation.body.variants] if operation.body else []
    for kind in kinds:
        with suppress(UiMcpError, ValueError):
            content = document.follow(document.follow(place.at("requestBody")).at("content", kind))
            named = kind if len(kinds) > 1 else ""
            for value in _given(document, content):
                yield Example(operation, "body", value, named)
            value = _of_fields(document, content.at("schema"), 4)
            if value is not None and "xml" not in kind:  # a body of XML is given as text
                yield Example(operation, "body", value, named, is_partial=True)


def _parameter_examples(document: Document, operation: Operation, place: Place) -> Iterator[Example]:
    item = document.follow(document.root.at("paths", operation.path))
    known = {(one.name, one.location): one.argument for one in operation.parameters}
    for declared in (*item.at("parameters").values(), *place.at("parameters").values()):
        with suppress(UiMcpError, ValueError):
            parameter = document.follow(declared)
            argument = known.get((parameter.value.get("name"), parameter.value.get("in")))
            found = [*_given(document, parameter)]
            found += [one for one in [_of_fields(document, parameter.at("schema"), 4)] if one is not None]
            for value in found if argument else ():
                yield Example(operation, argument or "", value, is_partial=True)


def _given(document: Document, place: Place) -> Iterator[Any]:
    if isinstance(place.value, dict) and "example" in place.value:
        yield place.value["example"]
    for named in place.at("examples").values():
        one = document.follow(named).value
        if isinstance(one, dict) and "value" in one:
            yield one["value"]


def _of_fields(document: Document, place: Place, depth: int) -> Any:
    """Return the example of a schema, or one that is made of those of its fields; None if there is none."""
    place = document.follow(place)
    schema = place.value if isinstance(place.value, dict) else {}
    if "example" in schema or depth == 0 or schema.get("readOnly"):
        return None if schema.get("readOnly") else schema.get("example")
    if isinstance(schema.get("examples"), list) and schema["examples"]:
        return schema["examples"][0]
    if schema.get("type") == "array":
        row = _of_fields(document, place.at("items"), depth - 1)
        return None if row is None else [row]
    fields = {name: _of_fields(document, one, depth - 1) for name, one in place.at("properties").items()}
    given = {name: value for name, value in fields.items() if value is not None}
    return given or None


def try_examples(document: Document, api: Api, shown: int) -> None:
    refused, count = [], 0
    for one in examples(document, api):
        count += 1
        given = {**required_arguments(one.operation), one.argument: one.value}
        if one.media_type:
            given["content_type"] = one.media_type
        if problems := [problem for problem in _problems(one.operation, given) if _is_about(problem, one)]:
            refused.append(f"{one.operation.method} {one.operation.path}: {problems[0]}")
    print(f"  own examples: {count - len(refused)} of {count} accepted")
    _print_some(refused, shown)


def _problems(operation: Operation, given: dict[str, Any]) -> list[str]:
    try:
        ArgumentCheck(operation).check(given, {})
    except InvalidArgumentsError as error:
        return [str(one) for one in error.details["problems"]]  # type: ignore[attr-defined]
    return []


def _is_about(problem: str, one: Example) -> bool:
    return problem.startswith(one.argument) and not (one.is_partial and ": missing " in problem)


def without_security(tree: Any) -> Any:
    """Return a document whose operations need no credentials and answer nothing."""
    tree = {key: member for key, member in tree.items() if key not in _LEFT_OUT}
    for item in tree.get("paths", {}).values():
        for operation in item.values() if isinstance(item, dict) else ():
            if isinstance(operation, dict) and ("responses" in operation or "operationId" in operation):
                operation["responses"] = {"200": {"description": "ok"}}
                operation.pop("security", None)
                operation.pop("servers", None)
    return tree


def shards(tree: Any) -> Iterator[Any]:
    """Yield documents with some of the paths each, and the components that these refer to."""
    paths = list(tree.get("paths", {}).items())
    for at in range(0, len(paths), _PATHS):
        part = {**tree, "paths": dict(paths[at : at + _PATHS])}
        yield _without_unused(part)


def _without_unused(tree: Any) -> Any:
    used: set[str] = set()
    queue = list(_references(tree["paths"]))
    while queue:
        reference = queue.pop()
        if reference in used or not reference.startswith("#/"):
            continue
        used.add(reference)
        value = tree
        for key in reference[2:].split("/"):
            value = value.get(key.replace("~1", "/").replace("~0", "~"), {}) if isinstance(value, dict) else {}
        queue += _references(value)
    kept = {key: member for key, member in tree.items() if key not in _SECTIONS}
    for section in {*_SECTIONS} & {*tree}:
        kept[section] = _used_members(tree[section], f"#/{section}", used, deep=section == "components")
    return kept


def _used_members(members: Any, at: str, used: set[str], *, deep: bool) -> Any:
    if deep:
        return {kind: _used_members(inner, f"{at}/{kind}", used, deep=False) for kind, inner in members.items()}
    named = {one[len(at) + 1 :].split("/")[0].replace("~1", "/") for one in used if one.startswith(f"{at}/")}
    return {name: value for name, value in members.items() if name in named}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for member in value.values():
            yield from _references(member)
    elif isinstance(value, list):
        for member in value:
            yield from _references(member)


@contextmanager
def prism(command: str, file: Path, tree: Any) -> Iterator[str]:
    """Serve a document, in the place of `file`, with request validation on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.parent.name
        shutil.copytree(file.parent.parent if file.parent.name == "spec" else file.parent, copy)
        served = next(copy.rglob(file.name))
        served.write_text(json.dumps(tree))
        arguments = [command, "mock", "--errors", "--port", str(port), "--host", "127.0.0.1", str(served)]
        server = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            assert server.stdout is not None
            ended = threading.Timer(_START_SECONDS, server.kill)
            ended.start()
            said: list[bytes] = []
            while not said or b"listening" not in said[-1]:
                said.append(server.stdout.readline())
                if not said[-1]:
                    fatal = next((line.decode().partition("fatal")[2] for line in said if b"fatal" in line), "")
                    raise PrismError(fatal.strip() or f"Prism does not listen within {_START_SECONDS:g} s")
            ended.cancel()
            threading.Thread(target=server.communicate, daemon=True).start()  # it stops when nothing reads on
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def judge(file: Path, api: Api, command: str, shown: int) -> None:
    refused: list[str] = []
    for tree in shards(without_security(parse(file.read_bytes()))):
        asked = [operation for operation in api.operations if operation.path in tree["paths"]]
        try:
            with prism(command, file, tree) as base:
                refused += filter(None, (verdict(operation, base) for operation in asked))
        except PrismError as error:
            refused += [f"{operation.method} {operation.path}: no verdict: {error}" for operation in asked]
    count = len(api.operations)
    unsent = [line for line in refused if _UNSENT in line]
    print(f"  requests judged by Prism: {count - len(refused)} of {count} accepted", flush=True)
    _print_some([line for line in refused if line not in unsent], shown)
    print(f"    refusals that are all about what was not sent: {len(unsent)}", flush=True)
    _print_some(unsent, shown)


def verdict(operation: Operation, base: str) -> str | None:
    """Send one call and return why it was refused; None if it was accepted."""
    at = f"{operation.method} {operation.path}"
    try:
        checked = ArgumentCheck(operation).check(required_arguments(operation), {}).arguments
        outgoing = build(operation, checked, base, EncodingOptions())
    except UiMcpError as error:
        return f"{at}: by us: {error.message[:200]}"
    try:
        answer = httpx2.request(
            outgoing.method, outgoing.url, headers=list(outgoing.headers), content=outgoing.body or b"", timeout=60
        )
    except httpx2.HTTPError as error:
        return f"{at}: no answer: {error}"
    return f"{at}: {answer.status_code} {_reason(answer.text, checked)}" if answer.status_code >= 400 else None


def _reason(text: str, sent: Any) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        return text[:150]
    problems = found.get("validation", [])
    words = "; ".join(f"{'.'.join(map(str, one.get('location', [])))}: {one['message']}" for one in problems)[:250]
    if problems and not any(_is_sent(one.get("location", []), sent) for one in problems):
        return _UNSENT + words
    return words or str(found.get("title"))


def _is_sent(location: list[Any], sent: Any) -> bool:
    for part in location[1:] if location[:1] in (["query"], ["path"]) else location:
        if not isinstance(sent, dict) or part not in sent:
            return False
        sent = sent[part]
    return True


def _print_some(lines: list[str], count: int) -> None:
    for line in lines[:count]:
        print(f"    {line}")
    if len(lines) > count:
        print(f"    and {len(lines) - count} more")


def main() -> None:
    """Try every document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prism", help="the command of @stoplight/prism-cli")
    parser.add_argument("--shown", type=int, default=12, help="how many refusals to print of each kind")
    options = parser.parse_args()
    for file in documents(options.folder):
        document, api = anyio.run(read, file)
        notes = sum(operation.status != "ok" for operation in api.operations)
        print(
            f"{file.name}: {len(api.operations)} operations, {notes} with notes, {len(api.skipped)} skipped", flush=True
        )
        try_examples(document, api, options.shown)
        if options.prism:
            judge(file, api, options.prism, options.shown)


if __name__ == "__main__":
    main()
