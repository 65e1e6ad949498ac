package uimcp.core;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.SnapshotParameters;
import javafx.scene.canvas.Canvas;
import javafx.scene.canvas.GraphicsContext;
import javafx.scene.control.Label;
import javafx.scene.image.Image;
import javafx.scene.image.PixelFormat;
import javafx.scene.image.WritableImage;
import javafx.scene.paint.Color;
import javafx.scene.text.Font;
import javafx.stage.Window;

/** Pictures of scenes and nodes: drawn on the JavaFX thread, packed into PNG off it. */
final class Screenshots {
    private Screenshots() {}

    static Map<String, Object> take(Refs refs, Map<String, Object> ask, long limitMillis) throws AgentException {
        Image image = FxThread.call(limitMillis, () -> draw(refs, ask));
        int width = (int) image.getWidth();
        int height = (int) image.getHeight();
        int[] pixels = new int[width * height];
        image.getPixelReader().getPixels(0, 0, width, height, PixelFormat.getIntArgbInstance(), pixels, 0, width);
        int limit = (int) RequestFields.number(ask, "maxWidth", 0);
        if (limit > 0 && limit < width) {
            int smaller = Math.max(1, (int) ((long) height * limit / width));
            pixels = shrunk(pixels, width, height, limit, smaller);
            width = limit;
            height = smaller;
        }
        return Map.of("png", Base64.getEncoder().encodeToString(png(pixels, width, height)));
    }

    private static Image draw(Refs refs, Map<String, Object> ask) throws AgentException {
        Map<String, Object> ref = RequestFields.map(ask, "ref");
        Node node = ref == null ? null : NodeResolver.node(refs, ref);
        Scene scene = node == null ? scene(ask) : node.getScene();
        Image image = scene.snapshot(null);
        if (RequestFields.flag(ask, "annotate")) {
            image = annotated(refs, scene, image);
        }
        return node == null ? image : cropped(image, node.localToScene(node.getLayoutBounds()));
    }

    private static Scene scene(Map<String, Object> ask) throws AgentException {
        List<Window> all = Windows.showing();
        if (all.isEmpty()) {
            throw new AgentException("MCP_UI_NO_STAGES", "The program shows no window");
        }
        Object index = ask.get("stage");
        if (index instanceof Double && (((Double) index) < 0 || ((Double) index) >= all.size())) {
            throw AgentException.wrong("There is no stage " + ((Double) index).intValue() + "; valid are 0 to " + (all.size() - 1));
        }
        return (index instanceof Double ? all.get(((Double) index).intValue()) : Windows.focused(all)).getScene();
    }

    private static Image cropped(Image image, Bounds box) throws AgentException {
        int x = Math.max(0, (int) box.getMinX());
        int y = Math.max(0, (int) box.getMinY());
        int width = (int) Math.min(image.getWidth() - x, Math.ceil(box.getWidth()));
        int height = (int) Math.min(image.getHeight() - y, Math.ceil(box.getHeight()));
        if (width <= 0 || height <= 0) {
            throw AgentException.refused("OFFSCREEN", "The node is outside its window");
        }
        return new WritableImage(image.getPixelReader(), x, y, width, height);
    }

    private static Image annotated(Refs refs, Scene scene, Image image) {
        var canvas = new Canvas(image.getWidth(), image.getHeight());
        GraphicsContext pen = canvas.getGraphicsContext2D();
        pen.drawImage(image, 0, 0);
        pen.setFont(Font.font("monospace", 10));
        annotate(refs, scene.getRoot(), pen);
        return canvas.snapshot(new SnapshotParameters(), null);
    }

    private static void annotate(Refs refs, Node node, GraphicsContext pen) {
        if (!node.isVisible()) {
            return;
        }
        if (SceneTree.isLeaf(node) && !(node instanceof Label)) {
            Bounds box = node.localToScene(node.getLayoutBounds());
            pen.setStroke(Color.DEEPPINK);
            pen.strokeRect(box.getMinX(), box.getMinY(), box.getWidth(), box.getHeight());
            String uid = refs.uid(node);
            pen.setFill(Color.DEEPPINK);
            pen.fillRect(box.getMinX(), box.getMinY(), uid.length() * 6 + 2, 11);
            pen.setFill(Color.WHITE);
            pen.fillText(uid, box.getMinX() + 1, box.getMinY() + 9);
        }
        for (Node child : SceneTree.children(node, false)) {
            if (!SceneWalker.hiddenBelow(node, child)) {
                annotate(refs, child, pen);
            }
        }
    }

    private static int[] shrunk(int[] pixels, int width, int height, int toWidth, int toHeight) {
        int[] small = new int[toWidth * toHeight];
        for (int y = 0; y < toHeight; y++) {
            int top = (int) ((long) y * height / toHeight);
            int bottom = Math.max(top + 1, (int) ((long) (y + 1) * height / toHeight));
            for (int x = 0; x < toWidth; x++) {
                int left = (int) ((long) x * width / toWidth);
                int right = Math.max(left + 1, (int) ((long) (x + 1) * width / toWidth));
                small[y * toWidth + x] = mean(pixels, width, left, right, top, bottom);
            }
        }
        return small;
    }

    private static int mean(int[] pixels, int width, int left, int right, int top, int bottom) {
        long red = 0;
        long green = 0;
        long blue = 0;
        int count = (right - left) * (bottom - top);
        for (int y = top; y < bottom; y++) {
            for (int x = left; x < right; x++) {
                int pixel = pixels[y * width + x];
                red += pixel >> 16 & 255;
                green += pixel >> 8 & 255;
                blue += pixel & 255;
            }
        }
        return 0xff000000 | (int) (red / count) << 16 | (int) (green / count) << 8 | (int) (blue / count);
    }

    private static byte[] png(int[] pixels, int width, int height) throws AgentException {
        byte[] rows = new byte[(width * 3 + 1) * height];
        int at = 0;
        for (int y = 0; y < height; y++) {
            rows[at++] = 0;
            for (int x = 0; x < width; x++) {
                int pixel = pixels[y * width + x];
                rows[at++] = (byte) (pixel >> 16);
                rows[at++] = (byte) (pixel >> 8);
                rows[at++] = (byte) pixel;
            }
        }
        try {
            var out = new ByteArrayOutputStream();
            out.write(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
            var head = new ByteArrayOutputStream();
            var numbers = new DataOutputStream(head);
            numbers.writeInt(width);
            numbers.writeInt(height);
            numbers.write(new byte[] {8, 2, 0, 0, 0});
            chunk(out, "IHDR", head.toByteArray());
            chunk(out, "IDAT", deflated(rows));
            chunk(out, "IEND", new byte[0]);
            return out.toByteArray();
        } catch (IOException impossible) {
            throw new AgentException("MCP_UI_INTERNAL", impossible.toString());
        }
    }

    private static byte[] deflated(byte[] rows) {
        var deflater = new Deflater(Deflater.BEST_SPEED);
        deflater.setInput(rows);
        deflater.finish();
        var out = new ByteArrayOutputStream(rows.length / 8);
        byte[] buffer = new byte[65536];
        while (!deflater.finished()) {
            out.write(buffer, 0, deflater.deflate(buffer));
        }
        deflater.end();
        return out.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream out, String name, byte[] body) throws IOException {
        var data = new DataOutputStream(out);
        byte[] type = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        var sum = new CRC32();
        sum.update(type);
        sum.update(body);
        data.writeInt(body.length);
        data.write(type);
        data.write(body);
        data.writeInt((int) sum.getValue());
    }
}
