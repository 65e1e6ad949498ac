/** Connects a `ui-app` element with the server. */
import { publish } from "./api";
import { answerQuery, isQuery } from "./introspect/queries";
import { offerHistory } from "./history/keys";
import { HistoryRequests } from "./history/requests";
import { addresses } from "./page/address";
import { banner } from "./page/banner";
import { notify, removeNotice } from "./page/notices";
import { Press } from "./page/press";
import { showEnded } from "./page/status_pages";
import { errorTips } from "./page/tip";
import { unsaved } from "./page/unsaved";
import { setTheme } from "./theme/theme";
import { connect, type Connection } from "./transport/connection";
import type { Dial } from "./transport/transport";
import { App } from "./view/app";
import type { FoundProblem } from "./view/page_context";
import { NOTICE_ENDED, NOTICE_LOADED } from "./wire.gen";

export interface StartOptions {
  readonly root: Element;
  readonly dial: Dial;
  /** Resolve to whether the session still exists; reject if the server cannot be reached. */
  readonly probe: () => Promise<boolean>;
  /** Load the definitions of custom elements. */
  readonly define: (tags: ReadonlySet<string>) => void;
  /** Whether the page's location is that of what it shows. */
  readonly addressed?: boolean;
}

/** Report uncaught errors of scripts, which otherwise only the console shows. */
function reportScriptErrors(report: (problem: FoundProblem) => void): void {
  addEventListener("error", ({ message, filename, lineno, error }) => {
    if (error instanceof Error) {
      report({ kind: "script", message, source: `${filename.replace(location.origin, "")}:${lineno}` });
    }
  });
  addEventListener("unhandledrejection", ({ reason }) => report({ kind: "script", message: String(reason) }));
}

export function start({ root, dial, probe, define, addressed = false }: StartOptions): Connection {
  const showStatus = banner(() => connection.retry());
  const unsavedMark = unsaved();
  let ended = false;
  const end = (reason: string): void => {
    if (!ended) {
      ended = true;
      connection.end();
      showEnded(reason);
    }
  };
  const history = new HistoryRequests((frame) => connection.send(frame));
  const historyKeys = offerHistory(history);
  const app: App = new App(root, {
    ...(addressed ? { address: addresses((path) => app.visit(path)) } : {}),
    deliver(frame) {
      const delivered = connection.send(frame);
      if (delivered) {
        unsavedMark.sent();
      }
      return delivered;
    },
    define,
    saved(frames) {
      unsavedMark.saved(frames);
      historyKeys.saved();
    },
    history: (answer) => history.receive(answer),
    problems: (json) => {
      void import("./page/problems").then(({ showProblems, parseProblems }) => showProblems(parseProblems(json)));
    },
    download: (json) => {
      void import("./page/download").then(({ offerDownload }) => offerDownload(json));
    },
    notice: (level, text, code) => {
      if (code === NOTICE_ENDED) {
        end(level === "error" ? text : "");
      } else if (code === NOTICE_LOADED) {
        removeNotice(text);
      } else {
        notify(level, text);
      }
    },
  });
  const press = new Press((frame) => app.receive(frame));
  const connection: Connection = connect(
    dial,
    {
      opened(requested) {
        unsavedMark.reset(requested ? 1 : 0);
        press.reset();
        app.opened(requested);
      },
      frame: (text) => (isQuery(text) ? void answerQuery(text, (frame) => connection.send(frame)) : press.receive(text)),
      status(status, reason) {
        showStatus(status);
        if (status === "lost") {
          app.lost();
          history.lost();
        } else if (status === "ended") {
          end(reason);
        }
      },
    },
    probe,
  );
  publish(app, connection);
  Object.assign(window.uiApp, { setTheme, notify });
  errorTips();
  reportScriptErrors((problem) => app.report(problem));
  return connection;
}
