/**
 * Ask the person through a task, with the client that the Tasks extension publishes: `with_tasks.mjs URL`.
 *
 * Prints the id of the task, waits for its end over restarts of the server, then cancels a second one. Every answer is
 * checked against the schemas of the extension.
 */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, DispatchError, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import * as schemas from "@modelcontextprotocol/ext-tasks/core/v2";

const url = process.argv[2];
const framing = {
  protocolVersion: "2026-07-28",
  clientInfo: { name: "ext-tasks", version: "1" },
  clientCapabilities: { extensions: { [schemas.TASKS_EXTENSION_ID_V2]: {} } },
};
const shapes = {
  "tools/call": schemas.CreateTaskResultV2Schema,
  "tasks/get": schemas.GetTaskResultV2Schema,
  "tasks/cancel": schemas.CancelTaskResultV2Schema,
};
/** How long the server may be away. */
const AWAY_MS = 120_000;
const checked = {};
let cutOff = 0;
let count = 0;

const client = new Client({ name: "ext-tasks", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const session = createTaskSessionFromClient(client, { endpointId: "test", rawDispatch, v2RequestFraming: framing });

const asked = await call("Which colour?");
console.log(JSON.stringify({ task: asked.handle.taskId }));
const { outcome } = await asked.settle();
const answer = JSON.parse(resultFromTaskOutcome(outcome).content[0].text);

const second = await call("Which size?");
await second.cancel();
const cancelled = (await second.settle()).outcome.status;
console.log(JSON.stringify({ answer, cancelled, checked, cutOff }));
process.exit(0);

function call(text) {
  return session.callTool("ui_ask", { questions: [{ text }], wait: 100 });
}

/** Send one request; while the server is away it may be sent again. */
async function rawDispatch(request) {
  const { method, params = {} } = request;
  const name = params.name ?? params.taskId;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": framing.protocolVersion,
    "mcp-method": method,
    ...(name ? { "mcp-name": name } : {}),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: ++count, ...request });
  const post = () => fetch(url, { method: "POST", headers, body }).then((answer) => answer.text());
  let text = null;
  // The client itself gives up after a few tries, sooner than a busy machine has started a server again.
  for (const until = Date.now() + AWAY_MS; (text = await post().catch(() => null)) === null; ) {
    await away(Date.now() > until);
  }
  const data = text.startsWith("{") ? text : text.split("\n").findLast((line) => line.startsWith("data:")).slice(5);
  const message = JSON.parse(data);
  if (message.error) return { kind: "error", error: schemas.ErrorV2Schema.parse(message.error) };
  shapes[method].parse(message.result);
  checked[method] = (checked[method] ?? 0) + 1;
  return { kind: "result", result: message.result };
}

async function away(forGood) {
  cutOff += 1;
  if (forGood) throw new DispatchError("the server does not come back", true);
  await new Promise((done) => setTimeout(done, 200));
}
