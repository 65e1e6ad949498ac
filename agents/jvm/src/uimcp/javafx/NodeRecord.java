package uimcp.javafx;

import javafx.geometry.Point2D;
import javafx.scene.Node;
import uimcp.core.Contract.RecordField;
import uimcp.core.JsonWriter;
import uimcp.core.TreeRecord;

/** One node of a capture: first its place in the tree, later its fields. Filled on the JavaFX thread, written off it. */
final class NodeRecord implements TreeRecord {
    final Node node;
    int parent;
    final int depth;
    final boolean hidden;
    final String type;
    /** Set where inner levels of a skin lie between node and parent; else the path is the type and {@code nth}. */
    private String path;
    private final int nth;
    /** The node's origin in the scene; valid while {@code straight}: no ancestor rotates or scales. */
    double originX;
    double originY;
    boolean straight;
    /** The node's origin in its parent; valid while {@code simple}: the node itself is only translated. */
    double x;
    double y;
    boolean simple;
    /** Whether the node, or one that it lies in, is to be redacted. */
    boolean redacted;
    Node[] children;
    private String uid;
    private Object[] fields;

    NodeRecord(Node node, int parent, int depth, boolean hidden, String type, String path, int nth) {
        this.node = node;
        this.parent = parent;
        this.depth = depth;
        this.hidden = hidden;
        this.type = type;
        this.path = path;
        this.nth = nth;
    }

    /** Compute the origin from the parent's: localToScene would climb to the root for every node. */
    void locateBelow(NodeRecord above) {
        if (!above.straight || node.getParent() != above.node) {
            locate();
            return;
        }
        Point2D zero = node.localToParent(0, 0);
        Point2D right = node.localToParent(1, 0);
        Point2D down = node.localToParent(0, 1);
        x = zero.getX();
        y = zero.getY();
        simple = translatedOnly(zero, right, down);
        straight = simple;
        originX = above.originX + x;
        originY = above.originY + y;
    }

    /** Compute the origin by localToScene. */
    void locate() {
        Point2D zero = node.localToScene(0, 0);
        Point2D right = node.localToScene(1, 0);
        Point2D down = node.localToScene(0, 1);
        originX = zero.getX();
        originY = zero.getY();
        straight = translatedOnly(zero, right, down);
    }

    private static boolean translatedOnly(Point2D zero, Point2D right, Point2D down) {
        return near(right.getX() - zero.getX(), 1) && near(right.getY(), zero.getY())
                && near(down.getX(), zero.getX()) && near(down.getY() - zero.getY(), 1);
    }

    private static boolean near(double one, double other) {
        return Math.abs(one - other) < 1e-9;
    }

    void fill(String uid, Object[] fields) {
        this.uid = uid;
        this.fields = fields;
    }

    @Override
    public Object node() {
        return node;
    }

    @Override
    public String uid() {
        return uid;
    }

    @Override
    public int parent() {
        return parent;
    }

    @Override
    public String segment() {
        return path == null ? type + "[" + nth + "]" : path;
    }

    @Override
    public double[] boundsInScene() {
        return (double[]) field(RecordField.BOUNDS_IN_SCENE);
    }

    private Object field(String key) {
        for (int at = 0; at < fields.length; at += 2) {
            if (key.equals(fields[at])) {
                return fields[at + 1];
            }
        }
        return null;
    }

    @Override
    public void move(int offset, int host, double x, double y) {
        path = parent < 0 ? type + "[0]" : path;
        parent = parent < 0 ? host : parent + offset;
        double[] bounds = boundsInScene();
        if (bounds != null) {
            bounds[0] += x;
            bounds[1] += y;
        }
    }

    @Override
    public void write(JsonWriter out) {
        out.open();
        out.field(RecordField.UID, uid);
        out.field(RecordField.TYPE, type);
        if (parent >= 0) {
            out.field(RecordField.PARENT, parent);
            out.key(RecordField.PATH);
            if (path == null) {
                out.indexed(type, nth);
            } else {
                out.value(path);
            }
        }
        for (int at = 0; at < fields.length; at += 2) {
            out.field((String) fields[at], fields[at + 1]);
        }
        out.close();
    }
}
