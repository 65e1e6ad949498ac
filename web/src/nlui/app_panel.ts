/** An app of a mounted server beside the chat, in a sandbox on another origin. */
import "./app_panel.css";
import { type AppHost, appHost, type DisplayMode, type Message, type Outcome } from "./app_host";
import { api, person } from "./api";
import { button, make } from "./dom";
import type { Item } from "./state";

const READY = "ui/notifications/sandbox-proxy-ready";
const LOAD = "ui/notifications/sandbox-resource-ready";
const RUNNING = new Set(["running", "pending"]);

export interface AppPanel {
  readonly element: HTMLElement;
  /** Open the app of a call. */
  open(conversation: string, item: Item): void;
  /** Tell the open app about its call again, which may have ended meanwhile. */
  update(items: readonly Item[]): void;
  /** Reopen the app that was open in a conversation before a reload; close that of another one. */
  restore(conversation: string, items: readonly Item[]): void;
}

interface Shown {
  readonly item: Item;
  readonly conversation: string;
  readonly host: AppHost;
  readonly stop: () => Promise<void>;
}

/** The call that an item of the timeline is about. */
export function callOf(item: Item): string {
  return item.id.replace(/^t:/, "");
}

/** The tool that was called and its arguments, also if by `nlui__call`. */
export function calledBy(item: Item): { readonly name: string; readonly args: Readonly<Record<string, unknown>> } {
  const args = (item.args ?? {}) as Readonly<Record<string, unknown>>;
  if (item.name === "nlui__call" && typeof args["name"] === "string") {
    return { name: args["name"], args: (args["arguments"] ?? {}) as Readonly<Record<string, unknown>> };
  }
  return { name: item.name ?? "", args };
}

export function appPanel(say: (conversation: string, text: string) => Promise<unknown>, failed: (error: unknown) => void): AppPanel {
  const title = make("h2.nlui-apptitle");
  const wide = button("Widen", () => setMode(mode === "inline" ? "fullscreen" : "inline"), "nlui-small");
  const questions = make("div.nlui-appbar", { role: "status" });
  const waits = make("div.nlui-appbar", { role: "status" });
  const place = make("div.nlui-appframe");
  const element = make(
    "section.nlui-app",
    { "aria-label": "App" },
    make("header.nlui-bar", {}, title, wide, button("Close", () => void close(), "nlui-small")),
    waits,
    questions,
    place,
  );
  element.hidden = true;
  let mode: DisplayMode = "inline";
  let shown: Shown | null = null;
  let opening = 0;
  let known: readonly Item[] = [];

  const setMode = (next: DisplayMode): DisplayMode => {
    mode = next;
    document.body.classList.toggle("nlui-wideapp", mode === "fullscreen");
    wide.textContent = mode === "inline" ? "Widen" : "Narrow";
    shown?.host.notify("ui/notifications/host-context-changed", { displayMode: mode });
    return mode;
  };
  /** Ask the person; false if they refuse or the app is closed. */
  const ask = (words: string, yes: string, act: () => void): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (agreed: boolean): void => {
        row.remove();
        if (agreed) {
          act();
        }
        resolve(agreed);
      };
      const row = make("div.nlui-row", {}, make("span", {}, words), button(yes, () => end(true), "nlui-small nlui-primary"), button("No", () => end(false), "nlui-small"));
      questions.append(row);
    });
  const close = async (): Promise<void> => {
    const old = shown;
    const ticket = ++opening;
    shown = null;
    if (old) {
      localStorage.removeItem(keyOf(old.conversation));
      await old.stop();
    }
    if (ticket === opening) {
      element.hidden = true;
      document.body.classList.remove("nlui-withapp", "nlui-wideapp");
      place.replaceChildren();
      questions.replaceChildren();
      waits.replaceChildren();
    }
  };
  const showWaiting = (tools: readonly string[]): void => {
    const link = make("a", { href: "/approvals", target: "_blank" }, "Answer");
    waits.replaceChildren(...(tools.length > 0 ? [make("div.nlui-row", {}, make("span", {}, `The app wants to call ${tools.join(", ")}.`), link)] : []));
  };

  const load = async (conversation: string, item: Item, ticket: number): Promise<void> => {
    const { name } = calledBy(item);
    title.textContent = name;
    place.replaceChildren(make("p.nlui-notice", {}, "Opening the app…"));
    element.hidden = false;
    document.body.classList.add("nlui-withapp");
    const view = await api.openApp(name, conversation);
    if (ticket !== opening) {
      void api.closeApp(view.view);
      return;
    }
    title.textContent = `${view.tool.title ?? view.tool.name} · ${view.server}`;
    const origin = new URL(view.url).origin;
    const frame = make("iframe", { title: `App of ${view.server}`, sandbox: "allow-scripts allow-same-origin allow-forms", allow: view.allow, referrerpolicy: "no-referrer" });
    frame.classList.toggle("nlui-borderless", !view.border);
    const post = (message: object): void => frame.contentWindow?.postMessage(message, origin);
    const host = appHost({
      send: post,
      ask: (method, params) => api.askApp(view.view, method, params),
      say: (text) => ask(`The app wants to say: “${text}”`, "Send", () => void say(conversation, text).catch(failed)),
      openLink: (url) => ask(`The app wants to open ${url}`, "Open", () => window.open(url, "_blank", "noopener,noreferrer")),
      save: (name, data) => ask(`The app wants to save ${name}`, "Save", () => download(name, data)),
      resized: () => undefined, // beside the chat the app has a fixed place
      display: setMode,
      closed: () => void close(),
      log: (text) => console.info(`app of ${view.server}:`, text),
      context: () => ({
        toolInfo: { id: callOf(item), tool: view.tool },
        theme: isDark() ? "dark" : "light",
        availableDisplayModes: ["inline", "fullscreen"],
        containerDimensions: { width: place.clientWidth, height: place.clientHeight },
        locale: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        userAgent: "nlui",
        platform: "web",
        deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
      }),
      sandbox: view.sandbox,
    });
    const heard = (event: MessageEvent<unknown>): void => {
      if (event.source !== frame.contentWindow || event.origin !== origin || !isMessage(event.data)) {
        return;
      }
      if (event.data.method === READY) {
        post({ jsonrpc: "2.0", method: LOAD, params: {} });
      } else {
        host.receive(event.data);
      }
    };
    addEventListener("message", heard);
    const sizes = new ResizeObserver(() => host.notify("ui/notifications/host-context-changed", { containerDimensions: { width: place.clientWidth, height: place.clientHeight } }));
    const look = new MutationObserver(() => host.notify("ui/notifications/host-context-changed", { theme: isDark() ? "dark" : "light" }));
    const ended = new AbortController();
    shown = {
      item,
      conversation,
      host,
      stop: async () => {
        await host.teardown();
        removeEventListener("message", heard);
        sizes.disconnect();
        look.disconnect();
        ended.abort();
        void api.closeApp(view.view).catch(() => undefined);
      },
    };
    localStorage.setItem(keyOf(conversation), item.id);
    void follow(view.view, ended.signal, (message) => {
      if (message.method === "nlui/waiting") {
        showWaiting((message.params?.["tools"] ?? []) as readonly string[]);
      } else if (message.method) {
        host.notify(message.method, message.params ?? {});
      }
    });
    place.replaceChildren(frame);
    sizes.observe(place);
    look.observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
    frame.src = view.url;
    await tell(known.find((one) => one.id === item.id) ?? item); // the call may have ended meanwhile
  };
  const tell = async (item: Item): Promise<void> => {
    const now = shown;
    if (now?.item.id === item.id) {
      now.host.show(calledBy(item).args, RUNNING.has(item.status ?? "running") ? null : await outcome(now.conversation, item));
    }
  };
  const open = (conversation: string, item: Item): void => {
    const ticket = ++opening;
    const old = shown;
    shown = null;
    void (old?.stop() ?? Promise.resolve()).then(() => load(conversation, item, ticket)).catch((error: unknown) => {
      void close();
      failed(error);
    });
  };
  return {
    element,
    open,
    update(items) {
      known = items;
      const item = shown ? items.find((one) => one.id === shown?.item.id) : undefined;
      if (item) {
        void tell(item);
      }
    },
    restore(conversation, items) {
      known = items;
      const kept = localStorage.getItem(keyOf(conversation));
      const item = items.find((one) => one.id === kept);
      if (shown?.conversation === conversation) {
        return;
      }
      if (item) {
        open(conversation, item);
      } else if (shown) {
        const now = shown;
        void close().then(() => localStorage.setItem(keyOf(now.conversation), now.item.id));
      }
    },
  };
}

const isMessage = (data: unknown): data is Message => (data as { readonly jsonrpc?: unknown } | null)?.jsonrpc === "2.0";
const keyOf = (conversation: string): string => `nlui-app:${conversation}`;
const isDark = (): boolean => getComputedStyle(document.documentElement).colorScheme.includes("dark");

async function outcome(conversation: string, item: Item): Promise<Outcome> {
  if (item.status === "denied" || item.status === "aborted") {
    return { cancelled: item.reason ?? item.status };
  }
  const kept = await api.appCall(conversation, callOf(item)).catch(() => null);
  if (kept) {
    return { result: kept.result };
  }
  const value = item.content?.result;
  const structured = typeof value === "object" && value !== null && !Array.isArray(value) ? { structuredContent: value } : {};
  return { result: { content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value ?? null) }], ...structured, isError: item.content?.is_error ?? false } };
}

function download(name: string, data: Blob): void {
  const link = make("a", { href: URL.createObjectURL(data), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Read the server's notifications for a view until it is closed. */
async function follow(view: string, signal: AbortSignal, take: (message: Message) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      const answer = await person.fetch(`/api/apps/views/${view}/events`, { signal });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        text += part.value;
        const events = text.split("\n\n");
        text = events.pop() ?? "";
        for (const event of events) {
          const data = event.split("\n").find((line) => line.startsWith("data: "));
          if (data) {
            take(JSON.parse(data.slice(6)) as Message);
          }
        }
      }
    } catch {
      // asked again below; a view that the server no longer knows is opened anew by the person
    }
    await new Promise((resolve) => setTimeout(resolve, signal.aborted ? 0 : 3000));
  }
}
