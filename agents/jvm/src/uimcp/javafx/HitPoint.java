package uimcp.javafx;

import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.stage.Window;

/** A point in a scene and the node that gets the mouse events there. */
final class HitPoint {
    final Node node;
    final Scene scene;
    final double x;
    final double y;

    HitPoint(Node node, Scene scene, double x, double y) {
        this.node = node;
        this.scene = scene;
        this.x = x;
        this.y = y;
    }

    double screenX() {
        Window window = scene.getWindow();
        return x + scene.getX() + window.getX();
    }

    double screenY() {
        Window window = scene.getWindow();
        return y + scene.getY() + window.getY();
    }
}
