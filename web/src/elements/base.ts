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
    this.takeEarly();
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

  /** Take the values that were written before the element was loaded: bindings keep all of them, scripts the last. */
  private takeEarly(): void {
    if (!Object.hasOwn(this, "value")) {
      return;
    }
    const before = this as { value?: unknown; early?: unknown[] };
    const values = before.early ?? [before.value];
    delete before.value;
    delete before.early;
    values.forEach((value) => (this.value = value));
  }

  /** Attributes or children have changed. */
  protected configure(): void {
    this.draw();
  }

  /** The server has sent a value. */
  protected received(value: unknown): void {
    this.keep(value);
    this.draw();
  }

  /** What `value` returns from now on. */
  protected keep(value: unknown): void {
    this.current = value;
  }

  /** The person has changed the value: bindings send it. */
  protected commit(value: unknown): void {
    this.keep(value);
    this.draw();
    this.dispatchEvent(new Event("change"));
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

  /** Call when the focus has left the element; drawing a focused part anew does not count. */
  protected whenLeft(act: () => void): void {
    this.addEventListener("focusout", () => setTimeout(() => {
      if (this.isConnected && !this.contains((this.getRootNode() as Document | ShadowRoot).activeElement)) {
        act();
      }
    }));
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

/** The texts of an attribute: joined with |, or a JSON list, as `ui-attr-` writes a Lua list. */
export function textsOf(attribute: string | null): string[] {
  const text = attribute?.trim() ?? "";
  if (text.startsWith("[")) {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.map(String) : [];
  }
  return text === "" ? [] : text.split("|").map((one) => one.trim());
}

/** A plain value as text; nothing and tables have none. */
export function plainText(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Read texts that Lua may have sent as a list, a single text or nothing. */
export function listOf(value: unknown): string[] {
  const text = plainText(value);
  return Array.isArray(value) ? value.map(plainText) : text === "" ? [] : [text];
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
