/** The content of the `ui-app` element, kept up to date by the server's messages. */
import type { Answer } from "../history/requests";
import { parts, type Failure, type Json, type ServerMessage, type Short, type ViewPlacement } from "../protocol";
import { Variables, type Variable } from "../store/variables";
import { Viewdefs } from "../store/viewdefs";
import { Outbox } from "../transport/outbox";
import {
  MESSAGE_DESTROY,
  MESSAGE_ERROR,
  MESSAGE_HISTORY,
  MESSAGE_SAVED,
  MESSAGE_UPDATE,
  MESSAGE_VIEW,
  MESSAGE_WATCH,
  PROPERTY_ADDRESS,
  PROPERTY_DOWNLOAD,
  PROPERTY_EDITABLE,
  PROPERTY_NOTICE,
  PROPERTY_PROBLEMS,
  PROPERTY_VIEWDEFS,
} from "../wire.gen";
import { BoundElement, boundElementsOf } from "./bound_element";
import { List } from "./list";
import { NestedView } from "./nested_view";
import type { FoundProblem, Origin, PageContext } from "./page_context";
import type { View } from "./view";
import { ViewPlaceholder } from "./view_placeholder";

export interface AppHooks {
  deliver(frame: string): boolean;
  /** Load the definitions of custom elements. */
  define(tags: ReadonlySet<string>): void;
  notice(level: string, text: string, code: string): void;
  /** The effects of the first `frames` of this connection are saved. */
  saved(frames: number): void;
  /** An answer about the history. */
  history(answer: Answer): void;
  /** Show what is wrong in the apps, a JSON list. */
  problems(json: string): void;
  /** Give the person a file, JSON. */
  download(json: string): void;
  /** The page's own address; pages inside others have none. */
  address?: AddressHooks;
}

export interface AddressHooks {
  /** What this page shows, JSON. */
  show(json: string): void;
  /** Where this page is, a path. */
  here(): string;
  /** The person has done something. */
  acted(): void;
}

/** Reports of one connection; a loop that fails must not flood the server. */
const MOST_REPORTED = 100;

/** Pixels from its end at which an element counts as scrolled to it: zoomed pages round. */
const AT_END = 8;

export class App implements PageContext {
  readonly views = new Map<number, View>();
  readonly viewdefs = new Viewdefs();
  readonly outbox: Outbox;
  readonly variables: Variables;
  readonly scrollers = new Set<Element>();
  private readonly content: ViewPlaceholder;
  private readonly changed = new Set<Node>();
  private readonly reported = new Set<string>();
  private waitingForRoot = false;

  constructor(
    root: Element,
    private readonly hooks: AppHooks,
  ) {
    const blank = document.createElement("div");
    blank.hidden = true;
    this.content = new ViewPlaceholder(this, "", { className: "", style: "", slot: "" }, blank);
    this.outbox = new Outbox((frame) => hooks.deliver(frame));
    this.variables = new Variables(
      (message) => this.outbox.sendSoon(message),
      (id) => this.expanded(id),
    );
    this.insert = () => {
      if (!blank.isConnected && this.content.current === null) {
        root.replaceChildren(blank);
      }
    };
  }

  private readonly insert: () => void;

  /** Begin a new connection: request everything. The old content stays until the new one arrives. */
  opened(requested: boolean): void {
    this.outbox.pause();
    this.variables.reset();
    this.reported.clear();
    this.waitingForRoot = true;
    if (!requested) {
      this.outbox.sendFirst({ type: MESSAGE_WATCH, data: { varId: 1, expand: true, ...this.here() } });
    }
  }

  lost(): void {
    this.outbox.pause();
  }

  receive(frame: string): void {
    const away = this.scrolledAway();
    for (const part of parts(frame)) {
      try {
        if (Array.isArray(part)) {
          this.short(part);
        } else {
          this.message(part);
        }
      } catch (error) {
        console.error("ui-mcp: a message could not be applied", part, error);
      }
    }
    this.scroll(away);
  }

  rootView(): View | null {
    return this.content.current;
  }

  template(key: string): ReturnType<Viewdefs["get"]> {
    return this.viewdefs.get(key);
  }

  send(short: Short, origin: Origin): void {
    this.hooks.address?.acted();
    this.outbox.sendNow(short, origin);
  }

  /** The person has gone to another address. */
  visit(address: string): void {
    this.outbox.sendSoon({ type: MESSAGE_UPDATE, data: { varId: 1, properties: { [PROPERTY_ADDRESS]: address } } });
  }

  define(tags: ReadonlySet<string>): void {
    if (tags.size > 0) {
      this.hooks.define(tags);
    }
  }

  touched(node: Node): void {
    if (this.scrollers.size > 0) {
      this.changed.add(node);
    }
  }

  editable(key: string, position: number): void {
    const mark = `${key} ${position}`;
    if (!this.reported.has(mark)) {
      this.reported.add(mark);
      this.outbox.sendSoon({ type: MESSAGE_UPDATE, data: { varId: 1, properties: { [PROPERTY_EDITABLE]: mark } } });
    }
  }

  report(problem: FoundProblem): void {
    const text = JSON.stringify(problem);
    if (!this.reported.has(text) && this.reported.size < MOST_REPORTED) {
      this.reported.add(text);
      this.outbox.sendSoon({ type: MESSAGE_UPDATE, data: { varId: 1, properties: { [PROPERTY_PROBLEMS]: text } } });
    }
  }

  private here(): { address?: string } {
    return this.hooks.address === undefined ? {} : { address: this.hooks.address.here() };
  }

  private message(message: ServerMessage): void {
    switch (message.type) {
      case MESSAGE_VIEW:
        this.put(message.data);
        break;
      case MESSAGE_UPDATE:
        this.update(message.data.varId, message.data.properties);
        this.variables.receive(message.data);
        break;
      case MESSAGE_DESTROY:
        this.variables.forget(message.data.varId);
        break;
      case MESSAGE_ERROR:
        this.fail(message.data);
        break;
      case MESSAGE_SAVED:
        this.hooks.saved(message.data.frames);
        break;
      case MESSAGE_HISTORY:
        this.hooks.history(message.data);
        break;
    }
  }

  private update(id: number, properties: Record<string, string> | undefined): void {
    if (id !== 1 || properties === undefined) {
      return;
    }
    if (properties[PROPERTY_VIEWDEFS]) {
      this.viewdefs.receive(properties[PROPERTY_VIEWDEFS]);
    }
    if (properties[PROPERTY_PROBLEMS]) {
      this.hooks.problems(properties[PROPERTY_PROBLEMS]);
    }
    if (properties[PROPERTY_DOWNLOAD]) {
      this.hooks.download(properties[PROPERTY_DOWNLOAD]);
    }
    if (properties[PROPERTY_ADDRESS]) {
      this.hooks.address?.show(properties[PROPERTY_ADDRESS]);
    }
    if (properties[PROPERTY_NOTICE]) {
      const { level, text, code } = JSON.parse(properties[PROPERTY_NOTICE]) as Record<string, string>;
      this.hooks.notice(level ?? "info", text ?? "", code ?? "");
    }
  }

  private put({ view, parent, slot, index, key, values }: ViewPlacement): void {
    const inline: [number, string, Json[]] | null = key === "" ? null : [view, key, values ?? []];
    if (parent === 0) {
      this.insert();
      this.content.show(inline);
      if (this.waitingForRoot) {
        this.waitingForRoot = false;
        this.outbox.resume((origin, old) => readdress(origin, old));
      }
      return;
    }
    const part = this.views.get(parent)?.part(slot);
    if (part instanceof List) {
      part.showRow(index ?? 0, inline);
    } else if (part instanceof NestedView) {
      part.show(inline);
    }
  }

  private short([number, position, value]: Short): void {
    const part = this.views.get(number)?.part(position);
    if (part instanceof BoundElement) {
      part.write(position, value ?? null);
    } else if (part instanceof List) {
      part.write(value ?? null);
    } else {
      part?.host.clearError(position);
    }
  }

  private fail(failure: Failure): void {
    const { view, pos, code, description } = failure;
    const boundElement = view === undefined || pos === undefined ? undefined : this.views.get(view)?.bound(pos);
    if (boundElement !== undefined && pos !== undefined) {
      boundElement.showError(pos, code, description);
    } else if (failure.varId === undefined) {
      this.hooks.notice("error", description, code);
    } else {
      this.variables.fail(failure);
    }
  }

  /** Elements whose reader looks at something further up: output must not pull them down. */
  private scrolledAway(): Set<Element> {
    const toEnd = (element: Element) => element.scrollHeight - element.clientHeight - element.scrollTop;
    return new Set([...this.scrollers].filter((element) => toEnd(element) > AT_END));
  }

  private scroll(away: ReadonlySet<Element>): void {
    if (this.changed.size === 0) {
      return;
    }
    for (const element of this.scrollers) {
      const concerned = !away.has(element) && [...this.changed].some((node) => element.contains(node));
      if (concerned && element.scrollHeight > element.clientHeight) {
        element.scrollTop = element.scrollHeight;
      }
    }
    this.changed.clear();
  }

  private expanded(id: number): Variable | null {
    for (const view of this.views.values()) {
      const position = -id - view.number;
      if (position >= 0 && position < view.template.size) {
        return { varId: id, parentId: -view.number, value: view.bound(position)?.valueAt(position) ?? null, properties: {} };
      }
    }
    return null;
  }
}

/** Translate a user event for the new connection; null if its element is gone. */
function readdress({ element, attribute }: Origin, old: Short): Short | null {
  for (const boundElement of element.isConnected ? boundElementsOf(element) : []) {
    const position = boundElement.positionOf(attribute);
    if (position !== undefined) {
      return old.length > 2 ? [boundElement.view.number, position, old[2] ?? null] : [boundElement.view.number, position];
    }
  }
  return null;
}
