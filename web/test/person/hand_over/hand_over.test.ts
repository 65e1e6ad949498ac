import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handOver, type HandOver } from "../../../src/person/hand_over/hand_over";

class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  static last: FakeSocket;
  readyState = 1;
  readonly sent: object[] = [];
  constructor() {
    super();
    FakeSocket.last = this;
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as object);
  }
  close(): void {
    this.readyState = 3;
  }
  say(message: object): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(message) }));
  }
}

const offered = { version: 1, hand_over: { reason: "Sign in", target: "browser", driven: false } };
const posted = vi.fn();
let view: HandOver;

beforeEach(async () => {
  vi.stubGlobal("WebSocket", FakeSocket);
  const answers = [offered];
  view = handOver(async (path, options) => {
    if (options?.method === "POST") {
      posted(path, options.body);
      return new Response("{}");
    }
    const next = answers.shift();
    return next ? new Response(JSON.stringify(next)) : new Promise<Response>(() => undefined);
  }, () => "credential");
  document.body.replaceChildren(view.element);
  await vi.waitFor(() => expect(view.element.hidden).toBe(false));
});

afterEach(() => {
  view.stop();
  posted.mockClear();
  vi.unstubAllGlobals();
});

const picture = (): HTMLImageElement => document.querySelector(".wheel-picture") as HTMLImageElement;

function takeOver(): FakeSocket {
  view.element.querySelector("button")?.click();
  const socket = FakeSocket.last;
  socket.dispatchEvent(new Event("open"));
  socket.say({ type: "frame", data: "AA==", width: 1280, height: 800 });
  return socket;
}

test("the credential is sent first, then mouse and keys in the browser's own coordinates", () => {
  const socket = takeOver();
  picture().getBoundingClientRect = () => new DOMRect(0, 0, 640, 400);
  picture().dispatchEvent(new MouseEvent("mousedown", { clientX: 10, clientY: 20, cancelable: true }));
  picture().dispatchEvent(new KeyboardEvent("keydown", { key: "a", cancelable: true }));
  expect(socket.sent).toMatchObject([{ token: "credential" }, { type: "mouse", x: 20, y: 40 }, { type: "key", text: "a" }]);
});

test("F6 leaves the browser, and the button gives it back", async () => {
  takeOver();
  picture().dispatchEvent(new KeyboardEvent("keydown", { key: "F6" }));
  const back = document.activeElement as HTMLButtonElement;
  back.click();
  await vi.waitFor(() => expect(posted.mock.calls).toEqual([["/hand-over", '{"action":"return"}']]));
  FakeSocket.last.dispatchEvent(new CloseEvent("close"));
  expect(document.querySelector(".wheel")).toBeNull();
});

test("a dialog of the page is shown and answered", () => {
  const socket = takeOver();
  socket.say({ type: "state", url: "http://shop/", dialog: { kind: "confirm", message: "Sure?" } });
  document.querySelector<HTMLButtonElement>(".wheel-dialog button")?.click();
  expect([document.querySelector(".wheel-dialog")?.textContent, socket.sent.at(-1)]).toEqual(["Sure?OKCancel", { type: "dialog", accept: true }]);
});

test("text of the field is inserted and forgotten", () => {
  const socket = takeOver();
  const field = document.querySelector<HTMLInputElement>(".wheel-field") as HTMLInputElement;
  field.value = "735";
  field.form?.dispatchEvent(new SubmitEvent("submit", { cancelable: true }));
  expect([socket.sent.at(-1), field.value]).toEqual([{ type: "text", text: "735" }, ""]);
});
