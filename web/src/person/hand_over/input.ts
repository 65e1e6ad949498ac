/** The person's mouse and keyboard as the messages that the server passes on to the browser. */

export interface Spot {
  readonly x: number;
  readonly y: number;
}

const BUTTONS = ["left", "middle", "right"] as const;
const EVENTS: Readonly<Record<string, string>> = { mousedown: "mousePressed", mouseup: "mouseReleased", mousemove: "mouseMoved" };

/** The bits of the DevTools Protocol. */
function modifiers({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent | KeyboardEvent): number {
  return (altKey ? 1 : 0) + (ctrlKey ? 2 : 0) + (metaKey ? 4 : 0) + (shiftKey ? 8 : 0);
}

export function mouseMessage(event: MouseEvent, spot: Spot): object {
  const kind = EVENTS[event.type];
  const button = kind === "mouseMoved" ? "none" : (BUTTONS[event.button] ?? "none");
  const clickCount = kind === "mouseMoved" ? 0 : Math.max(1, event.detail);
  return { type: "mouse", event: kind, ...spot, button, buttons: event.buttons, clickCount, modifiers: modifiers(event) };
}

export function wheelMessage(event: WheelEvent, spot: Spot): object {
  return { type: "mouse", event: "mouseWheel", ...spot, button: "none", deltaX: event.deltaX, deltaY: event.deltaY, modifiers: modifiers(event) };
}

/** A key that writes something carries its text, else the browser would only move the focus or the caret. */
export function keyMessage(event: KeyboardEvent): object {
  const isDown = event.type === "keydown";
  const writes = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
  const text = event.key === "Enter" ? "\r" : writes ? event.key : "";
  return {
    type: "key", event: isDown ? "keyDown" : "keyUp", key: event.key, code: event.code, ...(isDown && text ? { text } : {}),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the protocol wants exactly this number
    windowsVirtualKeyCode: event.keyCode, modifiers: modifiers(event),
  };
}

export function textMessage(text: string): object {
  return { type: "text", text };
}
