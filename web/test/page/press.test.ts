import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Press } from "../../src/page/press";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function pressing(html: string): { applied: string[]; press: Press; happens: (type: string) => void } {
  document.body.innerHTML = html;
  const applied: string[] = [];
  const press = new Press((frame) => applied.push(frame), document.body);
  const happens = (type: string): void => void document.body.firstElementChild?.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  return { applied, press, happens };
}

test("frames wait until what is pressed was clicked, and keep their order", () => {
  const { applied, press, happens } = pressing("<button>Send</button>");
  press.receive("before");
  happens("pointerdown");
  press.receive("one");
  press.receive("two");
  happens("pointerup");
  expect(applied).toEqual(["before"]);
  vi.runAllTimers();
  press.receive("after");
  expect(applied).toEqual(["before", "one", "two", "after"]);
});

test("somebody who holds a control down waits only for a moment", () => {
  const { applied, press, happens } = pressing("<button>Send</button>");
  happens("pointerdown");
  press.receive("one");
  vi.runAllTimers();
  expect(applied).toEqual(["one"]);
});

test("what is no control, or is dragged, holds nothing back", () => {
  for (const html of ["<p>text</p>", '<input type="range">']) {
    const { applied, press, happens } = pressing(html);
    happens("pointerdown");
    press.receive("one");
    expect(applied).toEqual(["one"]);
  }
});

test("frames of a connection that was lost are forgotten", () => {
  const { applied, press, happens } = pressing("<button>Send</button>");
  happens("pointerdown");
  press.receive("old");
  press.reset();
  vi.runAllTimers();
  expect(applied).toEqual([]);
});
