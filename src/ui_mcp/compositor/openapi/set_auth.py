"""`TARGET__set_auth`: give an API a credential for the calls that follow."""

import os
from typing import Literal

from pydantic import Field

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi.auth import DEFAULT, Credential, Credentials, Kind
from ui_mcp.gateway.openapi.model import Api
from ui_mcp.gateway.sanitize import MASK
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import Args, input_schema, parse
from ui_mcp.toolkit.names import closest
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result


class SetAuthArgs(Args):
    """What the caller sends."""

    token: str = Field(description="The credential, or env:NAME to take it from the environment.")
    auth_type: Literal["bearer", "header", "query", "cookie", "basic"] | None = Field(
        None, description="How it is sent; by default as the document says."
    )
    header_name: str = Field("", description="Name of the header, parameter or cookie.")
    scheme: str = Field("", description="Name of the document's security scheme it is for.")


def set_auth_tool(source: str, api: Api) -> Tool:
    """Describe the tool by the schemes of the document."""
    schemes = ", ".join(f"{name} ({scheme.kind})" for name, scheme in api.schemes.items())
    return Tool(
        name=f"{source}__set_auth",
        title=f"Set credentials for {source}",
        description=f"Give {api.title or source} a credential for your following calls; it is kept in memory only."
        + (f" Schemes: {schemes}." if schemes else ""),
        input_schema=input_schema(SetAuthArgs),
        annotations=Annotations(read_only=False, destructive=False, idempotent=True, open_world=False),
    )


def set_auth(credentials: Credentials, api: Api | None, arguments: JsonObject, call: Call) -> ToolResult:
    """Hold the credential for the calling principal."""
    args = parse(SetAuthArgs, arguments)
    schemes = api.schemes if api else {}
    if args.scheme and args.scheme not in schemes:
        near = closest(args.scheme, schemes, 1)
        raise InvalidArgumentsError(
            f"scheme: the document has no {args.scheme!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    token = _value(args.token)
    kind: Kind = args.auth_type or "any"
    credentials.set(call.principal, args.scheme or DEFAULT, Credential(kind, token=token, parameter=args.header_name))
    return structured_result({"ok": True, "scheme": args.scheme or None, "auth_type": args.auth_type, "token": MASK})


def _value(token: str) -> str:
    if not token.startswith("env:"):
        return token
    name = token.removeprefix("env:")
    value = os.environ.get(name)
    if not value:
        raise InvalidArgumentsError(f"token: the environment has no {name}")
    return value
