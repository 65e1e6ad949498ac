import { beforeEach, expect, test, vi } from "vitest";
import { offerHistory, takeBack } from "../../src/history/keys";
import { HistoryRequests } from "../../src/history/requests";

let asked: string[];
let requests: HistoryRequests;

beforeEach(() => {
  document.elementsFromPoint = () => []; // there is no layout here
  document.body.innerHTML = '<input id="text"><input id="box" type="checkbox"><button id="press">x</button>';
  asked = [];
  requests = new HistoryRequests((frame) => {
    const { data } = JSON.parse(frame) as { data: { id: number; action: string } };
    asked.push(data.action);
    queueMicrotask(() => requests.receive({ id: data.id, result: { label: "Delete task 'milk'", kept: ["title"] } }));
    return true;
  });
});

const press = (id: string, key: string, more: KeyboardEventInit = {}): void => {
  document.getElementById(id)?.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey: true, bubbles: true, composed: true, ...more }));
};

test("the keys of undo and redo work outside of text fields only", () => {
  offerHistory(requests);
  press("text", "z");
  press("press", "z");
  press("box", "Z", { shiftKey: true });
  press("press", "y");
  press("press", "z", { altKey: true });
  expect(asked).toEqual(["undo", "redo", "redo"]);
});

test("what was taken back is said, and what stayed", async () => {
  await takeBack(requests, "undo");
  expect(document.querySelector(".ui-notice-text")?.textContent).toBe("Undone: Delete task 'milk'. Changed since, so kept: title");
});

test("a past moment has no keys", () => {
  vi.stubGlobal("name", "ui-past");
  const before = asked.length;
  offerHistory(requests);
  expect(asked.length).toBe(before);
  vi.unstubAllGlobals();
});
