package uimcp.javafx;

import java.util.Map;
import javafx.geometry.Bounds;
import javafx.geometry.Point2D;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.HostingToolkit.Embedded;

/** Scenes inside Swing (JFXPanel) and Swing inside scenes (SwingNode); their module may be absent, so by name only. */
final class Embedding {
    private Embedding() {}

    /** Return whether an object is of a class or of one below it. */
    static boolean isA(Object object, String name) {
        for (Class<?> at = object.getClass(); at != null; at = at.getSuperclass()) {
            if (at.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Return the uid of the window that a JFXPanel shows, or null while it shows none. */
    static String windowIn(NodeRefs refs, Object panel) throws ReflectiveOperationException {
        Scene scene = (Scene) panel.getClass().getMethod("getScene").invoke(panel);
        Window window = scene == null ? null : scene.getWindow();
        return window == null || !window.isShowing() ? null : refs.uid(window);
    }

    static Embedded place(NodeRefs refs, Node node) {
        Window window = Windows.of(node);
        Bounds box = node.localToScene(node.getLayoutBounds());
        return !Windows.isEmbedded(window) ? null
                : new Embedded(refs.uid(window), new double[] {box.getMinX(), box.getMinY(), box.getWidth(), box.getHeight()});
    }

    /** Scroll to a SwingNode and focus it; throw if the middle of a part of it could not be clicked. */
    static void reveal(NodeRefs refs, Node host, double[] box) throws AgentException {
        Actionability.requireUsable(refs, host);
        Actionability.reveal(host);
        Point2D middle = host.localToScene(box[0] + box[2] / 2, box[1] + box[3] / 2);
        Node hit = Actionability.pick(host.getScene().getRoot(), middle.getX(), middle.getY());
        if (hit != null && !Actionability.within(hit, host)) {
            throw AgentException.actionFailed("COVERED", "Something lies over the component")
                    .with("by", Map.of("uid", refs.uid(hit), "type", SceneTree.type(hit)));
        }
        host.requestFocus();
    }

    static boolean hasWindowAt(double x, double y) {
        return Windows.showing().stream().anyMatch(window -> !Windows.isEmbedded(window) && window.getX() <= x && window.getY() <= y
                && x < window.getX() + window.getWidth() && y < window.getY() + window.getHeight());
    }
}
