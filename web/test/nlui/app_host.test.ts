import { expect, test, vi } from "vitest";
import { appHost, type HostServices, type Message } from "../../src/nlui/app_host";

function host(services: Partial<HostServices> = {}) {
  const sent: Message[] = [];
  const made = appHost({
    send: (message) => sent.push(message),
    ask: vi.fn(() => Promise.resolve({ tools: [] })),
    say: () => Promise.resolve(true),
    openLink: () => Promise.resolve(true),
    save: () => Promise.resolve(true),
    resized: () => undefined,
    display: (mode) => mode,
    closed: () => undefined,
    log: () => undefined,
    context: () => ({ theme: "dark" }),
    sandbox: {},
    ...services,
  });
  const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Message> => {
    made.receive({ jsonrpc: "2.0", id: 1, method, params });
    await vi.waitFor(() => expect(sent.some((one) => one.id === 1)).toBe(true));
    return sent.splice(sent.findIndex((one) => one.id === 1), 1)[0] as Message;
  };
  const ready = (): void => made.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  return { made, sent, ask, ready };
}

test("the handshake tells version, host, capabilities and context", async () => {
  const { result } = await host().ask("ui/initialize", { appCapabilities: {} });

  expect(result).toMatchObject({ protocolVersion: "2026-01-26", hostInfo: { name: "nlui" }, hostContext: { theme: "dark", displayMode: "inline" } });
});

test("nothing is sent before the app is initialized, then input, result and the rest in order", () => {
  const { made, sent, ready } = host();
  made.notify("notifications/resources/updated", { uri: "ui://x" });
  made.show({ a: 1 }, { result: { content: [] } });
  expect(sent).toEqual([]);

  ready();

  expect(sent.map((one) => one.method)).toEqual(["ui/notifications/tool-input", "ui/notifications/tool-result", "notifications/resources/updated"]);
});

test("input and result are each sent once", () => {
  const { made, sent, ready } = host();
  ready();
  made.show({ a: 1 }, null);
  made.show({ a: 1 }, { cancelled: "no" });
  made.show({ a: 1 }, { cancelled: "no" });

  expect(sent.map((one) => [one.method, one.params])).toEqual([
    ["ui/notifications/tool-input", { arguments: { a: 1 } }],
    ["ui/notifications/tool-cancelled", { reason: "no" }],
  ]);
});

test("a request for the server is passed on, and its failure becomes an error with the code", async () => {
  const { ask } = host({ ask: () => Promise.reject(Object.assign(new Error("no such tool"), { code: -32602 })) });

  expect((await ask("tools/call", { name: "x" })).error).toEqual({ code: -32602, message: "no such tool" });
});

test.each(["sampling/createMessage", "ui/other", "initialize"])("%s is not known", async (method) => {
  expect((await host().ask(method)).error?.code).toBe(-32601);
});

test("what the person refuses is an error", async () => {
  const { ask } = host({ say: () => Promise.resolve(false), openLink: () => Promise.resolve(false) });

  expect((await ask("ui/message", { role: "user", content: [{ type: "text", text: "hi" }] })).error?.code).toBe(-32000);
  expect((await ask("ui/open-link", { url: "https://example.com" })).error?.code).toBe(-32000);
});

test.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", ""])("the link %s is never offered", async (url) => {
  const openLink = vi.fn(() => Promise.resolve(true));

  expect((await host({ openLink }).ask("ui/open-link", { url })).error).toBeDefined();
  expect(openLink).not.toHaveBeenCalled();
});

test("a display mode that the app did not declare, or that we lack, changes nothing", async () => {
  const { ask } = host();
  await ask("ui/initialize", { appCapabilities: { availableDisplayModes: ["inline"] } });

  expect((await ask("ui/request-display-mode", { mode: "fullscreen" })).result).toEqual({ mode: "inline" });
  expect((await ask("ui/request-display-mode", { mode: "pip" })).result).toEqual({ mode: "inline" });
});

test("a declared display mode is used", async () => {
  const { ask } = host();
  await ask("ui/initialize", { appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } });

  expect((await ask("ui/request-display-mode", { mode: "fullscreen" })).result).toEqual({ mode: "fullscreen" });
});

test("closing waits for the app's answer", async () => {
  const { made, sent, ready } = host();
  ready();
  let ended = false;
  const ending = made.teardown().then(() => (ended = true));
  expect(sent.at(-1)).toMatchObject({ id: "teardown", method: "ui/resource-teardown" });
  expect(ended).toBe(false);

  made.receive({ jsonrpc: "2.0", id: "teardown", result: {} });
  await ending;

  expect(ended).toBe(true);
});
