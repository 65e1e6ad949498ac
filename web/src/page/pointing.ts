/**
 * Lets the person point at an element of the app, by Alt-click or by the button of the page around this one. That page
 * asks for their words: app code runs here, and must not be able to write them.
 */
import { pageId } from "../session";
import { boundElementsOf } from "../view/bound_element";

/** What the person has pointed at; the introspection script describes it to the server. */
export interface Pointed {
  readonly element: Element;
  /** The key of the viewdef that shows it. */
  readonly viewdef?: string | undefined;
  readonly bindings?: readonly { readonly attribute: string; readonly path: string }[];
}

declare global {
  var uiPointed: Pointed | undefined;
}

const STYLE = "position:fixed;z-index:2147483000;pointer-events:none;border:2px solid #5b3fd6;border-radius:4px;background:rgb(91 63 214/.12)";

/** Take Alt-clicks, and any click after the parent has asked for one. Return a function that stops it. */
export function offerPointing(parent: Window = window.parent): () => void {
  let ring: HTMLElement | null = null;
  const tell = (message: object): void => parent.postMessage(message, "*");
  const stop = (): void => {
    ring?.remove();
    ring = null;
  };

  function point(element: Element): void {
    stop();
    window.focus(); // the halted click did not move the focus here, and the parent asks only who is here
    globalThis.uiPointed = described(element);
    const { x, y, width, height } = element.getBoundingClientRect();
    tell({ type: "ui-pointed", page: pageId(), box: { x, y, width, height } });
  }

  const listeners: readonly (readonly [string, (event: Event) => void])[] = [
    ["message", (event) => {
      const { source, data } = event as MessageEvent<{ readonly type?: unknown; readonly on?: unknown } | null>;
      if (source === parent && data?.type === "ui-point") {
        stop();
        if (data.on === true) {
          ring = newRing();
          tell({ type: "ui-point-ready" }); // only now are keys and clicks the person's answer
        }
      }
    }],
    ["pointermove", (event) => moveRing(ring, elementOf(event))],
    ["focusin", (event) => moveRing(ring, elementOf(event))],
    ["keydown", (event) => {
      const { key } = event as KeyboardEvent;
      if (ring !== null && (key === "Escape" || key === "Enter")) {
        halt(event);
        const focused = document.activeElement;
        if (key === "Enter" && focused !== null && focused !== document.body) {
          point(focused);
        } else {
          stop();
          tell({ type: "ui-point-cancelled" });
        }
      }
    }],
    ...["pointerdown", "mousedown", "pointerup", "mouseup", "click"].map((type) => [type, (event: Event): void => {
      const mouse = event as MouseEvent;
      const element = elementOf(event);
      // A script's click is no person's, and the right button opens the browser's own menu.
      if (element === null || !event.isTrusted || mouse.button !== 0 || (ring === null && !mouse.altKey)) {
        return;
      }
      halt(event);
      if (type === "click") {
        point(element);
      }
    }] as const),
  ];
  // On the window and while capturing: an app that stops events must not keep the person from pointing at it.
  listeners.forEach(([type, act]) => addEventListener(type, act, true));
  return () => {
    stop();
    listeners.forEach(([type, act]) => removeEventListener(type, act, true));
  };
}

function halt(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** The element of the document itself: parts inside a component's shadow root are the component's. */
function elementOf(event: Event): Element | null {
  return event.target instanceof Element ? event.target : null;
}

function described(element: Element): Pointed {
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    const bindings = [...boundElementsOf(at)].flatMap(({ spec }) => spec.specs.map((one) => ({ attribute: one.attribute, path: one.text.path })));
    if (bindings.length > 0) {
      return { element, viewdef: viewdefOf(element), bindings };
    }
  }
  return { element, viewdef: viewdefOf(element) };
}

function viewdefOf(element: Element): string | undefined {
  return element.closest("[ui-viewdef]")?.getAttribute("ui-viewdef") ?? undefined;
}

function newRing(): HTMLElement {
  const ring = document.createElement("div");
  ring.style.cssText = STYLE;
  ring.hidden = true;
  document.documentElement.append(ring);
  return ring;
}

function moveRing(ring: HTMLElement | null, element: Element | null): void {
  if (ring !== null && element !== null) {
    const { x, y, width, height } = element.getBoundingClientRect();
    Object.assign(ring.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`, boxSizing: "border-box" });
    ring.hidden = false;
  }
}
