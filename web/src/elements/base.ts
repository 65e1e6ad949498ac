/** What all elements share: they take the value written before they were loaded, follow their attributes and draw once a frame. */
import sheet from "./base.css?inline";

const shared = styleSheet(sheet);

export function styleSheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}

export abstract class UiElement extends HTMLElement {
  protected readonly root: ShadowRoot;
  private current: unknown = null;
  private scheduled = false;
  private readonly observer = new MutationObserver(() => this.configure());

  constructor(...sheets: CSSStyleSheet[]) {
    super();
    this.root = this.attachShadow({ mode: "open", delegatesFocus: false });
    this.root.adoptedStyleSheets = [shared, ...sheets];
  }

  connectedCallback(): void {
    if (Object.hasOwn(this, "value")) {
      const early: unknown = this.value;
      delete (this as { value?: unknown }).value;
      this.value = early;
    }
    this.observer.observe(this, { attributes: true, childList: true, subtree: true, characterData: true });
    this.configure();
  }

  disconnectedCallback(): void {
    this.observer.disconnect();
  }

  get value(): unknown {
    return this.current;
  }

  set value(next: unknown) {
    this.received(next);
  }

  /** Attributes or children have changed. */
  protected configure(): void {
    this.draw();
  }

  /** The server has sent a value. */
  protected received(value: unknown): void {
    this.current = value;
    this.draw();
  }

  protected abstract render(): void;

  /** Render with the next frame, once for all changes until then. */
  protected draw(): void {
    if (this.scheduled || !this.isConnected) {
      return;
    }
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      if (this.isConnected) {
        this.render();
      }
    });
  }

  /** Ask the server for another part of the data. */
  protected ask(question: Readonly<Record<string, unknown>>): void {
    this.dispatchEvent(new CustomEvent("ui-ask", { detail: { value: question } }));
  }

  /** Tell listeners and `ui-event-NAME` bindings; `_` of the binding's path is the value. */
  protected tell(event: string, value: unknown): void {
    this.dispatchEvent(new CustomEvent(event, { detail: { value }, bubbles: false }));
  }

  /** A named attribute, or what is to be used without it. */
  protected option(name: string, otherwise = ""): string {
    return this.getAttribute(name) ?? otherwise;
  }
}

type Child = Node | string | null | false;

/** `make("p.note", { title: "x" }, "text")`: tag and classes, attributes (false leaves one out), children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  what: K | `${K}.${string}`,
  attributes: Readonly<Record<string, string | number | boolean>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag as K);
  if (classes.length > 0) {
    element.className = classes.join(" ");
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

/** A button with a drawing of its own; the label is for screen readers and the tooltip. */
export function iconButton(label: string, path: string, act: () => void): HTMLButtonElement {
  const made = make("button.icon", { type: "button", "aria-label": label, title: label });
  made.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;
  made.addEventListener("click", act);
  return made;
}

/** Offer text as a file. */
export function download(name: string, type: string, data: BlobPart): void {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
