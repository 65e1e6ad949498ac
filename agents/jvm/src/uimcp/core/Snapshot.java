package uimcp.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javafx.css.Selector;
import javafx.scene.Node;
import javafx.stage.Window;

/** Reads scenes into flat records, a few milliseconds of the JavaFX thread at a time. */
final class Snapshot {
    private static final String CSS = "[\\w.#:*> -]+";

    private final Refs refs;
    private final Map<String, Object> ask;
    private final Map<String, Object> written = new LinkedHashMap<>();
    private final List<Map<String, Object>> stages = new ArrayList<>();
    private final ArrayDeque<SceneWalker> pending = new ArrayDeque<>();
    private final List<SceneWalker> done = new ArrayList<>();
    private Boolean same;

    private Snapshot(Refs refs, Map<String, Object> ask) {
        this.refs = refs;
        this.ask = ask;
    }

    /** Capture what is asked for; a tree that changes meanwhile is read once more, then reported as it was met. */
    static Map<String, Object> take(Refs refs, Map<String, Object> ask, long limitMillis) throws AgentException {
        long end = System.nanoTime() + limitMillis * 1_000_000;
        Snapshot snapshot = null;
        for (int attempt = 0; attempt < 2; attempt++) {
            snapshot = new Snapshot(refs, ask);
            Snapshot current = snapshot;
            FxThread.call(left(end), () -> Slices.whole(current::begin));
            while (FxThread.call(left(end), () -> Slices.more(current::read))) {
                continue;
            }
            while (FxThread.call(left(end), () -> Slices.more(current::compare))) {
                continue;
            }
            if (snapshot.same) {
                return snapshot.written;
            }
        }
        snapshot.written.put("consistent", false);
        return snapshot.written;
    }

    private static long left(long end) throws AgentException {
        long millis = (end - System.nanoTime()) / 1_000_000;
        if (millis <= 0) {
            throw new AgentException("MCP_UI_TIMEOUT", "Reading the UI took too long");
        }
        return millis;
    }

    private Void begin() throws AgentException {
        List<Window> all = Windows.showing();
        if (all.isEmpty()) {
            throw new AgentException("MCP_UI_NO_STAGES", "The program shows no window");
        }
        Window front = Windows.focused(all);
        Node focus = front.getScene().getFocusOwner();
        written.put("app", ProgramInfo.app());
        written.put("focus", Stages.focus(refs, all, front, focus));
        written.put("stages", stages);
        if (!refs.warnings().isEmpty()) {
            written.put("warnings", List.copyOf(refs.warnings()));
        }
        Map<String, Object> root = RequestFields.map(ask, "root");
        if (root != null) {
            Node node = NodeResolver.node(refs, root);
            int index = all.indexOf(Windows.of(node));
            open(all, index, node, focus).put("rootPath", SceneTree.path(node, index));
        } else {
            for (int index : Stages.chosen(ask, all, front)) {
                open(all, index, all.get(index).getScene().getRoot(), focus);
            }
        }
        return null;
    }

    private Map<String, Object> open(List<Window> all, int index, Node root, Node focus) throws AgentException {
        String css = RequestFields.text(ask, "css");
        Set<Node> meant = css == null ? Set.of() : meantBy(List.of(css), root);
        Set<Node> secret = meantBy(RequestFields.strings(ask, "redact"), all.get(index).getScene().getRoot());
        Map<String, Object> stage = Stages.described(refs, all.get(index), index);
        var walk = new SceneWalker(refs, ask, new SceneWalker.MarkedNodes(focus, meant, secret), root);
        stage.put("nodes", walk.records());
        stages.add(stage);
        pending.add(walk);
        return stage;
    }

    /** Read one node more; false when all are read. */
    private boolean read() {
        while (!pending.isEmpty()) {
            if (pending.peek().read()) {
                return true;
            }
            done.add(pending.pop());
        }
        return false;
    }

    /** Compare what was read with what is there now, one node at a time; false when it is known. */
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

    private static Set<Node> meantBy(List<String> selectors, Node root) throws AgentException {
        Set<Node> found = Collections.newSetFromMap(new IdentityHashMap<>());
        for (String css : new HashSet<>(selectors)) {
            if (!css.matches(CSS) || Selector.createSelector(css) == null) {
                throw AgentException.wrong("Not a css selector: " + css);
            }
            found.addAll(root.lookupAll(css));
        }
        return found;
    }
}
