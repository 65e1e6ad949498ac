import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { conversationSettings, settingsText } from "../../src/nlui/conversation_settings";
import { type FakeApi, fakeApi } from "./fake_api";

let api: FakeApi;
const prompts = { list: () => Promise.resolve([{ name: "French", text: "Answer in French." }]), save: () => Promise.resolve(), remove: () => Promise.resolve() };
const field = (name: string): HTMLInputElement => {
  const label = [...document.querySelectorAll("label")].find((one) => one.firstChild?.textContent === name);
  return label?.querySelector("input, select, textarea") as HTMLInputElement;
};
const save = (): void => void document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));

beforeEach(() => {
  document.body.replaceChildren();
  api = fakeApi();
  api.answers["GET /api/models"] = [{ name: "OpenAI", models: ["small", "large"] }, { name: "Ollama", provider: "openai", api_base: "http://127.0.0.1:11434/v1", models: ["llama"] }];
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test("model, instructions and budget of a conversation are saved together", async () => {
  api.answers["PUT /api/conversations/c1/settings"] = { temperature: 1 };
  const changed = vi.fn();
  await conversationSettings("c1", prompts, changed);
  await vi.waitFor(() => expect(field("Model").querySelectorAll("optgroup")).toHaveLength(2));
  const llama = [...field("Model").querySelectorAll("option")].find((option) => option.textContent === "llama");
  field("Model").value = llama?.value ?? "";
  field("Instructions from the prompt library").value = "Answer in French.";
  field("Instructions from the prompt library").dispatchEvent(new Event("change"));
  field("Temperature").value = "0.5";
  field("Most tokens").value = "1000";
  save();
  await vi.waitFor(() => expect(changed).toHaveBeenCalledWith({ temperature: 1 }));
  const model = { model: "llama", provider: "openai", api_base: "http://127.0.0.1:11434/v1" };
  expect(api.sent).toEqual([["PUT", "/api/conversations/c1/settings", { model, instructions: "Answer in French.", temperature: 0.5, max_tokens: 1000 }]]);
});

test("what was set is shown, and an emptied field goes back to its default", async () => {
  api.answers["GET /api/conversations/c1/settings"] = { model: { model: "large" }, instructions: "Be brief.", max_cost: 2 };
  await conversationSettings("c1", prompts, () => undefined);
  expect([field("Model").value, field("Instructions").value, field("Highest cost").value]).toEqual(['{"model":"large"}', "Be brief.", "2"]);
  field("Instructions").value = " ";
  field("Highest cost").value = "";
  save();
  await vi.waitFor(() => expect(api.sent).toEqual([["PUT", "/api/conversations/c1/settings", { model: { model: "large" } }]]));
});

test("the page names what differs from the defaults", () => {
  expect(settingsText({})).toBe("");
  expect(settingsText({ model: { model: "large" }, instructions: "x", temperature: 0, max_tokens: 5 })).toBe("large · own instructions · temperature 0 · budget");
});
