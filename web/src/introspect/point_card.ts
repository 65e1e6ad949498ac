/**
 * Asks the person for words where they Alt-click, in pages of a browser that was attached. It runs in a context that
 * scripts of the page cannot reach, and takes nothing but a person's own input.
 */

const STYLE = `
  :host { all: initial; }
  * { box-sizing: border-box; font: 15px/1.45 system-ui, sans-serif; }
  .mark { position: fixed; border: 2px solid #5b3fd6; border-radius: 4px; background: rgb(91 63 214 / .14); pointer-events: none; }
  form { position: fixed; display: grid; gap: 8px; width: min(340px, calc(100vw - 20px)); padding: 12px; border: 1px solid #d4d8e0; border-radius: 12px; background: #fff; color: #1a2230; box-shadow: 0 10px 36px rgb(0 0 0 / .28); }
  label { display: grid; gap: 6px; font-size: 14px; font-weight: 600; }
  textarea { min-height: 64px; padding: 8px 10px; border: 1px solid #8a92a3; border-radius: 8px; background: #fff; color: inherit; resize: vertical; }
  div.row { display: flex; gap: 8px; }
  button { min-height: 34px; padding: 5px 14px; border: 1px solid #8a92a3; border-radius: 8px; background: transparent; color: inherit; font-size: 14px; cursor: pointer; }
  button[type=submit] { border-color: transparent; background: #5b3fd6; color: #fff; font-weight: 600; }
  :focus-visible { outline: 2px solid #5b3fd6; outline-offset: 2px; }
  @media (prefers-color-scheme: dark) {
    form { border-color: #3a4256; background: #1a202c; color: #e7ebf2; }
    textarea { background: #10141c; }
    button[type=submit] { background: #a99bff; color: #14101f; }
    :focus-visible { outline-color: #a99bff; }
  }
`;
const GAP = 10;
/** In every page where the person approves calls; see person_pages.py. */
const PERSON_PAGE = 'meta[name="ui-nonce"]';

export interface PointCard {
  /** Close the card, and open none until it is enabled again: what an agent clicks and types is no person's. */
  enable(on: boolean): void;
}

declare global {
  var uiMcpPointCard: PointCard | undefined;
}

/** Offer the card in a document of its own window; `send` gets the person's words. */
export function offerPointCard(send: (words: string) => void): void {
  // Our own pages inside the person's page have their card there. A second script in this document changes nothing.
  if (window !== window.top || globalThis.uiMcpPointCard) {
    return;
  }
  let enabled = true;
  let card: HTMLElement | null = null;
  const close = (): void => {
    card?.remove();
    card = null;
  };
  globalThis.uiMcpPointCard = {
    enable(on) {
      enabled = on;
      close();
    },
  };
  for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
    addEventListener(type, (event) => {
      const { altKey, button, target, isTrusted } = event as MouseEvent;
      if (!enabled || !altKey || button !== 0 || !isTrusted || !(target instanceof Element) || document.querySelector(PERSON_PAGE)) {
        return;
      }
      event.preventDefault();
      event.stopImmediatePropagation();
      if (type === "click") {
        close();
        globalThis.uiPointed = { element: target };
        card = newCard(target, close, send);
      }
    }, true);
  }
}

function newCard(element: Element, close: () => void, send: (words: string) => void): HTMLElement {
  const host = document.createElement("ui-mcp-point");
  const root = host.attachShadow({ mode: "closed" });
  const style = document.createElement("style");
  style.textContent = STYLE;
  const mark = document.createElement("div");
  mark.className = "mark";
  const form = document.createElement("form");
  form.setAttribute("role", "dialog");
  form.setAttribute("aria-label", "Point at it");
  // Not by innerHTML: a page may require trusted types.
  const label = document.createElement("label");
  const field = document.createElement("textarea");
  field.maxLength = 4000;
  label.append("What should change here?", field);
  const row = document.createElement("div");
  row.className = "row";
  const go = Object.assign(document.createElement("button"), { type: "submit", textContent: "Send to agent" });
  const cancel = Object.assign(document.createElement("button"), { type: "button", textContent: "Cancel" });
  row.append(go, cancel);
  form.append(label, row);
  root.append(style, mark, form);
  const submit = (event: Event): void => {
    event.preventDefault();
    const words = field.value.trim();
    if (event.isTrusted && words !== "") {
      close();
      send(words);
    }
  };
  form.addEventListener("submit", submit);
  cancel.addEventListener("click", close);
  for (const type of ["keydown", "keypress", "keyup", "input"]) {
    host.addEventListener(type, (event) => {
      event.stopPropagation(); // else shortcuts of the page would act on what is typed here
      const { key, shiftKey, isComposing } = event as KeyboardEvent;
      if (type === "keydown" && key === "Escape") {
        close();
      } else if (type === "keydown" && key === "Enter" && !shiftKey && !isComposing && root.activeElement === field) {
        submit(event);
      }
    });
  }
  document.documentElement.append(host);
  place(mark, form, element.getBoundingClientRect());
  field.focus();
  return host;
}

function place(mark: HTMLElement, form: HTMLElement, box: DOMRect): void {
  Object.assign(mark.style, { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` });
  const { width, height } = form.getBoundingClientRect();
  const above = box.top - GAP - height;
  const y = box.bottom + GAP + height <= innerHeight ? box.bottom + GAP : above >= GAP ? above : innerHeight - height - GAP;
  form.style.left = `${Math.max(GAP, Math.min(box.left, innerWidth - width - GAP))}px`;
  form.style.top = `${Math.max(GAP, y)}px`;
}
