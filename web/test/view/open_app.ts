/** An app on an otherwise empty page, driven by frames as a server would send them. */
import { App } from "../../src/view/app";

export interface OpenApp {
  readonly app: App;
  readonly root: Element;
  /** Frames that the app has sent, parsed. */
  readonly sent: unknown[];
  readonly notices: string[];
  readonly defined: string[];
  /** Deliver messages or short updates in one frame. */
  readonly say: (...parts: readonly unknown[]) => void;
  /** Fill the root, or another placeholder, with a view. */
  readonly show: (view: number, key: string, values: readonly unknown[], place?: { parent: number; slot: number; index?: number }) => void;
}

export function openApp(viewdefs: Readonly<Record<string, string>>): OpenApp {
  document.body.innerHTML = "<div ui-app></div>";
  const root = element("[ui-app]");
  const sent: unknown[] = [];
  const notices: string[] = [];
  const defined: string[] = [];
  const app = new App(root, {
    deliver: (frame) => sent.push(JSON.parse(frame)) > 0,
    define: (tags) => void defined.push(...tags),
    saved: () => undefined,
    history: () => undefined,
    problems: (json) => void notices.push(`problems ${json}`),
    download: (json) => void notices.push(`download ${json}`),
    notice: (level, text, code) => void notices.push(`${level} ${code} ${text}`),
  });
  const say = (...parts: readonly unknown[]): void => app.receive(JSON.stringify(parts.length === 1 ? parts[0] : parts));
  app.opened(false);
  say(viewdefsMessage(viewdefs));
  return {
    app,
    root,
    sent,
    notices,
    defined,
    say,
    show: (view, key, values, place = { parent: 0, slot: 0 }) => say({ type: "view", data: { view, key, values, ...place } }),
  };
}

export function viewdefsMessage(viewdefs: Readonly<Record<string, string>>): unknown {
  return { type: "update", data: { varId: 1, properties: { viewdefs: JSON.stringify(viewdefs) } } };
}

/** Find the one element that a test is about. */
export function element(selector: string): HTMLElement;
export function element<T extends HTMLElement>(selector: string, kind: new () => T): T;
export function element(selector: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) {
    throw new Error(`${selector} is not on the page: ${document.body.innerHTML}`);
  }
  return found;
}

/** Wait until user events have left. */
export async function flushed(): Promise<void> {
  await Promise.resolve();
}
