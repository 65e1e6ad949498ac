/** The connection to the MCP host around this page: JSON-RPC over postMessage. */
import type { Json } from "../protocol";

type Params = Record<string, unknown>;

interface Envelope {
  jsonrpc?: string;
  id?: number | string;
  method?: string;
  params?: Params;
  result?: Params;
  error?: { message?: string };
}

export interface HostContext {
  theme?: string;
  styles?: { variables?: Record<string, string>; css?: { fonts?: string } };
  containerDimensions?: { height?: number; maxHeight?: number };
}

export interface HostAnswer {
  hostCapabilities?: { sandbox?: { csp?: { connectDomains?: string[] } } };
  hostContext?: HostContext;
}

export interface HostBridge {
  request(method: string, params: Params): Promise<Params>;
  notify(method: string, params?: Params): void;
  /** Call `act` for notifications and requests with this method. Requests are answered with an empty result. */
  on(method: string, act: (params: Params) => void): void;
}

export function hostBridge(parent: Window): HostBridge {
  const waiting = new Map<number | string, { resolve(result: Params): void; reject(error: Error): void }>();
  const listeners = new Map<string, (params: Params) => void>();
  let last = 0;
  const post = (message: Envelope): void => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  window.addEventListener("message", (event: MessageEvent<Envelope | null>) => {
    const message = event.data;
    if (event.source !== parent || message?.jsonrpc !== "2.0") {
      return;
    }
    if (message.method !== undefined) {
      listeners.get(message.method)?.(message.params ?? {});
      if (message.id !== undefined) {
        post({ id: message.id, result: {} });
      }
      return;
    }
    const pending = message.id === undefined ? undefined : waiting.get(message.id);
    if (pending !== undefined && message.id !== undefined) {
      waiting.delete(message.id);
      if (message.error === undefined) {
        pending.resolve(message.result ?? {});
      } else {
        pending.reject(new Error(message.error.message ?? "the host refused"));
      }
    }
  });

  return {
    request(method, params) {
      last += 1;
      const id = last;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        post({ id, method, params });
      });
    },
    notify: (method, params = {}) => post({ method, params }),
    on: (method, act) => void listeners.set(method, act),
  };
}

/** Call a tool of our server through the host and return its structured content. */
export async function callTool(host: HostBridge, name: string, given: Record<string, Json>): Promise<Params> {
  const result = await host.request("tools/call", { name, arguments: given });
  if (result["isError"] === true) {
    throw new Error(JSON.stringify(result["content"]));
  }
  return (result["structuredContent"] ?? {}) as Params;
}
