/** The chat: the log of the conversation, the composer, and problems with the connection. */
import { type LoadFile, parted, withReferences } from "../nlui/attached";
import { type Attachments, attachments, type Storage, takeFiles } from "../nlui/attachments";
import { reasonOf, RequestError } from "../person/client";
import type { ActivityChanged } from "./activity";
import { composer } from "./composer";
import { element } from "./inline";
import { echoed, empty, failed, merged, newest, type Echo, type Log } from "./log";
import { logView } from "./logview";
import type { Prompts } from "./prompts";
import { type AgentRequest, runBar } from "./run_bar";
import type { Server } from "./server";
import "./chat.css";

type Follow = (changed: ActivityChanged, problem: (why: string) => void) => () => void;

export interface Chat {
  focus(): void;
  stop(): void;
}

export interface Options {
  /** Follows what the agent does between messages. */
  readonly follow?: Follow;
  /** Stops the agent, or lets it go on. */
  readonly ask?: (request: AgentRequest) => Promise<unknown>;
  /** Stores and loads the files of messages; absent where none can be attached. */
  readonly files?: Storage;
  /** Loads the files of messages where they can only be read. */
  readonly load?: LoadFile;
  readonly prompts?: Prompts;
  /** Replaces the composer where the page may only read. */
  readonly footer?: HTMLElement;
  /** Builds the form shown when the server requires authentication; by default only the error is shown. */
  readonly signIn?: (why: string, again: () => void) => HTMLElement;
}

export function chat(root: HTMLElement, server: Server, { follow = () => () => undefined, ask, files, load = files?.load, prompts, footer, signIn }: Options = {}): Chat {
  let log: Log = empty;
  const notice = element("div");
  notice.className = "chat-notice";
  notice.setAttribute("role", "status");
  notice.hidden = true;
  const suggest = (content: string): void => {
    const { text, files: had } = parted(content);
    write.restore(text);
    if (had.length > 0) {
      attached?.set(had);
    }
    write.focus();
  };
  const view = logView({ earlier: () => void loadEarlier(), retry: (echo) => void send(echo), ...(load ? { load } : {}), ...(footer ? {} : { suggest }) });
  let attached: Attachments | null = null;
  const takes = files ? { files: (changed: () => void) => (attached = attachments(files, changed, sayWhy)) } : {};
  const write = composer(
    (text) => {
      view.stick();
      const content = withReferences(text, attached?.files() ?? []);
      attached?.set([]);
      void send({ client_id: crypto.randomUUID(), content, failed: null });
    },
    { ...takes, ...(prompts ? { prompts } : {}) },
  );
  if (files) {
    takeFiles(root, (dropped) => attached?.add(dropped));
  }
  const run = runBar(ask, (error) => showProblem(reasonOf(error), 0));
  root.classList.add("chat");
  root.replaceChildren(view.element, notice, run.element, footer ?? write.element);

  /** Say why a file was not taken; nothing is tried again. */
  function sayWhy(error: unknown): void {
    notice.hidden = false;
    notice.replaceChildren(reasonOf(error));
  }

  function update(next: Log): void {
    log = next;
    view.show(log);
  }

  async function send(echo: Echo): Promise<void> {
    update(echoed(log, { ...echo, failed: null }));
    try {
      const { id, ts } = await server.post(echo.content, echo.client_id);
      update(merged(log, [{ id, ts, author: "user", mime: "text/markdown", content: echo.content, client_id: echo.client_id }]));
    } catch (error) {
      update(failed(log, echo.client_id, error instanceof RequestError ? error.message : "Not sent: the server cannot be reached."));
    }
  }

  async function loadEarlier(): Promise<void> {
    try {
      const page = await server.earlier(log.messages[0]?.id ?? null);
      update({ ...merged(log, page.messages), earlier: page.has_earlier });
    } catch (error) {
      showProblem(error instanceof Error ? error.message : String(error), error instanceof RequestError ? error.status : 0);
    }
  }

  function showProblem(why: string | null, status: number): void {
    notice.hidden = why === null;
    const asking = status === 401 && notice.querySelector("form") !== null;
    if (why === null || asking) {
      return; // keep what is being typed into the form
    }
    notice.replaceChildren(status === 401 && signIn ? signIn(why, restart) : document.createTextNode(`${why} Trying again…`));
  }

  function restart(): void {
    notice.replaceChildren();
    stop();
    void start();
  }

  let stop = (): void => undefined;
  async function start(): Promise<void> {
    await loadEarlier();
    view.ready();
    if (!root.isConnected) {
      return;
    }
    stop = server.follow(() => newest(log), {
      message: (message) => update(merged(log, [message])),
      receipts: (receipts) => update({ ...log, receipts }),
      problem: showProblem,
    });
  }
  void start();
  const stopActivity = follow(
    (activity, { run: state, writing, waiting }) => {
      view.showActivity(activity, writing);
      run.show(state, waiting);
    },
    (why) => showProblem(why, 0),
  );
  return {
    focus: () => (footer ?? write).focus(),
    stop() {
      stop();
      stopActivity();
    },
  };
}
