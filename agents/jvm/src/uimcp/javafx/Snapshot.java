package uimcp.javafx;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javafx.css.Selector;
import javafx.scene.Node;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;
import uimcp.core.HostingToolkit;
import uimcp.core.ProgramInfo;
import uimcp.core.RequestFields;
import uimcp.core.Slices;

/** Reads scenes into flat records, in short slices of the JavaFX thread. */
final class Snapshot {
    private static final String COMPOUND = "(?:\\*|[\\w-]+|(?=[.#:]))(?:[.#:][\\w-]+)*";
    private static final String CSS = "\\s*" + COMPOUND + "(?:(?:\\s*>\\s*|\\s+)" + COMPOUND + ")*\\s*";

    private final NodeRefs refs;
    private final RequestFields request;
    private final Map<String, Object> written = new LinkedHashMap<>();
    private final List<Map<String, Object>> stages = new ArrayList<>();
    private final ArrayDeque<SceneWalker> pending = new ArrayDeque<>();
    private final List<SceneWalker> done = new ArrayList<>();
    private Boolean same;

    private Snapshot(NodeRefs refs, RequestFields request) {
        this.refs = refs;
        this.request = request;
    }

    /** Capture the UI; if it changes meanwhile, read it once more, and report it as inconsistent if that happens again. */
    static Map<String, Object> take(NodeRefs refs, RequestFields request, long limitMillis) throws AgentException {
        long end = System.nanoTime() + limitMillis * 1_000_000;
        Snapshot snapshot = null;
        for (int attempt = 0; attempt < 2; attempt++) {
            snapshot = new Snapshot(refs, request);
            Snapshot current = snapshot;
            FxThread.call(remainingMillis(end), current::begin);
            while (FxThread.call(remainingMillis(end), () -> Slices.more(current::read))) {
                continue;
            }
            while (FxThread.call(remainingMillis(end), () -> Slices.more(current::compare))) {
                continue;
            }
            if (snapshot.same) {
                return snapshot.written;
            }
        }
        snapshot.written.put("consistent", false);
        return snapshot.written;
    }

    private static long remainingMillis(long end) throws AgentException {
        long millis = (end - System.nanoTime()) / 1_000_000;
        if (millis <= 0) {
            throw new AgentException(ErrorCode.TIMEOUT, "Reading the UI took too long");
        }
        return millis;
    }

    private Void begin() throws AgentException {
        List<Window> all = Windows.requireShowing();
        Window front = Windows.focused(all);
        Node focus = front.getScene().getFocusOwner();
        written.put("app", ProgramInfo.describe("javafx", System.getProperty("javafx.runtime.version")));
        written.put("focus", Stages.focus(refs, all, front, focus));
        written.put("stages", stages);
        if (!refs.warnings().isEmpty()) {
            written.put("warnings", List.copyOf(refs.warnings()));
        }
        RequestFields root = request.object("root");
        if (root != null) {
            Node node = NodeResolver.resolve(refs, root);
            int index = all.indexOf(Windows.of(node));
            open(all, index, node, focus).put("rootPath", SceneTree.path(node, index));
        } else {
            for (int index : Stages.selected(request, all, front)) {
                open(all, index, all.get(index).getScene().getRoot(), focus);
            }
        }
        return null;
    }

    private Map<String, Object> open(List<Window> all, int index, Node root, Node focus) throws AgentException {
        String css = request.text("css");
        List<Selector> matched = css == null ? List.of() : selectors(List.of(css));
        List<Selector> redacted = selectors(request.strings("redact"));
        Map<String, Object> stage = Stages.describe(refs, all.get(index), index);
        var walker = new SceneWalker(refs, request, new SceneWalker.MarkedNodes(focus, matched, redacted), root);
        if (request.flag(HostingToolkit.FOCUS_OWNER)) {
            Node owner = all.get(index).getScene().getFocusOwner();
            stage.put(HostingToolkit.FOCUS_OWNER, owner == null ? null : refs.uid(owner));
        }
        stage.put("nodes", walker.records());
        stages.add(stage);
        pending.add(walker);
        return stage;
    }

    /** Read one node; return false if all are read. */
    private boolean read() {
        while (!pending.isEmpty()) {
            if (pending.peek().read()) {
                return true;
            }
            done.add(pending.pop());
        }
        return false;
    }

    /** Compare one node with what was read; return false once the outcome is known. */
    private boolean compare() {
        if (done.isEmpty()) {
            same = true;
        } else {
            Boolean last = done.get(done.size() - 1).compare();
            if (Boolean.TRUE.equals(last)) {
                done.remove(done.size() - 1);
            } else if (last != null) {
                same = false;
            }
        }
        return same == null;
    }

    static List<Selector> selectors(List<String> given) throws AgentException {
        var made = new ArrayList<Selector>();
        for (String css : new HashSet<>(given)) {
            Selector selector = css.matches(CSS) ? Selector.createSelector(css) : null;
            if (selector == null) {
                throw AgentException.invalidArgument("Not a css selector: " + css);
            }
            made.add(selector);
        }
        return made;
    }
}
