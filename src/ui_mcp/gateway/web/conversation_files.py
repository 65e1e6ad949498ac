"""Conversations as files: Markdown, JSON with everything in it, and a page that needs nothing else."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape

from ui_mcp.chat.attachments import IMAGES, AttachmentStore, attachments_in, without_references
from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject, dumps

_ROLES = {"user": "You", "assistant": "Assistant", "tool": "Tool"}


async def written(form: str, title: str, messages: Sequence[JsonObject], store: AttachmentStore) -> str:
    """Return a conversation in one of `FORMATS`, with the files that were attached."""
    whole = [await _with_files(message, store) for message in messages]
    return _WRITERS[form](title or "Conversation", whole)


async def _with_files(message: JsonObject, store: AttachmentStore) -> JsonObject:
    """Return a message with its files as `{name, mime, data}`; one that is gone has its name alone."""
    if message["role"] != "user":
        return message
    files: list[JsonObject] = []
    for attached in attachments_in(message["content"]):
        try:
            stored = await store.get(attached.digest)
            files.append({"name": attached.name, "mime": stored.mime, "data": b64encode(stored.data).decode()})
        except NotFoundError:
            files.append({"name": attached.name})
    return {**message, "content": without_references(message["content"]), "attachments": files} if files else message


def as_markdown(title: str, messages: Sequence[JsonObject]) -> str:
    parts = [f"# {title}"]
    for message in messages:
        names = [f"Attached: {file['name']}" for file in _files(message)]
        parts += [f"## {_heading(message)}", *filter(None, [_text(message)]), *names]
    return "\n\n".join(parts) + "\n"


def as_html(title: str, messages: Sequence[JsonObject]) -> str:
    """Return a page of texts and images, so that nothing in a conversation can run or be loaded from elsewhere."""
    shown = "\n".join(
        f'<article class="{message["role"]}"><h2>{escape(_heading(message))}</h2>'
        f"<div>{escape(_text(message))}</div>{''.join(map(_figure, _files(message)))}</article>"
        for message in messages
    )
    return PAGE.format(title=escape(title), shown=shown)


def _figure(file: JsonObject) -> str:
    name = escape(file["name"])
    if file.get("mime") not in IMAGES:
        return f"<p>Attached: {name}</p>"
    address = f"data:{file['mime']};base64,{file['data']}"
    return f'<figure><img src="{address}" alt="{name}"><figcaption>{name}</figcaption></figure>'


def as_json(title: str, messages: Sequence[JsonObject]) -> str:
    return dumps({"title": title, "messages": list(messages)})


def _files(message: JsonObject) -> Sequence[JsonObject]:
    files: Sequence[JsonObject] = message.get("attachments", ())
    return files


def _heading(message: JsonObject) -> str:
    role = _ROLES[message["role"]]
    return f"{role}: {message['name']}" if "name" in message else role


def _text(message: JsonObject) -> str:
    if message["role"] != "tool":
        return str(message["content"])
    result = (message["content"] or {}).get("result")
    said = result if isinstance(result, str) else dumps(result)
    return f"```json\n{dumps(message['arguments'])}\n```\n\n```\n{said}\n```"


FORMATS = {"md": "text/markdown", "json": "application/json", "html": "text/html"}
_WRITERS: dict[str, Callable[[str, Sequence[JsonObject]], str]] = {
    "md": as_markdown,
    "json": as_json,
    "html": as_html,
}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark }}
  body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif }}
  article {{ margin: 1rem 0; padding: .5rem 1rem; border: 1px solid #8884; border-radius: .75rem }}
  article.user {{ background: #6672ff1a }}
  h2 {{ margin: 0; font-size: .85rem; opacity: .7 }}
  div {{ white-space: pre-wrap; overflow-wrap: anywhere }}
  figure {{ margin: .5rem 0 }}
  img {{ max-width: 100%; border-radius: .5rem }}
  figcaption {{ font-size: .85rem; opacity: .7 }}
</style>
<h1>{title}</h1>
{shown}
</html>
"""
