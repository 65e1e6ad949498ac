/**
 * Point at something in the app and say what should change there. The app only says where: the words are written here,
 * where its code cannot reach, and sent with the person's credential.
 */
import { button, make } from "../../nlui/dom";
import { arm } from "../armed";
import { type Fetch, reasonOf, sendJson } from "../client";
import "./pointing.css";

export interface Pointing {
  /** The button that asks for a click in the app. */
  readonly button: HTMLButtonElement;
  stop(): void;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const HINT = "Click what you mean, or move to it with Tab and press Enter. Esc cancels.";
const GAP = 10;

export function pointing(frame: HTMLIFrameElement, origin: () => string, fetch: Fetch, show: () => void): Pointing {
  let card: HTMLElement | null = null;
  const toggle = button("Point", () => ask(!isAsking()), "person-point");
  toggle.title = "Point at something in the app and say what should change (or Alt-click it)";
  toggle.setAttribute("aria-pressed", "false");
  const hint = make("p.point-hint", { role: "status" });

  function ask(on: boolean): void {
    close();
    pressed(on);
    frame.contentWindow?.postMessage({ type: "ui-point", on }, origin());
    if (on) {
      show();
    }
  }

  function pressed(on: boolean): void {
    toggle.setAttribute("aria-pressed", String(on));
    hint.remove();
  }

  /** The app takes keys and clicks as an answer from now on; before, they would have operated it. */
  function ready(): void {
    if (isAsking() && !hint.isConnected) {
      hint.textContent = HINT;
      document.body.append(hint);
      frame.focus();
    }
  }

  function close(): void {
    card?.remove();
    card = null;
  }

  const receive = ({ source, origin: from, data }: MessageEvent<unknown>): void => {
    const said = data as { readonly type?: unknown; readonly page?: unknown; readonly box?: unknown } | null;
    if (source !== frame.contentWindow || from !== origin()) {
      return;
    }
    if (said?.type === "ui-point-ready") {
      ready();
    } else if (said?.type === "ui-point-cancelled") {
      ask(false);
      toggle.focus();
    } else if (said?.type === "ui-pointed" && typeof said.page === "string" && isBox(said.box) && isUsed()) {
      pressed(false);
      close();
      void sendJson(fetch, "/point/prepare", {}).catch(() => undefined); // what it lacks, the event will say
      card = askForWords(frame, said.box, (words) => sendJson(fetch, "/point", { page: said.page, words }), () => {
        close();
        toggle.focus();
      });
    }
  };

  const isAsking = (): boolean => toggle.getAttribute("aria-pressed") === "true";

  /** An app may claim anything at any time; a card appears only for a person who has asked for it or is using the app. */
  const isUsed = (): boolean =>
    isAsking() || (document.activeElement === frame && navigator.userActivation.isActive);

  const escape = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isAsking()) {
      ask(false);
    }
  };
  addEventListener("message", receive);
  document.addEventListener("keydown", escape);
  return {
    button: toggle,
    stop() {
      close();
      hint.remove();
      removeEventListener("message", receive);
      document.removeEventListener("keydown", escape);
    },
  };
}

/** Show a mark over the place and a card beside it; `end` is called when it is sent or cancelled. */
function askForWords(frame: HTMLElement, box: Box, send: (words: string) => Promise<unknown>, end: () => void): HTMLElement {
  const field = make("textarea", { rows: "3", maxlength: "4000", placeholder: "Make it larger, call it Save…" });
  const problem = make("p.point-problem", { role: "alert" });
  const go = make("button.point-send", { type: "submit" }, "Send to agent");
  const form = make(
    "form.point-card",
    { "aria-label": "Point at it" },
    make("label", {}, "What should change here?", field),
    problem,
    make("div.point-row", {}, go, button("Cancel", end, "point-cancel")),
  );
  const layer = make("div.point-layer", { role: "dialog", "aria-label": "Point at it" }, make("div.point-mark"), form);

  async function submit(): Promise<void> {
    const words = field.value.trim();
    // The app may open this card; what the person was typing elsewhere must not be sent by the same keystroke.
    if (words === "" || go.disabled) {
      return;
    }
    go.disabled = true;
    go.textContent = "Sending…";
    try {
      await send(words);
      end();
    } catch (error) {
      problem.textContent = reasonOf(error);
      go.disabled = false;
      go.textContent = "Send to agent";
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  layer.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      end();
    } else if (event.key === "Enter" && !event.shiftKey && event.target === field && !event.isComposing) {
      event.preventDefault();
      void submit();
    }
  });
  document.body.append(layer);
  place(layer, frame.getBoundingClientRect(), box);
  arm(form);
  field.focus();
  return layer;
}

/** Put the mark over the box, and the card below it, else above, always inside the window. */
function place(layer: HTMLElement, frame: DOMRect, box: Box): void {
  const [mark, card] = layer.children as unknown as [HTMLElement, HTMLElement];
  const left = Math.max(frame.left, frame.left + box.x);
  const top = Math.max(frame.top, frame.top + box.y);
  const right = Math.min(frame.right, frame.left + box.x + box.width);
  const bottom = Math.min(frame.bottom, frame.top + box.y + box.height);
  move(mark, left, top);
  Object.assign(mark.style, { width: `${Math.max(0, right - left)}px`, height: `${Math.max(0, bottom - top)}px` });
  const { width, height } = card.getBoundingClientRect();
  const below = bottom + GAP + height <= innerHeight;
  const above = top - GAP - height;
  const y = below ? bottom + GAP : above >= GAP ? above : innerHeight - height - GAP;
  move(card, Math.max(GAP, Math.min(left, innerWidth - width - GAP)), Math.max(GAP, y));
}

function move(element: HTMLElement, left: number, top: number): void {
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
}

function isBox(value: unknown): value is Box {
  const box = value as Record<string, unknown> | null;
  return box !== null && typeof box === "object" && ["x", "y", "width", "height"].every((side) => Number.isFinite(box[side]));
}
