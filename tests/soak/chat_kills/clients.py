"""The roles of clients: each a process of its own, which is killed too and goes on where its history ends.

`python -m soak.chat_kills.clients ROLE NAME FOLDER`; FOLDER has `product.json` (ports and credentials) and
`history/`. A client ends when FOLDER has a file `stop`, once it has finished what it began.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

from soak.chat_kills.client import PERIOD, REFUSED, Client, page, structured
from soak.chat_kills.wire import Json, RefusedError

LONGEST_TASK = 100


# --- the person writes --------------------------------------------------------------------------------------------


def human(client: Client) -> None:
    """Post as the person, each message until it is acknowledged, and look at the conversation in between."""
    for one in client.unfinished("post"):
        _say(client, one["object"], one["in"]["key"])
    while not client.is_over:
        place = "talk/agent" if client.dice.random() < 0.05 else f"talk/{client.talk()}"
        if client.dice.random() < 0.7:
            _say(client, place, client.key())
        else:
            _look(client, place)
        time.sleep(client.dice.uniform(0.02, 0.15))


def _look(client: Client, place: str) -> None:
    client.once(place, "read", {"after": None, "authors": []}, lambda: _person_page(client, place))


def _say(client: Client, place: str, key: str) -> None:
    def post() -> Json:
        body = {"content": f"{key} says the person", "client_id": key, "conversation": place.partition("/")[2]}
        answer = client.person.send("POST", "/chat/messages", body)
        if answer.status not in {200, 201}:
            raise RefusedError(answer.body.decode(), answer.status)
        return {"id": answer.json()["id"]}

    client.until_done(place, "post", {"key": key, "author": "user"}, post)


def _person_page(client: Client, place: str) -> Json:
    answer = client.person.send("GET", f"/chat/messages?conversation={place.partition('/')[2]}")
    if answer.status != 200:
        raise RefusedError(answer.body.decode(), answer.status)
    return page(answer.json())


# --- agents -------------------------------------------------------------------------------------------------------


def agent(client: Client) -> None:
    """Read, wait, acknowledge and answer, as an agent does over MCP."""
    for one in client.unfinished("post"):
        _answer(client, one["object"], one["in"]["key"])
    cursors: dict[str, str | None] = {}
    marks: dict[str, str | None] = {}
    while not client.is_over:
        place = f"talk/{client.talk()}"
        match client.dice.choice(("read", "read", "wait", "advance", "advance", "post", "post")):
            case "post":
                _answer(client, place, client.key())
            case "advance":
                _advance(client, place, marks)
            case way:
                _read(client, place, cursors, waits=way == "wait")
        time.sleep(client.dice.uniform(0.0, 0.05))


def _answer(client: Client, place: str, key: str) -> None:
    arguments = {"content": f"{key} says an agent", "client_id": key, "conversation": place.partition("/")[2]}

    def post() -> Json:
        return {"id": structured(client.agent.call("chat_assistant_post", arguments))["id"]}

    client.until_done(place, "post", {"key": key, "author": "assistant"}, post)


def _read(client: Client, place: str, cursors: dict[str, str | None], *, waits: bool) -> None:
    after, authors = cursors.get(place), client.dice.choice(([], ["user"]))
    given = {"after_id": after, "authors": authors or None, "conversation": place.partition("/")[2]}
    tool, more = ("chat_wait_since", {"timeout_s": client.dice.uniform(0.1, 1.5)}) if waits else ("chat_read_since", {})

    def work() -> Json:
        return page(structured(client.agent.call(tool, {**given, **more})))

    found = client.once(place, "read", {"after": after, "authors": authors}, work)
    if found and "refused" not in found and client.dice.random() < 0.9:  # else as after a crash: read again
        cursors[place] = found["last"]


def _advance(client: Client, place: str, marks: dict[str, str | None]) -> None:
    ack = marks.get(place)
    arguments = {"ack": ack, "conversation": place.partition("/")[2], "limit": client.dice.choice((None, 3))}

    def work() -> Json:
        return page(structured(client.agent.call("chat_read_and_advance", arguments)))

    found = client.once(place, "advance", {"ack": ack}, work)
    if found and "refused" not in found:
        marks[place] = found["last"]


# --- questions ----------------------------------------------------------------------------------------------------


def asker(client: Client) -> None:
    """Ask the person, as a call that returns at once or as a task, and look what became of older questions."""
    while not client.is_over:
        key = client.key()
        place = f"question/{key}"
        wait = client.dice.choice((0, LONGEST_TASK))
        arguments = {"questions": [{"text": f"{key} which colour?"}], "wait": wait}
        made = client.once(place, "ask", {"task": wait > 0}, partial(_asked, client, arguments))
        if made and "task" in made and client.dice.random() < 0.25:
            _cancel(client, place, made["task"])
        for one in _some_of(client, "ask", 4):
            look_at(client, one)
        time.sleep(client.dice.uniform(0.0, 0.2))


def _asked(client: Client, arguments: Json) -> Json:
    result = client.agent.call("ui_ask", arguments)
    if result.get("resultType") == "task":
        return {"task": result["taskId"]}
    return _question(structured(result))


def _question(found: Json) -> Json:
    return {"id": found["id"], "status": found["status"], "value": (found.get("answers") or [None])[0]}


def _cancel(client: Client, place: str, task: str) -> None:
    def work() -> Json:
        client.agent.request("tasks/cancel", {"taskId": task})
        return {"ok": True}

    client.once(place, "cancel", {"task": task}, work)


def _some_of(client: Client, function: str, count: int) -> list[Json]:
    made = [one for one in client.mine if one["f"] == function and "refused" not in one.get("out", REFUSED)]
    return client.dice.sample(made[-12:], min(count, len(made[-12:])))


def look_at(client: Client, asked: Json) -> Json | None:
    """Look what became of a question or an order that an operation asked."""
    place, out = asked["object"], asked["out"]
    if "task" in out:
        return client.once(place, "task", {"task": out["task"]}, lambda: _task(client, out["task"]))
    if "id" in out:
        arguments = {"id": out["id"], "wait": 0}
        return client.once(place, "look", {}, lambda: _question(structured(client.agent.call("ui_ask", arguments))))
    return None


def _task(client: Client, task: str) -> Json:
    found = client.agent.request("tasks/get", {"taskId": task})
    out: Json = {"status": found["status"]}
    result = found.get("result")
    if "error" in found:
        out |= {"error": True, "text": json.dumps(found["error"])}
    if result is not None:
        text = result["content"][0]["text"] if result.get("content") else ""
        out |= {"error": bool(result.get("isError")), "text": text}
        if not result.get("isError") and '"status"' in text:
            out |= _question(json.loads(text)) | {"status": found["status"], "question": json.loads(text)["status"]}
    return out


def answerer(client: Client) -> None:
    """Be the person at the inbox: answer what waits, as others do at the same moment."""
    quiet = 0
    while quiet < 3:
        busy = _answer_questions(client) + _decide_orders(client)
        quiet = quiet + 1 if client.is_over and not busy and (client.folder / "drained").exists() else 0
        time.sleep(client.dice.uniform(0.05, 0.4))


def _answer_questions(client: Client) -> int:
    rows: list[Json] = []

    def listed() -> Json:
        answer = client.person.send("GET", "/inbox")
        if answer.status != 200:
            raise RefusedError(answer.body.decode(), answer.status)
        rows[:] = answer.json()["questions"]
        return {"keys": [one["body"]["fields"][0]["label"].split()[0] for one in rows]}

    if client.once("questions", "list", {}, listed) is None:
        return 1
    for row in _chosen(client, rows):
        key = row["body"]["fields"][0]["label"].split()[0]
        value = client.key()
        body = {"decision": "answer", "values": {"1": value}}
        _decide(client, f"question/{key}", ("answer", {"value": value}), f"/inbox/{row['id']}/answer", body)
    return len(rows)


def _chosen(client: Client, rows: list[Json]) -> list[Json]:
    """Return what is answered now: not everything at once, so that some calls become tasks; in the end all of it."""
    return rows if client.is_over else [row for row in rows if client.dice.random() < 0.08]


def _decide(client: Client, place: str, operation: tuple[str, Json], path: str, body: Json) -> None:
    def work() -> Json:
        answer = client.person.send("POST", path, body)
        if answer.status not in {200, 409}:
            raise RefusedError(answer.body.decode(), answer.status)
        return {"won": answer.status == 200}

    client.once(place, *operation, work)


# --- orders that need an approval ---------------------------------------------------------------------------------


def orderer(client: Client) -> None:
    """Call a tool that needs the person's approval, as a task, and follow it."""
    while not client.is_over:
        key = client.key()
        place = f"order/{key}"
        made = client.once(place, "request", {}, partial(_ordered, client, key))
        if made and "task" in made and client.dice.random() < 0.15:
            _cancel(client, place, made["task"])
        for one in _some_of(client, "request", 4):
            look_at(client, one)
        time.sleep(client.dice.uniform(0.0, 0.2))


def _ordered(client: Client, key: str) -> Json:
    try:
        result = client.agent.call("shop__make_order", {"body": {"key": key}})
    except RefusedError as error:
        return {"status": "failed", "error": True, "text": str(error)}
    if result.get("resultType") == "task":
        return {"task": result["taskId"]}
    return {"status": "completed", "error": bool(result.get("isError")), "text": result["content"][0]["text"]}


def _decide_orders(client: Client) -> int:
    rows: list[Json] = []

    def listed() -> Json:
        answer = client.person.send("GET", "/approvals")
        if answer.status != 200:
            raise RefusedError(answer.body.decode(), answer.status)
        rows[:] = answer.json()["approvals"]
        return {"keys": [one["arguments"]["body"]["key"] for one in rows]}

    if client.once("orders", "list", {}, listed) is None:
        return 1
    for row in _chosen(client, rows):
        decision = client.dice.choice(("approve", "approve", "deny_continue"))
        body = {"decision": decision, "digest": row["digest"]}
        path, place = f"/approvals/{row['id']}/decision", f"order/{row['arguments']['body']['key']}"
        _decide(client, place, ("decide", {"decision": decision}), path, body)
    return len(rows)


# --- files --------------------------------------------------------------------------------------------------------


def attacher(client: Client) -> None:
    """Upload files, send messages with them, and look at both."""
    for one in client.unfinished("send"):
        _send(client, one["object"], one["in"])
    while not client.is_over:
        key = client.key()
        data = f"content of {key} ".encode() * client.dice.randint(1, 2000)
        digest = sha256(data).hexdigest()
        client.until_done(f"file/{digest}", "put", {}, partial(_uploaded, client, data))
        place = f"files/{int(time.monotonic() // PERIOD)}"
        _send(client, place, {"key": key, "digest": digest})
        client.once(place, "read", {}, partial(conversation, client, place))
        client.once(f"file/{digest}", "get", {}, partial(downloaded, client, digest))
        time.sleep(client.dice.uniform(0.0, 0.2))


def _uploaded(client: Client, data: bytes) -> Json:
    answer = client.chat.send("POST", "/api/attachments?name=notes.txt", raw=data)
    if answer.status != 201:
        raise RefusedError(answer.body.decode(), answer.status)
    return {"digest": answer.json()["id"]}


def _send(client: Client, place: str, given: Json) -> None:
    body = {
        "message": f"{given['key']} look at this",
        "conversation_id": place.replace("/", "-"),
        "client_id": given["key"],
        "attachments": [{"id": given["digest"], "name": "notes.txt"}],
    }

    def work() -> Json:
        status = client.chat.accepted("/api/chat", body)
        if status != 200:
            raise RefusedError(str(status), status)
        return {"ok": True}

    client.until_done(place, "send", given, work)


def conversation(client: Client, place: str) -> Json:
    """Return the person's messages in a conversation, with the digests of their files."""
    answer = client.chat.send("GET", f"/api/conversations/{place.replace('/', '-')}")
    if answer.status != 200:
        raise RefusedError(answer.body.decode(), answer.status)
    said = [one["content"] for one in answer.json()["messages"] if one["role"] == "user"]
    return {"messages": [[text.split()[0], text.rpartition("attachment:")[2].rstrip(")")] for text in said]}


def downloaded(client: Client, digest: str) -> Json:
    """Return the digest of what the server says is the file of this digest; empty if it says there is none."""
    answer = client.chat.send("GET", f"/api/attachments/{digest}")
    if answer.status not in {200, 404}:
        raise RefusedError(answer.body.decode(errors="replace"), answer.status)
    return {"digest": sha256(answer.body).hexdigest() if answer.status == 200 else ""}


ROLES: dict[str, Callable[[Client], None]] = {
    "human": human,
    "agent": agent,
    "asker": asker,
    "answerer": answerer,
    "orderer": orderer,
    "attacher": attacher,
}


def main() -> None:
    role, name, folder = sys.argv[1:]
    ROLES[role](Client(name, Path(folder)))


if __name__ == "__main__":
    main()
