/** Snapshots and actions inside a page. Calls take and return one JSON string, the cheapest to pass between processes. */

import { type Action, clickBySynthesis, clientPoint, focus, insertText, scroll, select, setText, toggle } from "./act";
import { concealFields } from "./accessible_text";
import { annotate, clear, mark } from "./annotate";
import { compare } from "./compare";
import { agentCursor } from "./cursor";
import { frameOffset } from "./dom";
import { fileInputOf } from "./files";
import { pressBySynthesis } from "./keys";
import { chainAt, deepestAt, resolveTarget, settledPoint, ActionError } from "./actionability";
import { collectErrors } from "./page_errors";
import { type Noticed, type PersonRecorder, record } from "./record";
import { describePointed } from "./pointed";
import { createRefs, type NodeRef, type Refs, StaleRowError } from "./refs";
import { renderTarget } from "./rows";
import { type Captured, type CaptureRequest, CaptureError, capture, pathOf } from "./snapshot";

export { offerPointCard } from "./point_card";
export { recordInto } from "./record";

export interface Introspector {
  call(request: string): Promise<string>;
  /** The file input that an element is, holds or belongs to, for a debugger. */
  fileInput(ref: string): Element | null;
  uidOf(element: Element): string;
}

interface PageAction extends Action {
  from?: NodeRef;
  to?: NodeRef;
  x?: number;
  y?: number;
  key?: string;
  modifiers?: string[];
  clickCount?: number;
}

type Request =
  | { op: "capture"; ask: CaptureRequest }
  | { op: "tell"; rows: string[] }
  | { op: "act"; action: PageAction }
  | { op: "spot"; target: NodeRef; force?: boolean; hovered?: boolean; passive?: boolean }
  | { op: "at"; x: number; y: number }
  | { op: "box"; target: NodeRef }
  | { op: "content"; target: NodeRef }
  | { op: "annotate" }
  | { op: "mark"; target: NodeRef }
  | { op: "pointed" }
  | { op: "conceal" }
  | { op: "pointing"; on: boolean }
  | { op: "record"; on: boolean; redact: string[] }
  | { op: "recorded" }
  | { op: "unwatch" }
  | { op: "compare"; before: string; after: string }
  | { op: "clear" }
  | { op: "idle" };

/** Create the introspector of one document; its uids begin with `prefix`. A page that a person has open is `watched`: captures report its errors, and a pointer shows the actions. */
export function create(prefix: string, watched = false): Introspector {
  const refs = createRefs(prefix);
  const errors = watched ? collectErrors() : () => [];
  const cursor = watched ? agentCursor() : null;
  const noticed = bufferedRecorder(refs);
  return {
    uidOf: (element) => refs.uidOf(element),
    fileInput: (ref) => fileInputOf(refs.resolve(JSON.parse(ref) as NodeRef)),
    async call(request) {
      try {
        const asked = JSON.parse(request) as Request;
        const target = cursor && asked.op === "act" && asked.action.target ? refs.resolve(asked.action.target) : null;
        if (cursor && target && asked.op === "act") {
          cursor.show(target, asked.action.type);
        }
        return JSON.stringify(await answer(refs, asked, errors, noticed));
      } catch (error) {
        return JSON.stringify({ error: described(error) });
      }
    },
  };
}

interface BufferedRecorder {
  start(redact: string[]): object;
  stop(): object;
  /** What happened since the last call; `on` is false if nothing is recorded, as after a reload. */
  take(): { events: Noticed[]; on: boolean };
}

const MOST_NOTICED = 400;

/** A recorder whose events wait until the server asks for them. */
function bufferedRecorder(refs: Refs): BufferedRecorder {
  let events: Noticed[] = [];
  let recorder: PersonRecorder | null = null;
  return {
    start(redact) {
      recorder ??= record(refs, redact, (event) => { if (events.length < MOST_NOTICED) events.push(event); });
      return {};
    },
    stop() {
      recorder?.stop();
      recorder = null;
      return {};
    },
    take() {
      const taken = events;
      events = [];
      return { events: taken, on: recorder !== null };
    },
  };
}

async function answer(refs: Refs, request: Request, errors: () => string[], noticed: BufferedRecorder): Promise<object> {
  switch (request.op) {
    case "capture":
      return withErrors(capture(refs, request.ask), errors());
    case "tell":
      refs.tell(request.rows);
      return {};
    case "act":
      await renderTarget(refs, request.action.target);
      return act(refs, request.action);
    case "spot": {
      await renderTarget(refs, request.target);
      const { x, y } = await settledPoint(refs, resolveTarget(refs, request.target), request.force ?? false, request.hovered ?? false, request.passive);
      return { x, y };
    }
    case "at": {
      const chain = chainAt(request.x, request.y);
      if (!chain.length) throw new ActionError("OFFSCREEN", "There is nothing at that point");
      return { chain: chain.map((element) => ({ uid: refs.uidOf(element), path: pathOf(element) })) };
    }
    case "box": {
      const element = resolveTarget(refs, request.target);
      element.scrollIntoView({ block: "nearest", behavior: "instant" });
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    }
    case "content": {
      const frame = resolveTarget(refs, request.target);
      const [box, offset] = [frame.getBoundingClientRect(), frameOffset(frame.ownerDocument)];
      return { x: offset.x + box.x + frame.clientLeft, y: offset.y + box.y + frame.clientTop };
    }
    case "annotate":
      return annotate(refs);
    case "mark":
      return mark(resolveTarget(refs, request.target));
    case "conceal":
      return concealFields();
    case "pointed":
      return describePointed(refs);
    case "pointing":
      globalThis.uiMcpPointCard?.enable(request.on);
      globalThis.uiMcpRecorder?.enable(request.on);
      return {};
    case "record":
      return request.on ? noticed.start(request.redact) : noticed.stop();
    case "recorded":
      return noticed.take();
    case "unwatch":
      globalThis.uiMcpRecorder?.stop();
      return {};
    case "compare":
      return compare(request.before, request.after);
    case "clear":
      return clear();
    case "idle":
      await idle();
      return {};
  }
}

function withErrors(captured: Captured, errors: string[]): Captured {
  return { ...captured, problems: [...captured.problems, ...errors] };
}

/** Perform an action by script. Driven pages get real input for what is refused here. */
async function act(refs: Refs, action: PageAction): Promise<{ click?: string }> {
  switch (action.type) {
    case "focus":
      focus(refs, action);
      return {};
    case "setText":
      setText(refs, action);
      return {};
    case "typeText":
      if (action.target) focus(refs, action);
      insertText(action.text ?? "");
      return {};
    case "scroll":
      await scroll(refs, action);
      return {};
    case "select": {
      const choice = select(refs, action);
      return choice ? { click: refs.uidOf(choice) } : {};
    }
    case "setChecked":
    case "expand":
    case "collapse": {
      const element = toggle(refs, action);
      return element ? { click: refs.uidOf(element) } : {};
    }
    case "pressKey":
      pressBySynthesis(action.key ?? "", action.modifiers ?? []);
      return {};
    case "click":
    case "doubleClick":
      await clickBySynthesis(refs, pointed(refs, action), action.type === "click" ? action.clickCount ?? 1 : 2, action.force ?? false);
      return {};
    case "hover": {
      const spot = await settledPoint(refs, pointed(refs, action), action.force ?? false, false, true);
      const init = { bubbles: true, composed: true, ...clientPoint(spot.hit, spot) };
      for (const type of ["pointerover", "mouseover", "mousemove"]) spot.hit.dispatchEvent(new MouseEvent(type, init));
      return {};
    }
    default:
      throw new ActionError("NEEDS_NATIVE_INPUT", `${action.type} needs real input; use target "browser"`);
  }
}

function pointed(refs: Refs, action: PageAction): HTMLElement {
  if (action.target) return resolveTarget(refs, action.target);
  const hit = deepestAt(document, action.x ?? -1, action.y ?? -1);
  if (!hit) throw new ActionError("OFFSCREEN", "There is nothing at that point");
  return hit as HTMLElement;
}

/** Wait for two animation frames and two tasks, or a time limit, since background pages get no frames. */
async function idle(): Promise<void> {
  // On a busy machine a frame may take long, and with it what comes with a frame, such as scroll events.
  const longest = document.visibilityState === "visible" ? 1000 : 100;
  const frame = () => new Promise<void>((done) => {
    requestAnimationFrame(() => done());
    setTimeout(done, longest);
  });
  const task = () => new Promise<void>((done) => setTimeout(done, 0));
  await frame();
  await frame();
  await task();
  await task();
}

function described(error: unknown): { code: string; message: string; details: object } {
  if (error instanceof CaptureError) return { code: error.code, message: error.message, details: {} };
  if (error instanceof StaleRowError) return { code: "MCP_UI_STALE_REF", message: error.message, details: { now: error.now } };
  if (error instanceof ActionError) {
    const code = error.reason ? "MCP_UI_ACTION_FAILED" : "MCP_UI_NODE_NOT_FOUND";
    return { code, message: error.message, details: error.reason ? { reason: error.reason, ...error.details } : {} };
  }
  return { code: "MCP_UI_INTERNAL", message: String(error), details: {} };
}
