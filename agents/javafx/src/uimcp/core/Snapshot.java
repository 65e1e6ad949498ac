package uimcp.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javafx.css.Selector;
import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.stage.Stage;
import javafx.stage.Window;

/** Reads scenes into flat records, a few milliseconds of the JavaFX thread at a time. */
final class Snapshot {
    private static final long SLICE_NANOS = 6_000_000;
    private static final String CSS = "[\\w.#:*> -]+";

    private final Refs refs;
    private final Map<String, Object> ask;
    private final Set<String> sections;
    private final boolean internals;
    private final int depth;
    private final Map<String, Object> written = new LinkedHashMap<>();
    private final List<Map<String, Object>> stages = new ArrayList<>();
    private final ArrayDeque<Step> pending = new ArrayDeque<>();
    private final Map<Node, List<Node>> seen = new IdentityHashMap<>();
    private Set<Node> meant = Set.of();
    private Node focus;
    private java.util.Iterator<Map.Entry<Node, List<Node>>> unchecked;

    private Snapshot(Refs refs, Map<String, Object> ask) {
        this.refs = refs;
        this.ask = ask;
        this.sections = new HashSet<>(Ask.strings(ask, "sections"));
        this.internals = Ask.flag(ask, "internals");
        this.depth = (int) Ask.number(ask, "depth", 10_000);
    }

    /** Capture what is asked for; a tree that changes meanwhile is read once more, then reported as it was met. */
    static Map<String, Object> take(Refs refs, Map<String, Object> ask, long limitMillis) throws AgentException {
        long end = System.nanoTime() + limitMillis * 1_000_000;
        Snapshot snapshot = null;
        for (int attempt = 0; attempt < 2; attempt++) {
            snapshot = new Snapshot(refs, ask);
            Snapshot current = snapshot;
            boolean done = Fx.call(left(end), current::begin);
            while (!done) {
                done = Fx.call(left(end), current::slice);
            }
            Boolean same = null;
            while (same == null) {
                same = Fx.call(left(end), current::unchanged);
            }
            if (same) {
                return snapshot.written;
            }
        }
        snapshot.written.put("warnings", List.of("the UI changed while it was read"));
        return snapshot.written;
    }

    private static long left(long end) throws AgentException {
        long millis = (end - System.nanoTime()) / 1_000_000;
        if (millis <= 0) {
            throw new AgentException("MCP_UI_TIMEOUT", "Reading the UI took too long");
        }
        return millis;
    }

    private boolean begin() throws AgentException {
        List<Window> all = Windows.showing();
        if (all.isEmpty()) {
            throw new AgentException("MCP_UI_NO_STAGES", "The program shows no window");
        }
        Window front = Windows.focused(all);
        focus = front.getScene().getFocusOwner();
        written.put("app", Facts.app());
        written.put("focus", focusOf(front, all));
        written.put("stages", stages);
        if (!refs.warnings().isEmpty()) {
            written.put("warnings", List.copyOf(refs.warnings()));
        }
        Map<String, Object> root = Ask.map(ask, "root");
        if (root != null) {
            Node node = Find.node(refs, root);
            int index = all.indexOf(Windows.of(node));
            open(all, index, node, Tree.path(node, index));
        } else {
            for (int index : chosen(all, front)) {
                open(all, index, all.get(index).getScene().getRoot(), null);
            }
        }
        return slice();
    }

    private boolean slice() {
        long began = System.nanoTime();
        long worked = Facts.cpuNanos();
        while (!pending.isEmpty() && System.nanoTime() - began < SLICE_NANOS) {
            visit(pending.pop());
        }
        Facts.slice(System.nanoTime() - began, Facts.cpuNanos() - worked);
        return pending.isEmpty();
    }

    /** Compare what was read with what is there now, for a slice of time; null when there is more to compare. */
    private Boolean unchanged() {
        long began = System.nanoTime();
        long worked = Facts.cpuNanos();
        unchecked = unchecked == null ? seen.entrySet().iterator() : unchecked;
        Boolean same = null;
        while (same == null && System.nanoTime() - began < SLICE_NANOS) {
            if (!unchecked.hasNext()) {
                same = true;
            } else {
                var entry = unchecked.next();
                same = entry.getValue().equals(Tree.children(entry.getKey(), internals)) ? null : Boolean.FALSE;
            }
        }
        Facts.slice(System.nanoTime() - began, Facts.cpuNanos() - worked);
        return same;
    }

    private List<Integer> chosen(List<Window> all, Window front) throws AgentException {
        Object stage = ask.get("stage");
        if (stage instanceof Double) {
            int index = ((Double) stage).intValue();
            if (index < 0 || index >= all.size()) {
                throw AgentException.wrong("There is no stage " + index + "; valid are 0 to " + (all.size() - 1));
            }
            return List.of(index);
        }
        Window wanted = "primary".equals(stage) ? Windows.primary(all) : front;
        var found = new ArrayList<Integer>();
        for (int index = 0; index < all.size(); index++) {
            Window window = all.get(index);
            boolean popup = !(window instanceof Stage);
            boolean included = "all".equals(stage) || window == wanted || (popup && Windows.belongs(window, wanted));
            if (included && (!popup || Ask.flag(ask, "popups"))) {
                found.add(index);
            }
        }
        return found;
    }

    private void open(List<Window> all, int index, Node root, String rootPath) throws AgentException {
        Window window = all.get(index);
        Window owner = Windows.owner(window);
        var stage = new LinkedHashMap<String, Object>();
        stage.put("index", index);
        stage.put("uid", refs.uid(window));
        stage.put("title", Windows.title(window));
        stage.put("kind", window instanceof Stage ? "stage" : "popup");
        if (owner != null) {
            stage.put("owner", refs.uid(owner));
        }
        if (window instanceof Stage && ((Stage) window).getModality() != javafx.stage.Modality.NONE) {
            stage.put("modal", true);
        }
        stage.put("showing", true);
        stage.put("focused", window.isFocused());
        stage.put("x", window.getX());
        stage.put("y", window.getY());
        stage.put("width", window.getWidth());
        stage.put("height", window.getHeight());
        stage.put("stylesheets", List.copyOf(window.getScene().getStylesheets()));
        if (rootPath != null) {
            stage.put("rootPath", rootPath);
        }
        var records = new ArrayList<Object>();
        stage.put("nodes", records);
        stages.add(stage);
        String css = (String) ask.get("css");
        if (css != null) {
            meant = meantBy(css, root);
        }
        pending.add(new Step(root, records, -1, null, 0, hiddenBelow(null, root)));
    }

    /** Whether something between an ancestor and a node hides the node, such as the part of a skin that holds a tab. */
    static boolean hiddenBelow(Node ancestor, Node node) {
        for (Node at = node.getParent(); at != ancestor && at != null; at = at.getParent()) {
            if (!at.isVisible()) {
                return true;
            }
        }
        return false;
    }

    private Set<Node> meantBy(String css, Node root) throws AgentException {
        if (!css.matches(CSS) || Selector.createSelector(css) == null) {
            throw AgentException.wrong("Not a css selector: " + css);
        }
        Set<Node> found = Collections.newSetFromMap(new IdentityHashMap<>());
        found.addAll(meant);
        found.addAll(root.lookupAll(css));
        return found;
    }

    private Map<String, Object> focusOf(Window front, List<Window> all) {
        var written = new LinkedHashMap<String, Object>();
        written.put("stage", all.indexOf(front));
        written.put("uid", focus == null ? null : refs.uid(focus));
        written.put("path", focus == null ? null : Tree.path(focus, all.indexOf(front)));
        return written;
    }

    private void visit(Step step) {
        Node node = step.node;
        var record = new LinkedHashMap<String, Object>();
        String uid = refs.uid(node);
        record.put("u", uid);
        record.put("t", Tree.type(node));
        if (step.parent >= 0) {
            record.put("p", step.parent);
            record.put("n", step.segment);
        }
        Words.identity(node, record);
        Words.states(node, record, node == focus);
        Words.content(node, record);
        if (step.hidden) {
            record.put("w", false);
        }
        if (Words.isPlain(node)) {
            record.put("y", 1);
        }
        if (meant.contains(node)) {
            record.put("q", 1);
        }
        place(node, record);
        Words.asides(node, record, sections);
        if (sections.contains("virtualization") && Tree.isVirtual(node)) {
            record.put("z", Virtual.describe((Control) node, uid, refs));
        }
        int index = step.records.size();
        step.records.add(record);
        descend(step, node, index, record);
    }

    private void descend(Step step, Node node, int index, Map<String, Object> record) {
        List<Node> children = List.copyOf(Tree.children(node, internals));
        if (children.isEmpty()) {
            return;
        }
        if (step.depth >= depth) {
            record.put("ct", children.size());
            return;
        }
        seen.put(node, children);
        boolean hidden = step.hidden || !node.isVisible();
        List<String> names = names(node, children);
        for (int at = children.size() - 1; at >= 0; at--) {
            Node child = children.get(at);
            pending.push(new Step(child, step.records, index, names.get(at), step.depth + 1, hidden || hiddenBelow(node, child)));
        }
    }

    /** The path of each child, counted once per parent; levels a skin puts between are named in full. */
    private static List<String> names(Node parent, List<Node> children) {
        var counts = new HashMap<String, Integer>();
        var direct = new IdentityHashMap<Node, String>();
        for (Node child : Tree.all(parent)) {
            String type = Tree.type(child);
            direct.put(child, type + "[" + (counts.merge(type, 1, Integer::sum) - 1) + "]");
        }
        var names = new ArrayList<String>();
        for (Node child : children) {
            String name = direct.get(child);
            names.add(name == null ? Tree.segments(parent, child) : name);
        }
        return names;
    }

    private void place(Node node, Map<String, Object> record) {
        boolean bounds = sections.contains("bounds");
        boolean screen = sections.contains("localToScreen");
        if (!bounds && !screen) {
            return;
        }
        Bounds local = node.getLayoutBounds();
        Bounds scene = node.localToScene(local);
        if (bounds) {
            record.put("bp", Words.box(node.localToParent(local)));
            record.put("bs", Words.box(scene));
        }
        Window window = Windows.of(node);
        if (screen && window != null) {
            double x = window.getX() + node.getScene().getX();
            double y = window.getY() + node.getScene().getY();
            record.put("sc", new double[] {scene.getMinX() + x, scene.getMinY() + y, scene.getWidth(), scene.getHeight()});
        }
    }

    /** A node still to be read. */
    private static final class Step {
        final Node node;
        final List<Object> records;
        final int parent;
        final String segment;
        final int depth;
        final boolean hidden;

        Step(Node node, List<Object> records, int parent, String segment, int depth, boolean hidden) {
            this.node = node;
            this.records = records;
            this.parent = parent;
            this.segment = segment;
            this.depth = depth;
            this.hidden = hidden;
        }
    }
}
