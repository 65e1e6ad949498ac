package uimcp.core;

import javafx.geometry.Point2D;
import javafx.scene.Node;

/** One node: first where it hangs, then, once it was read, what it says. Filled on the JavaFX thread, written off it. */
final class NodeRecord implements JsonWriter.Item {
    final Node node;
    final int parent;
    final int depth;
    final boolean hidden;
    final String type;
    /** Set where levels of a skin lie between; else the path is the type and `nth`. */
    private final String path;
    private final int nth;
    /** Where this node's own zero lies in the scene; of use while no ancestor turns or scales. */
    double originX;
    double originY;
    boolean straight;
    /** Where it lies in its parent, where that is a mere shift. */
    double x;
    double y;
    boolean simple;
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

    /** Find the node's origin from its parent's; asking each node for its place in the scene would climb to the root. */
    void placeBelow(NodeRecord above) {
        if (!above.straight || node.getParent() != above.node) {
            placeAlone();
            return;
        }
        Point2D zero = node.localToParent(0, 0);
        Point2D right = node.localToParent(1, 0);
        Point2D down = node.localToParent(0, 1);
        x = zero.getX();
        y = zero.getY();
        simple = shifted(zero, right, down);
        straight = simple;
        originX = above.originX + x;
        originY = above.originY + y;
    }

    /** Find the origin by asking the node itself. */
    void placeAlone() {
        Point2D zero = node.localToScene(0, 0);
        Point2D right = node.localToScene(1, 0);
        Point2D down = node.localToScene(0, 1);
        originX = zero.getX();
        originY = zero.getY();
        straight = shifted(zero, right, down);
    }

    private static boolean shifted(Point2D zero, Point2D right, Point2D down) {
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
    public void write(JsonWriter out) {
        out.open();
        out.field("u", uid);
        out.field("t", type);
        if (parent >= 0) {
            out.field("p", parent);
            out.key("n");
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
