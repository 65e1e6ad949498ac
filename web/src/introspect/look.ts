/** Answers the server's questions about what this page shows; the eyes themselves are loaded with the first one. */

import type { create, Introspector } from "./main";

interface Look {
  data: { id: number; prefix: string; request: string };
}

declare global {
  var uiMcpIntrospect: { create: typeof create } | undefined;
}

const SCRIPT = "/introspect/introspect.js";
const UNABLE = '{"error":{"code":"MCP_UI_INTERNAL","message":"this page cannot load its eyes","details":{}}}';
let eyes: Promise<Introspector> | null = null;

export function isLook(frame: string): boolean {
  return frame.startsWith('{"type":"look"');
}

export async function answerLook(frame: string, send: (frame: string) => void): Promise<void> {
  const { data } = JSON.parse(frame) as Look;
  const answer = data.request === "" ? "{}" : await look(data.prefix, data.request);
  send(JSON.stringify({ type: "looked", data: { id: data.id, answer } }));
}

function look(prefix: string, request: string): Promise<string> {
  eyes ??= load(prefix);
  return eyes.then((loaded) => loaded.call(request), () => UNABLE);
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
  return loaded.create(prefix);
}
