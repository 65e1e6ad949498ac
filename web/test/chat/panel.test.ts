import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { togglePanel } from "../../src/chat/panel";
import { approval } from "../person/approval";
import { FakeSocket } from "../transport/fake_socket";
import { element } from "../view/open_app";

let url: string | null;
let log: string[];

beforeEach(() => {
  url = "http://127.0.0.1:9/person/";
  log = [];
  FakeSocket.opened = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("fetch", (path: string) => {
    if (path === "/person-url") return url === "unknown" ? Promise.reject(new TypeError("no")) : Promise.resolve(Response.json({ url }));
    if (path === "/approvals") return Promise.resolve(Response.json({ approvals: [approval()] }));
    if (path === "/inbox") return Promise.resolve(Response.json({ questions: [{ id: "q1", kind: "permission", agent: "Codex" }] }));
    if (path.startsWith("/chat/messages")) return Promise.resolve(Response.json({ messages: [], has_earlier: false }));
    return new Promise(() => undefined);
  });
  document.body.innerHTML = "<button id=before></button>";
  element("#before").focus();
});

afterEach(() => void vi.unstubAllGlobals());

const toggle = (): void => togglePanel(() => log.push("opened"), () => log.push("closed"));

test("the panel opens with a link to the person's page, and Escape closes it and returns the focus", async () => {
  toggle();
  await vi.waitFor(() => expect(element(".chat-elsewhere-link").getAttribute("href")).toBe(url));
  expect([element(".chat-elsewhere-link").getAttribute("rel"), document.querySelector(".chat-panel textarea")]).toEqual(["noopener", null]);
  element(".chat-panel").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  expect([document.querySelector(".chat-panel"), document.activeElement?.id, log]).toEqual([null, "before", ["opened", "closed"]]);
});

test("waiting calls are shown without a way to answer them", async () => {
  toggle();
  await vi.waitFor(() => expect(element(".chat-waiting h2").textContent).toBe("2 questions are waiting for your answer"));
  expect(element(".chat-waiting li:last-child").textContent).toBe("Codex asks for your permission");
  expect(document.querySelector(".chat-waiting button")).toBeNull();
  toggle();
});

test.each([
  [null, "This server has no page for messages and approvals."],
  ["unknown", "The address of your page is unknown. Run: ui-mcp open"],
])("without a page of the person (%s) it says so", async (given, text) => {
  url = given;
  toggle();
  await vi.waitFor(() => expect(element(".chat-elsewhere p").textContent).toBe(text));
  toggle();
});
