package uimcp.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.stage.Window;

/** Reads one window node by node; whoever calls decides how many at a time. */
final class SceneWalker {
    /** What is special about some nodes. */
    static final class MarkedNodes {
        final Node focus;
        final Set<Node> meant;
        final Set<Node> secret;

        MarkedNodes(Node focus, Set<Node> meant, Set<Node> secret) {
            this.focus = focus;
            this.meant = meant;
            this.secret = secret;
        }
    }

    private final Refs refs;
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

    SceneWalker(Refs refs, Map<String, Object> ask, MarkedNodes marks, Node root) {
        this.refs = refs;
        this.marks = marks;
        this.sections = new HashSet<>(RequestFields.strings(ask, "sections"));
        this.internals = RequestFields.flag(ask, "internals");
        this.bounds = sections.contains("bounds");
        this.screen = sections.contains("localToScreen");
        this.reach = sections.contains("reach");
        this.depth = (int) RequestFields.number(ask, "depth", 10_000);
        Window window = Windows.of(root);
        this.windowX = window.getX() + root.getScene().getX();
        this.windowY = window.getY() + root.getScene().getY();
        NodeRecord top = new NodeRecord(root, -1, 0, hiddenBelow(null, root), type(root), null, 0);
        top.placeAlone();
        pending.push(top);
    }

    List<NodeRecord> records() {
        return records;
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

    /** Read one node; false when none is left. */
    boolean read() {
        NodeRecord record = pending.poll();
        if (record == null) {
            return false;
        }
        Node node = record.node;
        String uid = refs.uid(node);
        boolean secret = !marks.secret.isEmpty() && within(marks.secret, node);
        AccessibleText.identity(node, fields);
        AccessibleText.states(node, fields, node == marks.focus);
        if (secret) {
            fields.put("k", true);
        } else {
            AccessibleText.content(node, fields);
        }
        flags(record);
        place(record);
        AccessibleText.asides(node, fields, sections, secret);
        if (reach) {
            fields.put("re", Actionability.told(refs, node));
        }
        if (sections.contains("virtualization") && SceneTree.isVirtual(node)) {
            fields.put("z", VirtualizedControls.describe((Control) node, uid, refs, secret));
        }
        records.add(record);
        descend(record, records.size() - 1);
        record.fill(uid, fields.take());
        return true;
    }

    /** Compare the children of one node with those it had; null while there is more to compare. */
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
            fields.put("w", false);
        }
        if (AccessibleText.isPlain(record.node)) {
            fields.put("y", 1);
        }
        if (marks.meant.contains(record.node)) {
            fields.put("q", 1);
        }
    }

    private void descend(NodeRecord record, int index) {
        List<Node> children = SceneTree.children(record.node, internals);
        if (children.isEmpty()) {
            return;
        }
        if (record.depth >= depth) {
            fields.put("ct", children.size());
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
            boolean unseen = hidden || (!direct && hiddenBelow(record.node, child));
            made[at] = new NodeRecord(child, index, record.depth + 1, unseen, type, path, nth);
        }
        for (int at = made.length - 1; at >= 0; at--) {
            pending.push(made[at]);
        }
    }

    private void place(NodeRecord record) {
        if (!bounds && !screen) {
            return;
        }
        Node node = record.node;
        Bounds local = node.getLayoutBounds();
        if (record.parent >= 0) {
            record.placeBelow(records.get(record.parent));
        }
        double[] scene = record.straight
                ? moved(local, record.originX, record.originY) : AccessibleText.box(node.localToScene(local));
        if (bounds) {
            fields.put("bp", record.simple ? moved(local, record.x, record.y) : AccessibleText.box(node.localToParent(local)));
            fields.put("bs", scene);
        }
        if (screen) {
            fields.put("sc", new double[] {scene[0] + windowX, scene[1] + windowY, scene[2], scene[3]});
        }
    }

    private static double[] moved(Bounds box, double x, double y) {
        return new double[] {box.getMinX() + x, box.getMinY() + y, box.getWidth(), box.getHeight()};
    }

    private String type(Node node) {
        return types.computeIfAbsent(node.getClass(), SceneTree::typeOf);
    }

    private static boolean within(Set<Node> marked, Node node) {
        for (Node at = node; at != null; at = at.getParent()) {
            if (marked.contains(at)) {
                return true;
            }
        }
        return false;
    }
}
