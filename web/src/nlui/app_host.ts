/** The host side of MCP Apps: answers an app's requests, and tells it about the call that it shows. */

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export type DisplayMode = "inline" | "fullscreen";

/** What the page does for an app; a rejected promise becomes an error for the app. */
export interface HostServices {
  readonly send: (message: Message) => void;
  /** Ask the app's server, within policy. */
  readonly ask: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** Show the person what the app wants to say, and post it if they agree. */
  readonly say: (text: string) => Promise<boolean>;
  readonly openLink: (url: string) => Promise<boolean>;
  readonly save: (name: string, data: Blob) => Promise<boolean>;
  readonly resized: (height: number) => void;
  /** Change how the app is displayed, and return how it is displayed now. */
  readonly display: (mode: DisplayMode) => DisplayMode;
  readonly closed: () => void;
  readonly log: (text: string) => void;
  /** `hostContext` of the handshake. */
  readonly context: () => Readonly<Record<string, unknown>>;
  readonly sandbox: Readonly<Record<string, unknown>>;
}

export interface AppHost {
  receive(message: Message): void;
  /** Tell the app the arguments of its call, and its result once there is one. */
  show(input: Readonly<Record<string, unknown>>, result: Outcome | null): void;
  notify(method: string, params: Readonly<Record<string, unknown>>): void;
  /** Let the app finish what it does; resolves when it has answered, or after a while. */
  teardown(): Promise<void>;
}

export type Outcome = { readonly result: Readonly<Record<string, unknown>> } | { readonly cancelled: string };

const DENIED = -32000;
const UNKNOWN = -32601;
const TEARDOWN_MS = 1500;
const FORWARDED = new Set([
  "tools/call",
  "tools/list",
  "resources/read",
  "resources/list",
  "resources/templates/list",
  "resources/subscribe",
  "prompts/list",
  "ui/update-model-context",
]);

class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export function appHost(services: HostServices): AppHost {
  let initialized = false;
  let inputSent = false;
  let resultSent = false;
  let pending: { readonly input: Readonly<Record<string, unknown>>; readonly result: Outcome | null } | null = null;
  let modes: readonly unknown[] | null = null;
  let mode: DisplayMode = "inline";
  let tornDown: (() => void) | null = null;
  const early: Message[] = [];

  const notify = (method: string, params: Readonly<Record<string, unknown>>): void => {
    const message: Message = { jsonrpc: "2.0", method, params };
    if (initialized) {
      services.send(message);
    } else {
      early.push(message); // nothing is sent before the app has said that it is initialized
    }
  };
  const tell = (): void => {
    if (!initialized || !pending) {
      return;
    }
    if (!inputSent) {
      inputSent = true;
      notify("ui/notifications/tool-input", { arguments: pending.input });
    }
    if (pending.result && !resultSent) {
      resultSent = true;
      if ("result" in pending.result) {
        notify("ui/notifications/tool-result", pending.result.result);
      } else {
        notify("ui/notifications/tool-cancelled", { reason: pending.result.cancelled });
      }
    }
  };
  const initialize = (params: Readonly<Record<string, unknown>>): unknown => {
    const declared = (params["appCapabilities"] as { readonly availableDisplayModes?: unknown } | undefined)?.availableDisplayModes;
    modes = Array.isArray(declared) ? declared : null;
    return {
      protocolVersion: "2026-01-26",
      hostInfo: { name: "nlui", version: "1" },
      hostCapabilities: {
        openLinks: {},
        downloadFile: {},
        serverTools: { listChanged: true },
        serverResources: { listChanged: true },
        logging: {},
        updateModelContext: { text: {}, structuredContent: {} },
        message: { text: {} },
        sandbox: services.sandbox,
      },
      hostContext: { ...services.context(), displayMode: mode },
    };
  };
  const display = (wanted: unknown): unknown => {
    const known = wanted === "inline" || wanted === "fullscreen";
    if (known && (modes === null || modes.includes(wanted))) {
      mode = services.display(wanted);
    }
    return { mode };
  };
  const answer = async (method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> => {
    switch (method) {
      case "ui/initialize":
        return initialize(params);
      case "ping":
        return {};
      case "ui/message":
        return agreed(services.say(textOf(params["content"])), "The person did not send the message");
      case "ui/open-link":
        return agreed(services.openLink(webAddress(params["url"])), "The person did not open the link");
      case "ui/download-file":
        return agreed(saveAll(params["contents"], services.save), "The person did not save the file");
      case "ui/request-display-mode":
        return display(params["mode"]);
      default:
        if (FORWARDED.has(method)) {
          return services.ask(method, params);
        }
        throw new Refusal(UNKNOWN, `Method not found: ${method}`);
    }
  };
  const notified = (method: string, params: Readonly<Record<string, unknown>>): void => {
    switch (method) {
      case "ui/notifications/initialized":
        initialized = true;
        tell();
        early.splice(0).forEach(services.send);
        break;
      case "ui/notifications/size-changed":
        if (typeof params["height"] === "number") {
          services.resized(params["height"]);
        }
        break;
      case "ui/notifications/request-teardown":
        services.closed();
        break;
      case "notifications/message":
        services.log(JSON.stringify(params["data"] ?? ""));
        break;
    }
  };
  return {
    notify,
    receive(message) {
      const params = message.params ?? {};
      if (message.method === undefined) {
        tornDown?.(); // the one request that we send
      } else if (message.id === undefined) {
        notified(message.method, params);
      } else {
        const { id } = message;
        void answer(message.method, params).then(
          (result) => services.send({ jsonrpc: "2.0", id, result }),
          (error: unknown) => services.send({ jsonrpc: "2.0", id, error: failure(error) }),
        );
      }
    },
    show(input, result) {
      pending = { input, result };
      tell();
    },
    async teardown() {
      if (!initialized) {
        return;
      }
      const done = new Promise<void>((resolve) => {
        tornDown = resolve;
        setTimeout(resolve, TEARDOWN_MS);
      });
      services.send({ jsonrpc: "2.0", id: "teardown", method: "ui/resource-teardown", params: { reason: "closed" } });
      await done;
    },
  };
}

async function agreed(work: Promise<boolean>, refused: string): Promise<unknown> {
  if (!(await work)) {
    throw new Refusal(DENIED, refused);
  }
  return {};
}

function failure(error: unknown): { readonly code: number; readonly message: string } {
  const given = error as { readonly code?: unknown; readonly message?: unknown };
  return { code: typeof given.code === "number" ? given.code : DENIED, message: String(given.message ?? error) };
}

function textOf(content: unknown): string {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const text = blocks.map((block) => (block as { readonly text?: unknown } | null)?.text).filter((one) => typeof one === "string").join("\n");
  if (!text.trim()) {
    throw new Refusal(DENIED, "Only messages with text can be sent");
  }
  return text;
}

function webAddress(url: unknown): string {
  const parsed = URL.parse(String(url));
  if (!parsed || !["http:", "https:", "mailto:"].includes(parsed.protocol)) {
    throw new Refusal(DENIED, "Only links to web pages can be opened");
  }
  return parsed.href;
}

async function saveAll(contents: unknown, save: HostServices["save"]): Promise<boolean> {
  for (const block of Array.isArray(contents) ? (contents as readonly Readonly<Record<string, unknown>>[]) : []) {
    const inner = (block["resource"] ?? {}) as { readonly uri?: string; readonly mimeType?: string; readonly text?: string; readonly blob?: string };
    const name = (inner.uri ?? "").split("/").at(-1) || "file";
    const bytes = inner.blob === undefined ? (inner.text ?? "") : Uint8Array.from(atob(inner.blob), (one) => one.charCodeAt(0));
    if (!(await save(name, new Blob([bytes], { type: inner.mimeType ?? "application/octet-stream" })))) {
      return false;
    }
  }
  return true;
}
