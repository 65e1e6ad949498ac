/** Answers the requests of the nlui page from a table of paths, and records what was sent. */
import { vi } from "vitest";

export interface FakeApi {
  readonly sent: [method: string, path: string, body: unknown][];
  /** What each "METHOD /path" returns; a number is a refusal with this status. */
  readonly answers: Record<string, unknown>;
}

export function fakeApi(): FakeApi {
  const sent: FakeApi["sent"] = [];
  const answers: Record<string, unknown> = {
    "GET /api/conversations": [],
    "GET /api/targets": [],
    "GET /api/config/llm": { provider: "scripted", model: "", api_base: "", api_key: "", has_key: false, file: null },
    "GET /api/conversations/c1/tools": { enabled_sources: null, disabled_tools: [] },
  };
  vi.stubGlobal("fetch", (path: string, options: RequestInit = {}) => {
    const method = options.method ?? "GET";
    if (method !== "GET") sent.push([method, path, typeof options.body === "string" ? JSON.parse(options.body) : options.body]);
    const answer = answers[`${method} ${path}`] ?? {};
    return Promise.resolve(typeof answer === "number" ? Response.json({ error: { code: "refused", message: "Not possible" } }, { status: answer }) : Response.json(answer));
  });
  return { sent, answers };
}
