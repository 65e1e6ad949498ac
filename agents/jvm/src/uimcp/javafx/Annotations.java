package uimcp.javafx;

import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.SnapshotParameters;
import javafx.scene.canvas.Canvas;
import javafx.scene.canvas.GraphicsContext;
import javafx.scene.control.Control;
import javafx.scene.control.Label;
import javafx.scene.image.Image;
import javafx.scene.paint.Color;
import javafx.scene.text.Font;

/** Frames what can be operated in a screenshot and labels it: with a uid, or with what a row or header adds to one. */
final class Annotations {
    private static final int LETTER_WIDTH = 6;
    private static final int TAG_HEIGHT = 11;

    private final NodeRefs refs;
    private final GraphicsContext pen;

    private Annotations(NodeRefs refs, GraphicsContext pen) {
        this.refs = refs;
        this.pen = pen;
    }

    static Image draw(NodeRefs refs, Scene scene, Image image) {
        var canvas = new Canvas(image.getWidth(), image.getHeight());
        GraphicsContext pen = canvas.getGraphicsContext2D();
        pen.drawImage(image, 0, 0);
        pen.setFont(Font.font("monospace", 10));
        new Annotations(refs, pen).below(scene.getRoot());
        return canvas.snapshot(new SnapshotParameters(), null);
    }

    private void below(Node node) {
        if (!node.isVisible()) {
            return;
        }
        boolean text = node instanceof Label && !node.getStyleClass().contains("tab-label");
        if (SceneTree.isLeaf(node) && !text) {
            frame(node, refs.uid(node));
        }
        if (SceneTree.isVirtual(node)) {
            VirtualizedControls.parts((Control) node).forEach((name, part) -> frame(part, name));
        }
        for (Node child : SceneTree.children(node, false)) {
            if (!SceneWalker.hiddenBelow(node, child)) {
                below(child);
            }
        }
    }

    private void frame(Node node, String label) {
        Bounds box = Actionability.seenPart(node);
        if (box == null) {
            return;
        }
        pen.setStroke(Color.DEEPPINK);
        pen.strokeRect(box.getMinX(), box.getMinY(), box.getWidth(), box.getHeight());
        pen.setFill(Color.DEEPPINK);
        pen.fillRect(box.getMinX(), box.getMinY(), label.length() * LETTER_WIDTH + 2, TAG_HEIGHT);
        pen.setFill(Color.WHITE);
        pen.fillText(label, box.getMinX() + 1, box.getMinY() + TAG_HEIGHT - 2);
    }
}
