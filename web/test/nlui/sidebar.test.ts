import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Sidebar, sidebar } from "../../src/nlui/sidebar";
import { buttonIn } from "../person/approval";
import { type FakeApi, fakeApi } from "./fake_api";

let api: FakeApi;
let bar: Sidebar;
let log: string[];

beforeEach(() => {
  api = fakeApi();
  log = [];
  api.answers["GET /api/conversations"] = [{ id: "c1", title: "Orders", updated_at: "" }, { id: "c2", title: "", updated_at: "" }];
  bar = sidebar({ go: (id) => void log.push(`go ${id}`), begin: () => void log.push("new"), problem: (error) => void log.push(String(error)), prompts: () => void log.push("prompts") });
  document.body.replaceChildren(bar.element);
});

afterEach(() => void vi.unstubAllGlobals());

test("conversations are listed with the open one marked, and can be opened", async () => {
  await bar.refresh("c1");
  expect([...bar.element.querySelectorAll(".nlui-talk")].map((link) => [link.textContent, link.getAttribute("aria-current")])).toEqual([["Orders", "true"], ["Untitled", "false"]]);
  buttonIn(bar.element, "Untitled").click();
  buttonIn(bar.element, "New conversation").click();
  buttonIn(bar.element, "Manage").click();
  expect(log).toEqual(["go c2", "new", "prompts"]);
});

test("the model and its key are shown, and the tokens that were used", async () => {
  await bar.refresh("c1");
  expect(bar.element.querySelector(".nlui-model")?.textContent).toBe("Scripted demoscripted answers, no key needed");
  api.answers["GET /api/config/llm"] = { provider: "openai", model: "gpt", has_key: true };
  await bar.refresh("c1");
  bar.showUsage({ input_tokens: 10, output_tokens: 5 });
  expect([bar.element.querySelector(".nlui-model")?.textContent, bar.element.textContent.includes("This conversation: 10 tokens in, 5 out")]).toEqual(["gptopenai · with a key", true]);
});

test("an older answer does not overwrite a newer one", async () => {
  const first = bar.refresh("c1");
  api.answers["GET /api/conversations/c2/tools"] = { enabled_sources: null, disabled_tools: [] };
  const second = bar.refresh("c2");
  await Promise.all([first, second]);
  expect(bar.element.querySelector("[aria-current=true]")?.textContent).toBe("Untitled");
});
