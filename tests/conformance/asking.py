"""The tools that ask their caller something: in the handshake era by a request, in the modern one by their result."""

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

from ui_mcp.jsonrpc.messages import RpcError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.request import Request

INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021
_KEY = secrets.token_bytes(32)

Handler = Callable[[Request, JsonObject], Awaitable[JsonObject]]


def text(words: str) -> JsonObject:
    return {"resultType": "complete", "content": [{"type": "text", "text": words}]}


def elicit(message: str, **properties: str) -> JsonObject:
    fields = {name: {"type": kind} for name, kind in properties.items()}
    schema = {"type": "object", "properties": fields, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sample(words: str) -> JsonObject:
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}


ROOTS: JsonObject = {"method": "roots/list"}


def ask(requests: JsonObject, state: str | None = None) -> JsonObject:
    result: JsonObject = {"resultType": "input_required", "inputRequests": requests}
    return {**result, "requestState": state} if state else result


def seal(**facts: Any) -> str:
    body = json.dumps({**facts, "nonce": secrets.token_hex(8)})
    return f"{hmac.new(_KEY, body.encode(), sha256).hexdigest()}.{body}"


def unseal(state: str) -> JsonObject:
    signature, _, body = state.partition(".")
    if not hmac.compare_digest(signature, hmac.new(_KEY, body.encode(), sha256).hexdigest()):
        raise RpcError(INVALID_PARAMS, "requestState was tampered with")
    return dict(json.loads(body))


def accepted(raw: JsonObject, key: str) -> JsonObject | None:
    answer = (raw.get("inputResponses") or {}).get(key)
    if not isinstance(answer, dict) or answer.get("action") != "accept" or not isinstance(answer.get("content"), dict):
        return None
    return dict(answer["content"])


def answered(raw: JsonObject, key: str) -> JsonObject | None:
    answer = (raw.get("inputResponses") or {}).get(key)
    return answer if isinstance(answer, dict) else None


async def by_elicitation(request: Request, raw: JsonObject) -> JsonObject:
    given = accepted(raw, "user_name")
    if given is None or not isinstance(given.get("name"), str):
        return ask({"user_name": elicit("What is your name?", name="string")})
    return text(f"Hello, {given['name']}!")


async def by_sampling(request: Request, raw: JsonObject) -> JsonObject:
    given = answered(raw, "capital_question")
    if given is None:
        return ask({"capital_question": sample("What is the capital of France?")})
    return text(f"Sampling response: {given}")


async def by_roots(request: Request, raw: JsonObject) -> JsonObject:
    given = answered(raw, "client_roots")
    return ask({"client_roots": ROOTS}) if given is None else text(f"Roots: {given.get('roots')}")


async def with_state(request: Request, raw: JsonObject) -> JsonObject:
    if accepted(raw, "confirm") is None:
        return ask({"confirm": elicit("Please confirm", ok="boolean")}, seal(step=1))
    unseal(raw.get("requestState") or "")
    return text("state-ok: the state came back untouched")


async def several(request: Request, raw: JsonObject) -> JsonObject:
    if accepted(raw, "user_name") is None or not answered(raw, "greeting") or not answered(raw, "client_roots"):
        questions = {
            "user_name": elicit("What is your name?", name="string"),
            "greeting": sample("Generate a greeting"),
            "client_roots": ROOTS,
        }
        return ask(questions, seal(step=1))
    return text("All three answers arrived.")


async def rounds(request: Request, raw: JsonObject) -> JsonObject:
    state = unseal(raw["requestState"]) if raw.get("requestState") else {"round": 0}
    if state["round"] == 0:
        return ask({"step1": elicit("What is your name?", name="string")}, seal(round=1))
    if state["round"] == 1:
        return ask({"step2": elicit("What is your favourite colour?", color="string")}, seal(round=2))
    return text("Both rounds are done.")


async def sealed(request: Request, raw: JsonObject) -> JsonObject:
    if raw.get("requestState"):
        unseal(raw["requestState"])
        return text("integrity-ok: the state came back untouched")
    return ask({"confirm": elicit("Please confirm", ok="boolean")}, seal(step=1))


async def by_capability(request: Request, raw: JsonObject) -> JsonObject:
    declared = _declared(request)
    if raw.get("inputResponses"):
        return text("Thank you.")
    possible = {
        "elicitation": ("user_name", elicit("What is your name?", name="string")),
        "sampling": ("greeting", sample("Generate a greeting")),
        "roots": ("client_roots", ROOTS),
    }
    questions = {name: question for kind, (name, question) in possible.items() if kind in declared}
    return ask(questions) if questions else text("Nothing can be asked.")


async def needs_sampling(request: Request, raw: JsonObject) -> JsonObject:
    if "sampling" not in _declared(request):
        data: JsonObject = {"requiredCapabilities": {"sampling": {}}}
        raise RpcError(MISSING_CAPABILITY, "Missing required client capability: sampling", data)
    return text("sampling is there")


async def logs(request: Request, raw: JsonObject) -> JsonObject:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await request.log("info", words)
    return text("Tool with logging executed successfully")


def asks_client(method: str, params: Callable[[JsonObject], JsonObject]) -> Handler:
    async def handler(request: Request, raw: JsonObject) -> JsonObject:
        answer = await request.ask(method, params(raw.get("arguments") or {}))
        return text(f"The client answered: {json.dumps(answer)}")

    return handler


def _form(message: str, properties: JsonObject, required: list[str] | None = None) -> JsonObject:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return {"message": message, "requestedSchema": schema}


_DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
_ENUMS = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}, "minItems": 1, "maxItems": 3},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}, "minItems": 1, "maxItems": 3},
}

ASKING: dict[str, Handler] = {
    "test_tool_with_logging": logs,
    "test_logging_tool": logs,
    "test_missing_capability": needs_sampling,
    "test_sampling": asks_client("sampling/createMessage", lambda args: sample(args["prompt"])["params"]),
    "test_elicitation": asks_client(
        "elicitation/create",
        lambda args: _form(args["message"], {"response": {"type": "string"}}, ["response"]),
    ),
    "test_elicitation_sep1034_defaults": asks_client("elicitation/create", lambda _: _form("Review", _DEFAULTS)),
    "test_elicitation_sep1330_enums": asks_client("elicitation/create", lambda _: _form("Choose", _ENUMS)),
    "test_input_required_result_elicitation": by_elicitation,
    "test_input_required_result_sampling": by_sampling,
    "test_input_required_result_list_roots": by_roots,
    "test_input_required_result_request_state": with_state,
    "test_input_required_result_multiple_inputs": several,
    "test_input_required_result_multi_round": rounds,
    "test_input_required_result_tampered_state": sealed,
    "test_input_required_result_capabilities": by_capability,
}


def _declared(request: Request) -> set[str]:
    return set(request.client.capabilities)
