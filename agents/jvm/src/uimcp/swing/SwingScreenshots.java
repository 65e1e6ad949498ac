package uimcp.swing;

import java.awt.Color;
import java.awt.Component;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.Rectangle;
import java.awt.Window;
import java.awt.image.BufferedImage;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.swing.JComponent;
import javax.swing.JLabel;
import javax.swing.SwingUtilities;
import uimcp.core.AgentException;
import uimcp.core.PngEncoder;
import uimcp.core.RequestFields;

/** Screenshots of windows and components: painted on the event dispatch thread, encoded off it. */
final class SwingScreenshots {
    private SwingScreenshots() {}

    static Map<String, Object> take(ComponentRefs refs, RequestFields request, long limitMillis) throws AgentException {
        BufferedImage image = SwingThread.call(limitMillis, () -> draw(refs, request));
        int[] pixels = image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
        byte[] png = PngEncoder.encode(pixels, image.getWidth(), image.getHeight(), (int) request.number("maxWidth", 0));
        return Map.of("png", Base64.getEncoder().encodeToString(png));
    }

    private static BufferedImage draw(ComponentRefs refs, RequestFields request) throws AgentException {
        RequestFields ref = request.object("ref");
        ComponentRefs.Target target = ref == null ? null : refs.resolve(ref);
        Component root = SwingWindows.root(target == null ? window(request) : SwingWindows.of(target.component));
        var image = new BufferedImage(Math.max(1, root.getWidth()), Math.max(1, root.getHeight()), BufferedImage.TYPE_INT_ARGB);
        Graphics2D pen = image.createGraphics();
        root.printAll(pen);
        if (request.flag("annotate")) {
            pen.setFont(new Font(Font.MONOSPACED, Font.PLAIN, 10));
            annotate(refs, root, root, pen);
        }
        pen.dispose();
        return target == null ? image : cropped(image, root, target);
    }

    private static Window window(RequestFields request) throws AgentException {
        List<Window> all = SwingWindows.requireShowing();
        Object index = request.get("stage");
        if (index instanceof Double && (((Double) index) < 0 || ((Double) index) >= all.size())) {
            throw AgentException.invalidArgument(
                    "There is no stage " + ((Double) index).intValue() + "; valid are 0 to " + (all.size() - 1));
        }
        return index instanceof Double ? all.get(((Double) index).intValue()) : SwingWindows.focused(all);
    }

    private static BufferedImage cropped(BufferedImage image, Component root, ComponentRefs.Target target) throws AgentException {
        Rectangle area = target.area == null ? new Rectangle(target.component.getSize()) : target.area;
        Rectangle box = SwingUtilities.convertRectangle(target.component, area, root).intersection(new Rectangle(image.getWidth(), image.getHeight()));
        if (box.isEmpty()) {
            throw AgentException.actionFailed("OFFSCREEN", "The component is outside its window");
        }
        return image.getSubimage(box.x, box.y, box.width, box.height);
    }

    /** Frame what can be operated; rows, tabs and headers are labelled with what they add to the uid of their control. */
    private static void annotate(ComponentRefs refs, Component root, Component component, Graphics2D pen) {
        if (!component.isVisible()) {
            return;
        }
        SwingRows rows = SwingRows.of(component);
        if (rows != null || (ComponentTree.isLeaf(component) && !(component instanceof JLabel))) {
            frame(root, component, new Rectangle(component.getSize()), refs.uid(component), pen);
        }
        if (rows != null) {
            parts(root, rows, pen);
        }
        for (Component child : ComponentTree.children(component, false)) {
            annotate(refs, root, child, pen);
        }
    }

    private static void parts(Component root, SwingRows rows, Graphics2D pen) {
        int[] shown = rows.inView();
        for (int index = shown == null ? 0 : shown[0]; shown != null && index <= shown[1]; index++) {
            frame(root, rows.control, rows.bounds(index, -1), "r" + index, pen);
        }
        for (int column = 0; column < rows.columns().size(); column++) {
            try {
                ComponentRefs.Target header = rows.header("col" + column);
                frame(root, header.component, header.area, "hcol" + column, pen);
            } catch (AgentException absent) {
                return; // a table outside a scroll pane shows no headers
            }
        }
    }

    private static void frame(Component root, Component component, Rectangle area, String label, Graphics2D pen) {
        Rectangle visible = component instanceof JComponent ? ((JComponent) component).getVisibleRect() : new Rectangle(component.getSize());
        Rectangle seen = area == null || !component.isShowing() ? new Rectangle() : area.intersection(visible);
        if (seen.isEmpty()) {
            return;
        }
        Rectangle box = SwingUtilities.convertRectangle(component, seen, root);
        pen.setColor(new Color(0xd6006c));
        pen.drawRect(box.x, box.y, box.width - 1, box.height - 1);
        pen.fillRect(box.x, box.y, label.length() * 6 + 2, 11);
        pen.setColor(Color.WHITE);
        pen.drawString(label, box.x + 1, box.y + 9);
    }
}
