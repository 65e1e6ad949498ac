package uimcp.javafx;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javafx.geometry.BoundingBox;
import javafx.geometry.Bounds;
import javafx.geometry.Point2D;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.control.ScrollPane;
import javafx.stage.Stage;
import javafx.stage.Window;
import uimcp.core.AgentException;

/** Decides whether a person could operate a node now, and where; synthetic events would reach it in any case. */
final class Actionability {
    private Actionability() {}

    /** Throw if the node is disabled, invisible, behind a modal dialog or without size. */
    static void requireUsable(NodeRefs refs, Node node) throws AgentException {
        if (node.isDisabled()) {
            throw AgentException.actionFailed("DISABLED", "The node is disabled");
        }
        for (Node at = node; at != null; at = at.getParent()) {
            if (!at.isVisible()) {
                throw AgentException.actionFailed("NOT_VISIBLE", "The node is not visible");
            }
        }
        Stage modal = Windows.blocking(Windows.of(node));
        if (modal != null) {
            throw AgentException.actionFailed("BEHIND_MODAL", "A modal dialog is open").with("stage", refs.uid(modal));
        }
        Bounds bounds = node.getLayoutBounds();
        if (bounds.getWidth() <= 0 || bounds.getHeight() <= 0) {
            throw AgentException.actionFailed("ZERO_SIZE", "The node has no size");
        }
    }

    /** Return the centre of a node after scrolling it into view; {@code force} accepts that another node covers it. */
    static HitPoint hitPoint(NodeRefs refs, Node node, boolean force) throws AgentException {
        return hitPoint(refs, node, node, force);
    }

    /** Return the centre of a part of a control; other parts of the control may lie over it. */
    static HitPoint hitPoint(NodeRefs refs, Node node, Node control, boolean force) throws AgentException {
        requireUsable(refs, node);
        reveal(node);
        Scene scene = node.getScene();
        Bounds seen = seenPart(node);
        if (seen == null && !force) {
            throw AgentException.actionFailed("OFFSCREEN", "The node cannot be scrolled into view");
        }
        Bounds box = seen == null ? node.localToScene(node.getLayoutBounds()) : seen;
        double x = box.getMinX() + box.getWidth() / 2;
        double y = box.getMinY() + box.getHeight() / 2;
        Node hit = pick(scene.getRoot(), x, y);
        if (hit != null && (within(hit, control) || within(node, hit))) {
            return new HitPoint(within(hit, control) ? hit : node, scene, x, y);
        }
        if (force) {
            return new HitPoint(node, scene, x, y);
        }
        if (hit == null) {
            throw AgentException.actionFailed("OFFSCREEN", "There is nothing to click at the middle of the node");
        }
        throw AgentException.actionFailed("COVERED", "Something lies over the node")
                .with("by", Map.of("uid", refs.uid(hit), "type", SceneTree.type(hit)));
    }

    /** Return what a press at a point of the screen would hit. */
    static HitPoint hitPointAt(NodeRefs refs, double screenX, double screenY) throws AgentException {
        HitPoint point = pickOnScreen(screenX, screenY);
        requireUsable(refs, point.node);
        return point;
    }

    private static HitPoint pickOnScreen(double screenX, double screenY) throws AgentException {
        List<Window> all = Windows.showing();
        for (int i = all.size() - 1; i >= 0; i--) {
            Window window = all.get(i);
            Scene scene = window.getScene();
            double x = screenX - window.getX() - scene.getX();
            double y = screenY - window.getY() - scene.getY();
            Node hit = x < 0 || y < 0 || x >= scene.getWidth() || y >= scene.getHeight() ? null : pick(scene.getRoot(), x, y);
            if (hit != null) {
                return new HitPoint(hit, scene, x, y);
            }
        }
        throw AgentException.actionFailed("OFFSCREEN", "There is nothing at that point");
    }

    /** Return the topmost node at a point of the scene, as JavaFX picks it for mouse events. */
    static Node pick(Node root, double sceneX, double sceneY) {
        return picked(root, new Point2D(sceneX, sceneY));
    }

    private static Node picked(Node node, Point2D inParent) {
        if (!node.isVisible() || node.isMouseTransparent()) {
            return null;
        }
        Point2D local = node.parentToLocal(inParent);
        if (local == null || (node.getClip() != null && !node.getClip().contains(node.getClip().parentToLocal(local)))) {
            return null;
        }
        List<Node> children = SceneTree.all(node);
        for (int i = children.size() - 1; i >= 0; i--) {
            Node hit = picked(children.get(i), local);
            if (hit != null) {
                return hit;
            }
        }
        boolean inside = node.isPickOnBounds() ? node.getBoundsInLocal().contains(local) : node.contains(local);
        return inside ? node : null;
    }

    /** Describe whether a person could click the node without scrolling or closing something first. */
    static Map<String, Object> describe(NodeRefs refs, Node node) {
        var found = new LinkedHashMap<String, Object>();
        Bounds box = node.localToScene(node.getLayoutBounds());
        double x = box.getMinX() + box.getWidth() / 2;
        double y = box.getMinY() + box.getHeight() / 2;
        Scene scene = node.getScene();
        boolean seen = box.getWidth() > 0 && box.getHeight() > 0 && shown(node) && !outside(scene, node, x, y);
        found.put("inViewport", seen);
        Node hit = seen ? pick(scene.getRoot(), x, y) : null;
        if (hit != null && !within(hit, node) && !within(node, hit)) {
            found.put("coveredBy", refs.uid(hit));
        }
        Stage modal = Windows.blocking(Windows.of(node));
        if (modal != null) {
            found.put("behindModal", refs.uid(modal));
        }
        return found;
    }

    /** Name the node at a point of the screen and its ancestors, innermost first; the parts of a control are skipped. */
    static Map<String, Object> chainAt(NodeRefs refs, double screenX, double screenY) throws AgentException {
        HitPoint point = pickOnScreen(screenX, screenY);
        int stage = Windows.showing().indexOf(point.scene.getWindow());
        Node top = point.node;
        for (Node at = point.node; at != null; at = at.getParent()) {
            top = SceneTree.isLeaf(at) ? at : top;
        }
        var chain = new ArrayList<Map<String, Object>>();
        for (Node at = top; at != null; at = at.getParent()) {
            chain.add(Map.of("uid", refs.uid(at), "path", SceneTree.path(at, stage)));
        }
        return Map.of("chain", chain);
    }

    static boolean within(Node inner, Node outer) {
        for (Node at = inner; at != null; at = at.getParent()) {
            if (at == outer) {
                return true;
            }
        }
        return false;
    }

    private static boolean shown(Node node) {
        return node.isVisible() && !SceneWalker.hiddenBelow(null, node);
    }

    /** Return the part of a node, in the scene, that neither its window nor a clip cuts off; null if there is none. */
    static Bounds seenPart(Node node) {
        Scene scene = node.getScene();
        Bounds seen = common(node.localToScene(node.getLayoutBounds()), new BoundingBox(0, 0, scene.getWidth(), scene.getHeight()));
        for (Node at = node.getParent(); at != null && seen != null; at = at.getParent()) {
            if (at.getClip() != null) {
                seen = common(seen, at.localToScene(at.getClip().getBoundsInParent()));
            }
        }
        return seen;
    }

    private static Bounds common(Bounds one, Bounds other) {
        double x = Math.max(one.getMinX(), other.getMinX());
        double y = Math.max(one.getMinY(), other.getMinY());
        double width = Math.min(one.getMaxX(), other.getMaxX()) - x;
        double height = Math.min(one.getMaxY(), other.getMaxY()) - y;
        return width <= 0 || height <= 0 ? null : new BoundingBox(x, y, width, height);
    }

    /** Return where a node and what it lies in are drawn, and how opaque; differs between two pulses of an animation. */
    static List<Double> placement(Node node) {
        var numbers = new ArrayList<Double>();
        for (Node at = node; at != null; at = at.getParent()) {
            Bounds box = at.localToScene(at.getBoundsInLocal());
            numbers.addAll(List.of(box.getMinX(), box.getMinY(), box.getWidth(), box.getHeight(), at.getOpacity()));
        }
        return numbers;
    }

    private static boolean outside(Scene scene, Node node, double x, double y) {
        return x < 0 || y < 0 || x >= scene.getWidth() || y >= scene.getHeight() || clipped(node, x, y);
    }

    private static boolean clipped(Node node, double x, double y) {
        for (Node at = node.getParent(); at != null; at = at.getParent()) {
            if (at.getClip() != null && !at.localToScene(at.getClip().getBoundsInParent()).contains(x, y)) {
                return true;
            }
        }
        return false;
    }

    static void reveal(Node node) {
        for (Node at = node.getParent(); at != null; at = at.getParent()) {
            if (at instanceof ScrollPane && ((ScrollPane) at).getContent() != null) {
                scrollTo((ScrollPane) at, node);
            }
        }
    }

    private static void scrollTo(ScrollPane pane, Node node) {
        Node content = pane.getContent();
        Bounds all = content.getLayoutBounds();
        Bounds view = pane.getViewportBounds();
        Bounds box = content.sceneToLocal(node.localToScene(node.getLayoutBounds()));
        Bounds seen = new BoundingBox(-view.getMinX(), -view.getMinY(), view.getWidth(), view.getHeight());
        if (seen.contains(box)) {
            return;
        }
        pane.setVvalue(scrollValue(box.getMinY() + box.getHeight() / 2, view.getHeight(), all.getHeight(), pane.getVmin(), pane.getVmax()));
        pane.setHvalue(scrollValue(box.getMinX() + box.getWidth() / 2, view.getWidth(), all.getWidth(), pane.getHmin(), pane.getHmax()));
        pane.layout();
    }

    private static double scrollValue(double middle, double view, double all, double min, double max) {
        double room = all - view;
        double at = room <= 0 ? 0 : Math.min(1, Math.max(0, (middle - view / 2) / room));
        return min + at * (max - min);
    }
}
