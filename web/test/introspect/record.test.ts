import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Noticed, type PersonRecorder, record, recordInto } from "../../src/introspect/record";
import { createRefs } from "../../src/introspect/refs";

let listeners: Map<string, (event: Event) => void>;
let told: Noticed[];
let recorder: PersonRecorder;

beforeEach(() => {
  vi.useFakeTimers();
  listeners = new Map();
  vi.spyOn(globalThis, "addEventListener").mockImplementation((type: string, listener: unknown) => void listeners.set(type, listener as (event: Event) => void));
  told = [];
  recorder = record(createRefs("r"), [".secret"], (event) => told.push(event));
});

afterEach(() => {
  recorder.stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function show(html: string): Element {
  document.body.innerHTML = html;
  return document.querySelector("[id=it]") ?? (document.body.firstElementChild as Element);
}

/** A person's event, which scripts cannot make. */
function happens(type: string, element: Element, more: Record<string, unknown> = {}): void {
  listeners.get(type)?.({ type, isTrusted: true, composedPath: () => [element], ...more } as unknown as Event);
}

/** What was reported, without what the page showed. */
function steps(): Partial<Noticed>[] {
  const shown = new Set(["capture", "chain", "to", "top"]);
  return told.map((event) => Object.fromEntries(Object.entries(event).filter(([key]) => !shown.has(key))));
}

it("tells a click with what the page showed when the button went down, and later what it changed", () => {
  const button = show("<button>Buy</button>");
  happens("pointerdown", button);
  happens("click", button, { detail: 1, ctrlKey: true });
  vi.runAllTimers();

  expect(steps()).toEqual([{ type: "click", modifiers: ["CTRL"] }, { type: "after" }]);
  expect(told[0]?.chain?.length).toBe(3);
  expect(told.every((event) => event.capture)).toBe(true);
});

it("tells double clicks, right clicks and boxes apart", () => {
  happens("click", show("<p>Row</p>"), { detail: 2 });
  happens("contextmenu", show("<p>Row</p>"), { detail: 1 });
  happens("click", show("<input type=checkbox checked>"), { detail: 1 });

  expect(steps()).toEqual([{ type: "doubleClick" }, { type: "click", button: "right" }, { type: "setChecked", checked: true }]);
});

it("tells one step for the clicks of a label, of a choice and of Enter in a field", () => {
  happens("click", show("<label><b id=it>Gift</b><input type=checkbox></label>"), { detail: 1 });
  happens("click", show("<select><option id=it>Large</option></select>"), { detail: 1 });
  happens("keydown", show("<input>"), { key: "Enter" });
  happens("click", show("<button>Go</button>"), { detail: 0 });

  expect(steps()).toEqual([{ type: "pressKey", key: "Enter" }]);
});

it("tells the text of a field as it grows, and never what is hidden", () => {
  const field = show("<input value=t>") as HTMLInputElement;
  happens("input", field);
  field.value = "te";
  happens("input", field);
  happens("input", show("<input type=password value=hunter2>"));
  happens("input", show("<div class=secret><textarea id=it>pin</textarea></div>"));
  happens("input", show("<input type=radio>"));

  expect(steps()).toEqual([
    { type: "setText", text: "t" },
    { type: "setText", text: "te" },
    { type: "setText", masked: true },
    { type: "setText", masked: true },
  ]);
  expect(told[1]?.capture).toBeUndefined();
});

it("tells choices and files by what people see of them", () => {
  happens("change", show("<select><option>Small<option selected> Large </select>"));
  const files = show("<input type=file>");
  Object.defineProperty(files, "files", { value: [new File([], "a.csv")] });
  happens("change", files);
  happens("change", show("<input>"));

  expect(steps()).toEqual([{ type: "select", value: "Large" }, { type: "setFiles", paths: ["a.csv"] }]);
});

it.each([
  ["<p>text</p>", { key: "ArrowDown" }, { key: "ArrowDown" }],
  ["<p>text</p>", { key: "k", ctrlKey: true, shiftKey: true }, { key: "k", modifiers: ["CTRL", "SHIFT"] }],
  ["<input>", { key: "Escape" }, { key: "Escape" }],
])("tells the keys that do something in %s", (html, pressed, expected) => {
  happens("keydown", show(html), pressed);
  expect(steps()).toEqual([{ type: "pressKey", ...expected }]);
});

it.each([
  ["<input>", { key: "a" }],
  ["<input>", { key: "v", ctrlKey: true }],
  ["<input>", { key: "ArrowLeft" }],
  ["<textarea></textarea>", { key: "Enter" }],
  ["<button>Go</button>", { key: "Enter" }],
  ["<select></select>", { key: "ArrowDown" }],
])("leaves out the keys that other events tell of, in %s", (html, pressed) => {
  happens("keydown", show(html), pressed);
  expect(told).toEqual([]);
});

it("tells a drag when it is dropped", () => {
  const [from, to] = [show("<ul><li id=it>a</li><li>b</li></ul>"), document.querySelectorAll("li")[1] as Element];
  happens("pointerdown", from);
  happens("drop", to);
  happens("dragstart", from);
  happens("drop", to);

  expect(steps()).toEqual([{ type: "drag" }]);
  expect(told[0]?.to?.[0]).not.toBe(told[0]?.chain?.[0]);
});

it("leaves out scripts, agents and the card for pointing", () => {
  const button = show("<button>Go</button>");
  happens("click", button, { isTrusted: false });
  recorder.enable(false);
  happens("click", button, { detail: 1 });
  recorder.enable(true);
  happens("click", show("<ui-mcp-point><b id=it>x</b></ui-mcp-point>"), { detail: 1 });

  expect(told).toEqual([]);
});

it("records once in a document, as JSON", () => {
  const sent: string[] = [];
  recordInto((event) => sent.push(event), []);
  const first = globalThis.uiMcpRecorder;
  recordInto((event) => sent.push(event), []);
  happens("click", show("<button>Go</button>"), { detail: 1 });

  expect(globalThis.uiMcpRecorder).toBe(first);
  expect(sent.map((event) => (JSON.parse(event) as Noticed).type)).toEqual(["click"]);
  first?.stop();
  expect(globalThis.uiMcpRecorder).toBeUndefined();
});
