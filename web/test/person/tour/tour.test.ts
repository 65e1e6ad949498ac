import { expect, test, vi } from "vitest";
import type { Fetch } from "../../../src/person/client";
import { tour } from "../../../src/person/tour/tour";

const FEED = { version: 1, run: 1, state: "running", step: 0, steps: ["Hello", "Decide"], turn: "agent", error: "", entries: [] };
const CONNECT = { url: "u", setup: "ui-mcp setup", token: null, hosts: [{ host: "Codex", how: "Run", text: "codex" }] };

/** A server that answers these feeds one after the other, then nothing more. */
function server(...feeds: readonly object[]): { readonly fetch: Fetch; readonly sent: unknown[] } {
  const left = [...feeds];
  const sent: unknown[] = [];
  const fetch: Fetch = (path, options) => {
    if (path === "/connect") {
      return Promise.resolve(Response.json(CONNECT));
    }
    if (options?.method === "POST") {
      sent.push(JSON.parse(options.body as string));
      return Promise.resolve(Response.json({ ok: true }));
    }
    const next = left.shift();
    return next ? Promise.resolve(Response.json(next)) : new Promise(() => undefined);
  };
  return { fetch, sent };
}

test("an approval leads to the questions, and its answer back", async () => {
  const shown: string[] = [];
  const { fetch } = server(FEED, { ...FEED, turn: "approval" }, { ...FEED, turn: "agent" });
  const made = tour(fetch, { tour: () => shown.push("tour"), questions: () => shown.push("questions") });
  await vi.waitFor(() => expect(shown).toEqual(["questions", "tour"]));
  made.stop();
});

test("what the person could point at may be passed over, and the tour is shown again", async () => {
  const shown: string[] = [];
  const { fetch, sent } = server({ ...FEED, turn: "point" }, { ...FEED, turn: "agent" });
  const made = tour(fetch, { tour: () => shown.push("tour"), questions: () => shown.push("questions") });
  const pass = made.element.querySelector<HTMLElement>(".tour-pass");
  await vi.waitFor(() => expect(shown).toEqual(["tour"]));
  pass?.click();
  expect([sent, pass?.hidden]).toEqual([[{ action: "next" }], true]);
  made.stop();
});

test("the end shows how to connect one's own agent", async () => {
  const { fetch, sent } = server(FEED, { ...FEED, state: "done" });
  const made = tour(fetch, { tour: () => undefined, questions: () => undefined });
  await vi.waitFor(() => expect(made.element.textContent).toContain("Now with your own agent"));
  made.element.querySelector<HTMLElement>(".tour-replay")?.click();
  made.begin();
  expect(sent).toEqual([{ action: "start" }, { action: "begin" }]);
  made.stop();
});

test("a tour that failed says why", async () => {
  const { fetch } = server({ ...FEED, state: "failed", error: "No page is open" });
  const made = tour(fetch, { tour: () => undefined, questions: () => undefined });
  await vi.waitFor(() => expect(made.element.querySelector(".tour-says")?.textContent).toBe("No page is open"));
  made.stop();
});
