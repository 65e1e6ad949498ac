import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ModelSettings } from "../../src/nlui/api";
import { modelSettings } from "../../src/nlui/settings";
import { buttonIn } from "../person/approval";
import { type FakeApi, fakeApi } from "./fake_api";

let api: FakeApi;
let changed: ModelSettings[];
const dialog = (): HTMLDialogElement => document.querySelector("dialog") as HTMLDialogElement;
const status = (): string | undefined => dialog().querySelector("[role=status]")?.textContent;
const field = (name: string): HTMLInputElement => {
  const label = [...dialog().querySelectorAll("label")].find((one) => one.querySelector("span")?.textContent === name);
  return label?.querySelector("input, select") as HTMLInputElement;
};

beforeEach(async () => {
  api = fakeApi();
  changed = [];
  api.answers["GET /api/config/llm"] = { provider: "openai", model: "gpt", api_base: "https://api.openai.com/v1", api_key: "sk-…", has_key: true, file: "nlui.yaml" };
  api.answers["GET /api/config/llm/providers"] = [
    { id: "openai", name: "OpenAI", api_base: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
    { id: "ollama", name: "Ollama", api_base: "http://localhost:11434", key: "", running: true, models: ["llama"] },
    { id: "scripted", name: "Scripted demo", api_base: "", key: "" },
  ];
  api.answers["POST /api/config/llm/models"] = { models: ["llama"] };
  await modelSettings((settings) => void changed.push(settings));
});

afterEach(() => {
  document.querySelector("dialog")?.remove();
  vi.unstubAllGlobals();
});

function choose(name: string): void {
  const vendor = field("Vendor") as unknown as HTMLSelectElement;
  vendor.selectedIndex = [...vendor.options].findIndex((option) => option.text.startsWith(name));
  vendor.dispatchEvent(new Event("change"));
}

test("the dialog shows the present settings, with the key masked", () => {
  expect([field("Address").value, field("Model").value, field("or the key itself").placeholder, field("or the key itself").value]).toEqual(["https://api.openai.com/v1", "gpt", "kept: sk-…", ""]);
});

test("another vendor brings its address and, where one is running, its models", async () => {
  choose("Ollama");
  await vi.waitFor(() => expect([...dialog().querySelectorAll("datalist option")].map((option) => option.getAttribute("value"))).toEqual(["llama"]));
  expect([field("Address").value, field("Key from the environment variable").placeholder]).toEqual(["http://localhost:11434", "not needed"]);
});

test("without a model, one that runs on this computer is suggested", async () => {
  dialog().remove();
  api.answers["GET /api/config/llm"] = { provider: "scripted", model: "", api_base: "", api_key: "", has_key: false, file: null };
  await modelSettings(() => undefined);
  expect([field("Address").value, field("Model").value]).toEqual(["http://localhost:11434", "llama"]);
});

test("settings can be tested before they are saved", async () => {
  api.answers["POST /api/config/llm/test"] = { ok: true, ms: 12 };
  buttonIn(dialog(), "Test the connection").click();
  await vi.waitFor(() => expect(status()).toBe("Answered in 12 ms."));
  api.answers["POST /api/config/llm/test"] = { ok: false, error: "The key is refused." };
  buttonIn(dialog(), "Test the connection").click();
  await vi.waitFor(() => expect(status()).toBe("The key is refused."));
  expect(changed).toEqual([]);
});

test("saving sends what was entered, and nothing for a scripted model", async () => {
  api.answers["PUT /api/config/llm"] = 422;
  field("Key from the environment variable").value = "MY_KEY";
  dialog().querySelector("form")?.requestSubmit();
  await vi.waitFor(() => expect(status()).toBe("Not possible"));
  api.answers["PUT /api/config/llm"] = { provider: "scripted" };
  field("Key from the environment variable").value = "";
  choose("Scripted");
  dialog().querySelector("form")?.requestSubmit();
  await vi.waitFor(() => expect(document.querySelector("dialog")).toBeNull());
  expect(api.sent.filter(([method]) => method === "PUT").map(([, , body]) => body)).toEqual([{ provider: "openai", api_base: "https://api.openai.com/v1", model: "gpt", api_key_env: "MY_KEY" }, { provider: "scripted" }]);
  expect(changed).toEqual([{ provider: "scripted" }]);
});
