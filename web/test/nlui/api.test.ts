import { afterEach, expect, test, vi } from "vitest";
import { api, person, sendMessage } from "../../src/nlui/api";

interface Sent {
  readonly path: string;
  readonly method: string;
  readonly body: unknown;
}

/** Answer every request with this, and return the first request. */
function answering(answer: BodyInit, headers: Readonly<Record<string, string>> = {}): () => Sent {
  const fetch = vi.spyOn(person, "fetch").mockImplementation(() => Promise.resolve(new Response(answer, { headers })));
  return () => {
    const [path = "", init] = fetch.mock.calls[0] ?? [];
    const body = init?.body;
    return { path, method: init?.method ?? "GET", body: typeof body === "string" ? JSON.parse(body) : body };
  };
}

afterEach(() => vi.restoreAllMocks());

test.each([
  ["all conversations", () => api.conversations(), "GET /api/conversations", undefined],
  ["those with some words", () => api.conversations("a b"), "GET /api/conversations?q=a%20b", undefined],
  ["a name", () => api.label("a/b", { title: "T" }), "PATCH /api/conversations/a%2Fb", { title: "T" }],
  ["a new conversation", () => api.create(), "POST /api/conversations", {}],
  ["its deletion", () => api.forget("c"), "DELETE /api/conversations/c", {}],
  ["the end of a turn", () => api.stop("c"), "POST /api/chat/stop", { conversation_id: "c" }],
  ["a turn that goes on", () => api.resume("c"), "POST /agents/c/resume", {}],
  ["an edited message", () => api.edit("c", 2, "new"), "PUT /api/conversations/c/messages/2", { content: "new", attachments: [] }],
  ["another version", () => api.version("c", "i"), "PUT /api/conversations/c/version", { item: "i" }],
  ["another answer", () => api.regenerate("c", 1), "POST /api/conversations/c/regenerate", { from_index: 1 }],
  ["an approval", () => api.answer("c", { approved: true }), "POST /api/chat/confirm", { conversation_id: "c", approved: true }],
  ["the chosen tools", () => api.selection("c"), "GET /api/conversations/c/tools", undefined],
  ["a choice of tools", () => api.select("c", { enabled_sources: null, disabled_tools: ["x"] }), "PUT /api/conversations/c/tools", { enabled_sources: null, disabled_tools: ["x"] }],
  ["a removed API", () => api.removeTarget("a b"), "DELETE /api/targets/a%20b", {}],
  ["a server", () => api.addServer({ url: "u" }), "POST /api/servers", { url: "u" }],
  ["a removed server", () => api.removeServer("s"), "DELETE /api/servers/s", {}],
  ["a document read again", () => api.reload("s"), "POST /api/targets/s/reload", {}],
  ["an app", () => api.openApp("t", "c"), "POST /api/apps/views", { tool: "t", conversation: "c" }],
  ["an app that was closed", () => api.closeApp("v"), "DELETE /api/apps/views/v", {}],
  ["a stored result", () => api.result("h"), "GET /api/results/h", undefined],
] as const)("%s is one request", async (_what, call, where, body) => {
  const sent = answering("{}");
  await call();
  const { path, method, body: given } = sent();
  expect([`${method} ${path}`, given]).toEqual([where, body]);
});

test("an app hears the result of its request, or the error", async () => {
  answering('{"result": 7}');
  await expect(api.askApp("v", "tools/call", {})).resolves.toBe(7);
  answering('{"error": {"code": -32601, "message": "unknown"}}');
  await expect(api.askApp("v", "x", {})).rejects.toMatchObject({ code: -32601, message: "unknown" });
});

test("the kind of a result is its media type", async () => {
  answering("{}", { "content-type": "image/png; q=1" });
  await expect(api.kindOf("h")).resolves.toBe("image/png");
});

test("a file is sent as it is, and known by its id", async () => {
  const file = new File(["x"], "a b.txt");
  const sent = answering('{"id": "1", "name": "a b.txt", "size": 1}');
  await expect(api.attach(file)).resolves.toEqual({ id: "1", name: "a b.txt" });
  expect(sent()).toEqual({ path: "/api/attachments?name=a%20b.txt", method: "POST", body: file });
});

test("a message carries its own id, so that it can be sent again", async () => {
  const sent = answering("");
  await sendMessage("c", { text: "hi", files: [], clientId: "k" });
  expect(sent().body).toEqual({ message: "hi", conversation_id: "c", client_id: "k" });
});
