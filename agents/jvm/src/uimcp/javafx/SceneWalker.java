package uimcp.javafx;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javafx.css.Selector;
import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.stage.Window;
import uimcp.core.Contract.RecordField;
import uimcp.core.RecordFields;
import uimcp.core.RequestFields;

/** Reads one window, one node per call, so that the caller can spread the work over several slices. */
final class SceneWalker {
    /** What the records mark: the focused node, those that the query's selector matches, those to redact. */
    static final class MarkedNodes {
        final Node focus;
        final List<Selector> matched;
        final List<Selector> redacted;

        MarkedNodes(Node focus, List<Selector> matched, List<Selector> redacted) {
            this.focus = focus;
            this.matched = matched;
            this.redacted = redacted;
        }
    }

    private final NodeRefs refs;
    private final MarkedNodes marks;
    private final Set<String> sections;
    private final boolean internals;
    private final boolean bounds;
    private final boolean screen;
    private final boolean reach;
    private final int depth;
    private final double windowX;
    private final double windowY;
    private final List<NodeRecord> records = new ArrayList<>();
    private final ArrayDeque<NodeRecord> pending = new ArrayDeque<>();
    private final RecordFields fields = new RecordFields();
    private final Map<Class<?>, String> types = new IdentityHashMap<>();
    private final Map<String, int[]> counts = new HashMap<>();
    private int compared;

    SceneWalker(NodeRefs refs, RequestFields request, MarkedNodes marks, Node root) {
        this.refs = refs;
        this.marks = marks;
        this.sections = new HashSet<>(request.strings("sections"));
        this.internals = request.flag("internals");
        this.bounds = sections.contains("bounds");
        this.screen = sections.contains("localToScreen");
        this.reach = sections.contains("reach");
        this.depth = (int) request.number("depth", 10_000);
        Window window = Windows.of(root);
        this.windowX = window.getX() + root.getScene().getX();
        this.windowY = window.getY() + root.getScene().getY();
        NodeRecord top = new NodeRecord(root, -1, 0, hiddenBelow(null, root), type(root), null, 0);
        top.locate();
        pending.push(top);
    }

    List<NodeRecord> records() {
        return records;
    }

    /** Return whether a node in between is invisible, such as the skin's container of an unselected tab. */
    static boolean hiddenBelow(Node ancestor, Node node) {
        for (Node at = node.getParent(); at != ancestor && at != null; at = at.getParent()) {
            if (!at.isVisible()) {
                return true;
            }
        }
        return false;
    }

    /** Read one node; return false if none is left. */
    boolean read() {
        NodeRecord record = pending.poll();
        if (record == null) {
            return false;
        }
        Node node = record.node;
        String uid = refs.uid(node);
        NodeRecord above = record.parent < 0 ? null : records.get(record.parent);
        boolean redacted = !marks.redacted.isEmpty()
                && ((above != null && above.redacted) || isWithin(marks.redacted, node, above == null ? null : above.node));
        record.redacted = redacted;
        AccessibleText.identity(node, fields);
        AccessibleText.states(node, fields, node == marks.focus);
        if (redacted) {
            fields.put(RecordField.MASKED, true);
        } else {
            AccessibleText.content(node, fields);
        }
        flags(record);
        bounds(record);
        AccessibleText.extras(node, fields, sections, redacted);
        if (reach) {
            fields.put(RecordField.REACH, Actionability.describe(refs, node));
        }
        if (sections.contains("virtualization") && SceneTree.isVirtual(node)) {
            fields.put(RecordField.VIRTUALIZATION, VirtualizedControls.describe((Control) node, uid, refs, redacted));
        }
        records.add(record);
        descend(record, records.size() - 1);
        record.fill(uid, fields.take());
        return true;
    }

    /** Compare the children of the next node with those it had; return null while nodes are left and none differs. */
    Boolean compare() {
        if (compared == records.size()) {
            return true;
        }
        NodeRecord record = records.get(compared++);
        if (record.children == null) {
            return null;
        }
        List<Node> now = SceneTree.children(record.node, internals);
        boolean same = now.size() == record.children.length;
        for (int at = 0; same && at < record.children.length; at++) {
            same = now.get(at) == record.children[at];
        }
        return same ? null : Boolean.FALSE;
    }

    private void flags(NodeRecord record) {
        if (record.hidden) {
            fields.put(RecordField.SHOWN, false);
        }
        if (AccessibleText.isPlain(record.node)) {
            fields.put(RecordField.PLAIN, 1);
        }
        if (matches(marks.matched, record.node)) {
            fields.put(RecordField.MATCHED, 1);
        }
    }

    private void descend(NodeRecord record, int index) {
        List<Node> children = SceneTree.children(record.node, internals);
        if (children.isEmpty()) {
            return;
        }
        if (record.depth >= depth) {
            fields.put(RecordField.CHILDREN_TRUNCATED, children.size());
            return;
        }
        record.children = children.toArray(new Node[0]);
        boolean hidden = record.hidden || !record.node.isVisible();
        boolean direct = children == SceneTree.all(record.node);
        counts.clear();
        var made = new NodeRecord[record.children.length];
        for (int at = 0; at < made.length; at++) {
            Node child = record.children[at];
            String type = type(child);
            String path = direct ? null : SceneTree.segments(record.node, child);
            int nth = direct ? counts.computeIfAbsent(type, none -> new int[1])[0]++ : 0;
            boolean childHidden = hidden || (!direct && hiddenBelow(record.node, child));
            made[at] = new NodeRecord(child, index, record.depth + 1, childHidden, type, path, nth);
        }
        for (int at = made.length - 1; at >= 0; at--) {
            pending.push(made[at]);
        }
    }

    private void bounds(NodeRecord record) {
        if (!bounds && !screen) {
            return;
        }
        Node node = record.node;
        Bounds local = node.getLayoutBounds();
        if (record.parent >= 0) {
            record.locateBelow(records.get(record.parent));
        }
        double[] scene = record.straight
                ? translated(local, record.originX, record.originY) : box(node.localToScene(local));
        if (bounds) {
            fields.put(RecordField.BOUNDS_IN_PARENT, record.simple ? translated(local, record.x, record.y) : box(node.localToParent(local)));
            fields.put(RecordField.BOUNDS_IN_SCENE, scene);
        }
        if (screen) {
            fields.put(RecordField.BOUNDS_ON_SCREEN, new double[] {scene[0] + windowX, scene[1] + windowY, scene[2], scene[3]});
        }
    }

    private static double[] box(Bounds bounds) {
        return bounds == null ? null : new double[] {bounds.getMinX(), bounds.getMinY(), bounds.getWidth(), bounds.getHeight()};
    }

    private static double[] translated(Bounds box, double x, double y) {
        return new double[] {box.getMinX() + x, box.getMinY() + y, box.getWidth(), box.getHeight()};
    }

    private String type(Node node) {
        return types.computeIfAbsent(node.getClass(), SceneTree::typeOf);
    }

    /** Return whether a selector matches a node or, up to but not including {@code above}, one that it lies in. */
    static boolean isWithin(List<Selector> selectors, Node node, Node above) {
        for (Node at = node; at != null && at != above; at = at.getParent()) {
            if (matches(selectors, at)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matches(List<Selector> selectors, Node node) {
        for (Selector selector : selectors) {
            if (selector.applies(node)) {
                return true;
            }
        }
        return false;
    }
}
