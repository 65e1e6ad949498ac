package uimcp.javafx;

import java.util.Base64;
import java.util.List;
import java.util.Map;
import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.image.Image;
import javafx.scene.image.PixelFormat;
import javafx.scene.image.WritableImage;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.PngEncoder;
import uimcp.core.RequestFields;

/** Screenshots of scenes and nodes: drawn on the JavaFX thread, encoded off it. */
final class Screenshots {
    private Screenshots() {}

    static Map<String, Object> take(NodeRefs refs, RequestFields request, long limitMillis) throws AgentException {
        Image image = FxThread.call(limitMillis, () -> draw(refs, request));
        int width = (int) image.getWidth();
        int height = (int) image.getHeight();
        int[] pixels = new int[width * height];
        image.getPixelReader().getPixels(0, 0, width, height, PixelFormat.getIntArgbInstance(), pixels, 0, width);
        byte[] png = PngEncoder.encode(pixels, width, height, (int) request.number("maxWidth", 0));
        return Map.of("png", Base64.getEncoder().encodeToString(png));
    }

    private static Image draw(NodeRefs refs, RequestFields request) throws AgentException {
        RequestFields ref = request.object("ref");
        Node node = ref == null ? null : NodeResolver.resolve(refs, ref);
        Scene scene = node == null ? scene(request) : node.getScene();
        Image image = scene.snapshot(null);
        if (request.flag("annotate")) {
            image = Annotations.draw(refs, scene, image);
        }
        return node == null ? image : cropped(image, node.localToScene(node.getLayoutBounds()));
    }

    private static Scene scene(RequestFields request) throws AgentException {
        List<Window> all = Windows.requireShowing();
        Object index = request.get("stage");
        if (index instanceof Double && (((Double) index) < 0 || ((Double) index) >= all.size())) {
            throw AgentException.invalidArgument(
                    "There is no stage " + ((Double) index).intValue() + "; valid are 0 to " + (all.size() - 1));
        }
        return (index instanceof Double ? all.get(((Double) index).intValue()) : Windows.focused(all)).getScene();
    }

    private static Image cropped(Image image, Bounds box) throws AgentException {
        int x = Math.max(0, (int) box.getMinX());
        int y = Math.max(0, (int) box.getMinY());
        int width = (int) Math.min(image.getWidth() - x, Math.ceil(box.getWidth()));
        int height = (int) Math.min(image.getHeight() - y, Math.ceil(box.getHeight()));
        if (width <= 0 || height <= 0) {
            throw AgentException.actionFailed("OFFSCREEN", "The node is outside its window");
        }
        return new WritableImage(image.getPixelReader(), x, y, width, height);
    }
}
