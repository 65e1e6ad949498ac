/**
 * Authenticated requests of the person. The credential is kept in the storage of this origin and sent in a header. A
 * cookie would not do: all ports of a host share cookies, so a page on another port could use it.
 */

const KEY = "ui-person";

/** The server refused a request; `code` is the error code it sent. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Like `fetch`, but rejects with `RequestError` unless the response is ok. */
export type Fetch = (path: string, options?: RequestInit) => Promise<Response>;

export interface Person {
  readonly fetch: Fetch;
  credential(): string;
  /** Exchange a one-time code for a credential. */
  signIn(code: string): Promise<void>;
  /** Revoke the credential on the server and delete it here. */
  signOut(): Promise<void>;
  /** Call `listener` when the credential was rejected or deleted, in this tab or another. */
  onSignedOut(listener: (why: string) => void): void;
}

export function personClient(fetcher: typeof fetch = (...request) => globalThis.fetch(...request)): Person {
  let kept = storedCredential();
  let nonce = document.querySelector<HTMLMetaElement>('meta[name="ui-nonce"]')?.content ?? "";
  const listeners: ((why: string) => void)[] = [];

  const signedOut = (why: string): void => {
    kept = "";
    storeCredential("");
    listeners.forEach((listener) => listener(why));
  };
  addEventListener("storage", (event) => {
    if (event.key === KEY) {
      kept = event.newValue ?? "";
      if (kept === "") {
        signedOut("You signed out in another tab.");
      }
    }
  });

  async function send(path: string, options: RequestInit): Promise<Response> {
    const headers = new Headers(options.headers);
    if (kept) {
      headers.set("X-UI-Person", kept);
    }
    if ((options.method ?? "GET") !== "GET") {
      headers.set("X-UI-Nonce", nonce);
    }
    return fetcher(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  }

  /** Fetch the nonce of the running server, which may have been restarted since this page was loaded. */
  async function renewed(): Promise<boolean> {
    const answer = await send("/person/nonce", {});
    nonce = answer.ok ? ((await answer.json()) as { readonly nonce: string }).nonce : nonce;
    return answer.ok;
  }

  const attempt: Fetch = async (path, options = {}) => {
    let answer = await send(path, options);
    const isStale = answer.status === 409 && (await errorOf(answer.clone())).code === "stale_page";
    if (isStale && (await renewed())) {
      answer = await send(path, options);
    }
    if (!answer.ok) {
      throw await errorOf(answer);
    }
    return answer;
  };

  const fetch: Fetch = async (path, options) => {
    const used = kept;
    try {
      return await attempt(path, options);
    } catch (error) {
      const unknown = error instanceof RequestError && error.status === 401 && error.code === "unauthorized";
      if (unknown && used && used === kept) {
        signedOut(isPhonePage() ? "This phone is not paired any more." : "This browser is no longer signed in.");
      }
      throw error;
    }
  };

  return {
    fetch,
    credential: () => kept,
    async signIn(code) {
      try {
        const { credential } = await sendJson<{ readonly credential: string }>(attempt, "/person/enter", { code });
        kept = credential;
        storeCredential(credential);
      } catch (error) {
        if (error instanceof RequestError && error.code === "stale_page") {
          reloadWith(code); // a new nonce otherwise needs a credential
        }
        throw error;
      }
    },
    async signOut() {
      await sendJson(fetch, "/person/leave", {});
      signedOut("You are signed out.");
    },
    onSignedOut(listener) {
      listeners.push(listener);
    },
  };
}

export async function readJson<T>(fetch: Fetch, path: string): Promise<T> {
  return (await (await fetch(path, { headers: { Accept: "application/json" } })).json()) as T;
}

export async function sendJson<T>(fetch: Fetch, path: string, body: unknown, method = "POST"): Promise<T> {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return (await (await fetch(path, { method, headers, body: JSON.stringify(body) })).json()) as T;
}

/** Requests without the person's credential, for pages that may only read. */
export const fetchAsVisitor: Fetch = async (path, options = {}) => {
  const answer = await globalThis.fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) {
    throw await errorOf(answer);
  }
  return answer;
};

/** Return the code from the address of a sign-in link, and remove it from the address bar and the history. */
export function codeFromAddress(): string {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
  }
  return code;
}

/** Return whether this is the page for paired phones, which can be installed. */
export function isPhonePage(): boolean {
  return document.querySelector('link[rel="manifest"]') !== null;
}

function reloadWith(code: string): void {
  history.replaceState(null, "", `${location.pathname}${location.search}#${new URLSearchParams({ code })}`);
  location.reload();
}

/** Return a message that says why a request failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestError) {
    return error.message;
  }
  // fetch throws a TypeError whose message differs between browsers.
  return error instanceof TypeError ? "The server cannot be reached." : error instanceof Error ? error.message : String(error);
}

async function errorOf(answer: Response): Promise<RequestError> {
  const unreadable = new RequestError(answer.status, "error", `The server answered ${answer.status}.`);
  try {
    const { error } = (await answer.json()) as { readonly error?: string | { readonly code: string; readonly message: string } };
    if (error === undefined) {
      return unreadable;
    }
    return typeof error === "string" ? new RequestError(answer.status, "error", error) : new RequestError(answer.status, error.code, error.message);
  } catch {
    return unreadable;
  }
}

function storedCredential(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

function storeCredential(credential: string): void {
  try {
    if (credential) {
      localStorage.setItem(KEY, credential);
    } else {
      localStorage.removeItem(KEY);
    }
  } catch {
    // Without storage the credential lasts as long as the page.
  }
}
