/** The page inside an MCP host: the same app, connected through the host. */
import "../components/core";
import "../components/more";
import "../page.css";
import "../shell.css";
import "../app.css";
import "./embed.css";
import { make } from "../page/markup";
import { markOwnLayout } from "../page/own_layout";
import { start } from "../start";
import { followSystem } from "../theme/theme";
import { polling, type SyncAnswer } from "../transport/sync";
import { callTool, hostBridge, type HostAnswer, type HostBridge } from "./host";
import { inlineIcons } from "./icons";
import { applyHostTheme } from "./host_theme";
import { socketUpgrade } from "./upgrade";

// A document inside a host can load nothing, so it brings all elements along, but for two whose libraries are larger than it.
import.meta.glob(["../elements/*/element.ts", "!../elements/{editor,mermaid}/element.ts"], { eager: true });
import "./plain_elements";

const PROTOCOL = "2026-01-26";
const HOST_TIMEOUT_MS = 5000;
const INPUT_TIMEOUT_MS = 150;

async function boot(): Promise<void> {
  document.documentElement.classList.add("ui-embedded");
  window.uiThemes = { names: ["light", "dark"], dark: ["dark"] };
  inlineIcons();
  followSystem();
  const host = hostBridge(window.parent);
  const session = sessionFromTool(host);
  host.on("ui/notifications/host-context-changed", (context) => applyHostTheme(context));
  const answer = await initialize(host);
  if (answer === null) {
    return;
  }
  applyHostTheme(answer.hostContext ?? {});
  host.notify("ui/notifications/initialized");
  const root = document.querySelector("[ui-app]") as Element;
  markOwnLayout(root);
  const domains = answer.hostCapabilities?.sandbox?.csp?.connectDomains ?? [];
  const sync = async (args: Parameters<typeof callTool>[2]): Promise<SyncAnswer> =>
    (await callTool(host, "ui_sync", args)) as unknown as SyncAnswer;
  const connection = start({
    root,
    dial: polling(sync, await session, socketUpgrade(domains)),
    probe: () => Promise.resolve(true),
    define: () => undefined,
  });
  host.on("ui/resource-teardown", () => connection.end());
  host.on("ping", () => undefined);
  publishHostApi(host);
  followSize(host, root);
  followLinks(host);
}

/** Initialize the connection to the host. Without an answer show a message and return null. */
async function initialize(host: HostBridge): Promise<HostAnswer | null> {
  const answering = host.request("ui/initialize", {
    protocolVersion: PROTOCOL,
    appInfo: { name: "ui-mcp", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  });
  const timeout = new Promise<null>((resolve) => setTimeout(() => resolve(null), HOST_TIMEOUT_MS));
  const answer = window.parent === window ? null : await Promise.race([answering, timeout]);
  if (answer === null) {
    const text = "This page works only inside an MCP host. In a browser, open the address that ui_start returns.";
    document.body.replaceChildren(make("main", "ui-plain", make("h1", "", "No MCP host"), make("p", "", text)));
  }
  return answer;
}

/** The session named in the tool call, if the host sends its input in time. */
function sessionFromTool(host: HostBridge): Promise<string> {
  return new Promise((resolve) => {
    host.on("ui/notifications/tool-input", ({ arguments: given }) => {
      const named = (given as Record<string, unknown> | undefined)?.["sessionId"];
      resolve(typeof named === "string" && named !== "" ? named : "1");
    });
    host.on("ui/notifications/tool-result", () => resolve("1"));
    setTimeout(() => resolve("1"), INPUT_TIMEOUT_MS);
  });
}

/** Publish the host's functions to scripts of viewdefs. */
function publishHostApi(host: HostBridge): void {
  Object.assign(window.uiApp, {
    sendMessage: (text: string) => host.request("ui/message", { role: "user", content: { type: "text", text } }),
    updateModelContext: (text: string) => host.request("ui/update-model-context", { content: [{ type: "text", text }] }),
    openLink: (url: string) => host.request("ui/open-link", { url }),
  });
}

function followSize(host: HostBridge, root: Element): void {
  let last = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height);
    if (height !== last && height > 0) {
      last = height;
      host.notify("ui/notifications/size-changed", { height });
    }
  }).observe(root);
}

function followLinks(host: HostBridge): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (link instanceof HTMLAnchorElement && /^https?:/.test(link.href) && !event.defaultPrevented) {
      event.preventDefault();
      void host.request("ui/open-link", { url: link.href });
    }
  });
}

void boot();
