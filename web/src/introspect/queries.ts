/** Answers the server's queries about this page. The introspection script is loaded with the first one. */

import type { create, Introspector } from "./main";
import { MESSAGE_LOOK, MESSAGE_LOOKED } from "../wire.gen";

interface Query {
  data: { id: number; prefix: string; request: string };
}

declare global {
  var uiMcpIntrospect: { create: typeof create } | undefined;
}

const SCRIPT = "/introspect/introspect.js";
const UNABLE = '{"error":{"code":"MCP_UI_INTERNAL","message":"this page could not load the introspection script","details":{}}}';
let introspector: Promise<Introspector> | null = null;

export function isQuery(frame: string): boolean {
  return frame.startsWith(`{"type":"${MESSAGE_LOOK}"`);
}

export async function answerQuery(frame: string, send: (frame: string) => void): Promise<void> {
  const { data } = JSON.parse(frame) as Query;
  const answer = data.request === "" ? "{}" : await ask(data.prefix, data.request);
  send(JSON.stringify({ type: MESSAGE_LOOKED, data: { id: data.id, answer } }));
}

function ask(prefix: string, request: string): Promise<string> {
  introspector ??= load(prefix);
  return introspector.then((loaded) => loaded.call(request), () => UNABLE);
}

async function load(prefix: string): Promise<Introspector> {
  const script = document.createElement("script");
  script.src = SCRIPT;
  await new Promise((done, failed) => {
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
  const loaded = globalThis.uiMcpIntrospect;
  if (!loaded) throw new Error(`${SCRIPT} did not load`);
  return loaded.create(prefix, true);
}
