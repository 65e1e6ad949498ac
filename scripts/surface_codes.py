"""Collects from the source the parts of the public surface that no command lists: codes and environment variables."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VARIABLE = re.compile(r"(?:UI|NLUI)_[A-Z_]+|[A-Z]+_API_KEY")
CODE = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")
STANDARD_RPC = {-32700, -32600, -32601, -32602, -32603}


def codes(package: Path) -> dict[str, Any]:
    """Return error codes, close codes that are not in contracts/wire.json, and environment variables."""
    nodes = [node for file in package.rglob("*.py") for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    numbers = {number for node in nodes if (number := _number(node)) is not None}
    pairs = [node.elts for node in nodes if isinstance(node, ast.Tuple) and len(node.elts) == 2]
    messages = {_number(number): text.value for number, text in pairs if isinstance(text, ast.Constant)}
    return {
        "close codes of other sockets": sorted(numbers & {*range(4400, 4500)}),
        "environment variables": sorted(filter(VARIABLE.fullmatch, texts)),
        "error codes": sorted(filter(CODE.fullmatch, ErrorCodes(nodes).found())),
        "error codes of JSON-RPC": {
            str(number): messages.get(number, "") for number in numbers & {*range(-32999, -31999)} - STANDARD_RPC
        },
    }


def _number(node: ast.AST) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


class ErrorCodes:
    """Finds the texts that are used as a `code`: of a class, in a mapping, or as an argument of that name."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        self._nodes = nodes
        self._parameters = {(name, place) for node in nodes for name, place in _code_parameters(node)}
        self._constants: dict[str, list[ast.expr]] = {}
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(name)], value=value) if name.isupper():
                    self._constants.setdefault(name, []).append(value)

    def found(self) -> set[str]:
        """Return all of them, with those of notices and of notes about documents."""
        return {text for node in self._nodes for value in self._given(node) for text in self._texts(value)}

    def _given(self, node: ast.AST) -> list[ast.expr]:
        match node:
            case ast.Assign(targets=[ast.Name("code")], value=value):
                return [value]
            case ast.Dict(keys=keys, values=values):
                return [value for key, value in zip(keys, values, strict=True) if _is_code(key)]
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                placed = [value for place, value in enumerate(args) if (name, place) in self._parameters]
                return [*placed, *(one.value for one in keywords if one.arg == "code")]
        return []

    def _texts(self, node: ast.expr) -> Iterator[str]:
        """Yield the texts that an expression can evaluate to, as far as the source shows."""
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Name(name) | ast.Attribute(attr=name):
                yield from (text for value in self._constants.get(name, ()) for text in self._texts(value))
            case ast.IfExp(body=one, orelse=other):
                yield from (*self._texts(one), *self._texts(other))
            case ast.Call(func=ast.Attribute(value=ast.Dict(values=values), attr="get"), args=[_, *default]):
                yield from (text for value in (*values, *default) for text in self._texts(value))


def _is_code(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == "code"


def _code_parameters(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the name of a function or class that takes a text as `code`, and the place of that parameter."""
    match node:
        case ast.ClassDef(name=name, body=body):
            names = [ast.unparse(one.target) for one in body if isinstance(one, ast.AnnAssign)]
            for one in body:
                if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                    names = [argument.arg for argument in one.args.args[1:]]
        case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
            names = [argument.arg for argument in args.args if argument.arg not in {"self", "cls"}]
        case _:
            return
    if "code" in names:
        yield name, names.index("code")
