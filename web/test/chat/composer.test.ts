import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { composer, type Composer, type Files } from "../../src/chat/composer";
import { element } from "../view/open_app";

let sent: string[];
let write: Composer;
const field = (): HTMLTextAreaElement => element("textarea", HTMLTextAreaElement);
const press = (key: string, more: KeyboardEventInit = {}): KeyboardEvent => {
  const event = new KeyboardEvent("keydown", { key, cancelable: true, bubbles: true, ...more });
  field().dispatchEvent(event);
  return event;
};
const type = (text: string): void => {
  field().value = text;
  field().dispatchEvent(new Event("input"));
};

beforeEach(() => {
  sent = [];
  write = composer((content) => void sent.push(content));
  document.body.replaceChildren(write.element);
});

test("Enter sends what was written and empties the field", () => {
  type("  hello ");
  press("Enter");
  expect([sent, field().value, element("button", HTMLButtonElement).disabled]).toEqual([["hello"], "", true]);
});

test("Shift+Enter and an Enter of an input method write on", () => {
  type("hello");
  expect([press("Enter", { shiftKey: true }).defaultPrevented, press("Enter", { isComposing: true }).defaultPrevented, sent]).toEqual([false, false, []]);
});

test("nothing but white space is not sent", () => {
  type("  ");
  press("Enter");
  expect(sent).toEqual([]);
});

test("ArrowUp brings the last text back into the empty field only", () => {
  type("hello");
  press("Enter");
  press("ArrowUp");
  expect(field().value).toBe("hello");
  type("other");
  press("ArrowUp");
  expect(field().value).toBe("other");
});

test("a text that could not be sent comes back unless another one was begun", () => {
  write.restore("lost");
  expect(field().value).toBe("lost");
  write.restore("older");
  expect(field().value).toBe("lost");
});

test("files alone can be sent once they are uploaded", () => {
  let [count, ready] = [0, true];
  let changed = (): void => undefined;
  const files = (told: () => void): Files => {
    changed = told;
    return { button: document.createElement("button"), list: document.createElement("ul"), count: () => count, isReady: () => ready };
  };
  let drafts = 0;
  write = composer((content) => void sent.push(content), { files, changed: () => (drafts += 1) });
  document.body.replaceChildren(write.element);
  press("Enter");
  [count, ready] = [1, false];
  changed();
  press("Enter");
  expect([sent, element(".chat-send", HTMLButtonElement).disabled]).toEqual([[], true]);
  ready = true;
  changed();
  press("Enter");
  expect([sent, drafts]).toEqual([[""], 2]);
});

describe("the height of the field", () => {
  let resized: ResizeObserverCallback;
  let text = 0;
  beforeEach(() => {
    vi.stubGlobal("ResizeObserver", class {
      constructor(callback: ResizeObserverCallback) {
        resized = callback;
      }
      observe(): void {}
    });
    write = composer(() => undefined);
    document.body.replaceChildren(write.element);
    Object.defineProperty(field(), "scrollHeight", { get: () => text });
    Object.defineProperty(field(), "offsetHeight", { get: () => 42 });
    Object.defineProperty(field(), "clientHeight", { get: () => 40 });
  });
  afterEach(() => vi.unstubAllGlobals());
  const widen = (width: number): void => resized([{ contentRect: { width } } as ResizeObserverEntry], {} as ResizeObserver);

  test("is that of its text and its border, up to a limit", () => {
    text = 60;
    write.set("two\nlines");
    expect(field().style.height).toBe("62px");
    text = 900;
    write.set("many lines");
    expect(field().style.height).toBe("220px");
  });

  test("is not taken from a field that is not displayed, but once it is", () => {
    text = 0;
    write.set("draft");
    expect(field().style.height).toBe("");
    text = 60;
    widen(300);
    expect(field().style.height).toBe("62px");
    text = 80;
    widen(300);
    expect(field().style.height).toBe("62px");
    widen(200);
    expect(field().style.height).toBe("82px");
  });
});
