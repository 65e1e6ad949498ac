import { expect, test } from "vitest";
import { callTool, hostBridge } from "../../src/embed/host";

function open(): { readonly bridge: ReturnType<typeof hostBridge>; readonly posted: unknown[]; readonly say: (data: unknown, source?: unknown) => void } {
  const posted: unknown[] = [];
  const parent = { postMessage: (message: unknown) => void posted.push(message) } as unknown as Window;
  const say = (data: unknown, source: unknown = parent): void => void window.dispatchEvent(Object.assign(new Event("message"), { data, source }));
  return { bridge: hostBridge(parent), posted, say };
}

test("a request is answered by the message with its id", async () => {
  const { bridge, posted, say } = open();
  const [first, second] = [bridge.request("a", { x: 1 }), bridge.request("b", {})];
  expect(posted).toEqual([{ jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } }, { jsonrpc: "2.0", id: 2, method: "b", params: {} }]);
  say({ jsonrpc: "2.0", id: 2, error: { message: "no" } });
  say({ jsonrpc: "2.0", id: 1, result: { y: 2 } });
  expect(await first).toEqual({ y: 2 });
  await expect(second).rejects.toThrow("no");
});

test("requests of the host are answered, notifications are not", () => {
  const { bridge, posted, say } = open();
  const heard: unknown[] = [];
  bridge.on("changed", (params) => void heard.push(params));
  say({ jsonrpc: "2.0", method: "changed", params: { a: 1 } });
  say({ jsonrpc: "2.0", id: "p", method: "ping" });
  expect([heard, posted]).toEqual([[{ a: 1 }], [{ jsonrpc: "2.0", id: "p", result: {} }]]);
});

test("messages of other windows and other protocols are ignored", () => {
  const { bridge, posted, say } = open();
  bridge.on("ping", () => posted.push("heard"));
  say({ jsonrpc: "2.0", id: 1, method: "ping" }, window);
  say({ id: 1, method: "ping" });
  say(null);
  expect(posted).toEqual([]);
});

test("a tool call returns its structured content, or fails with what the tool said", async () => {
  const { bridge, say } = open();
  const good = callTool(bridge, "ui_sync", { session: "1" });
  say({ jsonrpc: "2.0", id: 1, result: { structuredContent: { seq: 1 } } });
  expect(await good).toEqual({ seq: 1 });
  const bad = callTool(bridge, "ui_sync", {});
  say({ jsonrpc: "2.0", id: 2, result: { isError: true, content: [{ type: "text", text: "not started" }] } });
  await expect(bad).rejects.toThrow("not started");
});
