package uimcp.swing;

import java.awt.Component;
import java.awt.Container;
import java.awt.Dialog;
import java.awt.Point;
import java.awt.Rectangle;
import java.awt.Window;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.swing.JComponent;
import javax.swing.SwingUtilities;
import uimcp.core.AgentException;

/** Decides whether a person could operate a component now, and where; synthetic events would reach it in any case. */
final class SwingActionability {
    private SwingActionability() {}

    /** A point of a component, in its own coordinates. */
    static final class Spot {
        final Component component;
        final int x;
        final int y;

        Spot(Component component, int x, int y) {
            this.component = component;
            this.x = x;
            this.y = y;
        }
    }

    static boolean enabled(Component component) {
        return component.isEnabled();
    }

    /** Throw if the component is disabled, invisible, behind a modal dialog or without size. */
    static void requireUsable(ComponentRefs refs, Component component) throws AgentException {
        if (!enabled(component)) {
            throw AgentException.actionFailed("DISABLED", "The component is disabled");
        }
        if (!component.isShowing()) {
            throw AgentException.actionFailed("NOT_VISIBLE", "The component is not visible");
        }
        Dialog modal = SwingWindows.blocking(SwingWindows.of(component));
        if (modal != null) {
            throw AgentException.actionFailed("BEHIND_MODAL", "A modal dialog is open").with("stage", refs.uid(modal));
        }
        if (component.getWidth() <= 0 || component.getHeight() <= 0) {
            throw AgentException.actionFailed("ZERO_SIZE", "The component has no size");
        }
    }

    /** Return the middle of what is seen of a target after scrolling to it; {@code force} accepts that another covers it. */
    static Spot spot(ComponentRefs refs, ComponentRefs.Target target, boolean force) throws AgentException {
        Component component = target.component;
        requireUsable(refs, component);
        Rectangle area = target.area == null ? new Rectangle(component.getSize()) : target.area;
        if (component instanceof JComponent) {
            ((JComponent) component).scrollRectToVisible(area);
        }
        Rectangle seen = seen(component, area);
        if (seen.isEmpty()) {
            if (!force) {
                throw AgentException.actionFailed("OFFSCREEN", "The component cannot be scrolled into view");
            }
            seen = area;
        }
        Point middle = new Point(seen.x + seen.width / 2, seen.y + seen.height / 2);
        Component root = SwingWindows.root(SwingWindows.of(component));
        Component hit = pick(root, SwingUtilities.convertPoint(component, middle, root));
        if (hit == null || force || ComponentTree.within(component, hit)) {
            return new Spot(component, middle.x, middle.y);
        }
        if (ComponentTree.within(hit, component)) {
            Point inside = SwingUtilities.convertPoint(component, middle, hit);
            return new Spot(hit, inside.x, inside.y);
        }
        throw AgentException.actionFailed("COVERED", "Something lies over the component")
                .with("by", Map.of("uid", refs.uid(hit), "type", ComponentTree.type(hit)));
    }

    /** Return what a press at a point of the screen would hit. */
    static Spot at(double screenX, double screenY) throws AgentException {
        List<Window> all = SwingWindows.showing();
        for (int at = all.size() - 1; at >= 0; at--) {
            Component root = SwingWindows.root(all.get(at));
            Point origin = root.getLocationOnScreen();
            Point inside = new Point((int) Math.round(screenX - origin.x), (int) Math.round(screenY - origin.y));
            if (root.contains(inside)) {
                Component hit = pick(root, inside);
                Component deepest = hit == null ? SwingUtilities.getDeepestComponentAt(root, inside.x, inside.y) : hit;
                Point local = SwingUtilities.convertPoint(root, inside, deepest);
                return new Spot(deepest, local.x, local.y);
            }
        }
        throw AgentException.actionFailed("OFFSCREEN", "There is nothing at that point");
    }

    /** Return the topmost component at a point that listens to the mouse, as AWT finds it; null if none does. */
    static Component pick(Component component, Point point) {
        if (!component.isVisible() || !component.contains(point)) {
            return null;
        }
        if (component instanceof Container) {
            for (Component child : ((Container) component).getComponents()) {
                Component hit = pick(child, new Point(point.x - child.getX(), point.y - child.getY()));
                if (hit != null) {
                    return hit;
                }
            }
        }
        boolean listens = component.getMouseListeners().length > 0 || component.getMouseMotionListeners().length > 0;
        return listens ? component : null;
    }

    /** Describe whether a person could click the component without scrolling or closing something first. */
    static Map<String, Object> describe(ComponentRefs refs, Component component) {
        var found = new LinkedHashMap<String, Object>();
        Rectangle area = new Rectangle(component.getSize());
        Rectangle seen = component.isShowing() ? seen(component, area) : new Rectangle();
        Point middle = new Point(area.width / 2, area.height / 2);
        boolean inView = seen.contains(middle);
        found.put("inViewport", inView);
        Window window = SwingWindows.of(component);
        Component root = SwingWindows.root(window);
        Component hit = inView ? pick(root, SwingUtilities.convertPoint(component, middle, root)) : null;
        if (hit != null && !ComponentTree.within(hit, component) && !ComponentTree.within(component, hit)) {
            found.put("coveredBy", refs.uid(hit));
        }
        Dialog modal = SwingWindows.blocking(window);
        if (modal != null) {
            found.put("behindModal", refs.uid(modal));
        }
        return found;
    }

    static Map<String, Object> chainAt(ComponentRefs refs, double screenX, double screenY) throws AgentException {
        Spot spot = at(screenX, screenY);
        Window window = SwingWindows.of(spot.component);
        Component root = SwingWindows.root(window);
        Point inside = SwingUtilities.convertPoint(spot.component, spot.x, spot.y, root);
        Component top = SwingUtilities.getDeepestComponentAt(root, inside.x, inside.y);
        for (Component at = top; at != null && at != root; at = at.getParent()) {
            top = ComponentTree.isLeaf(at) ? at : top;
        }
        int stage = SwingWindows.showing().indexOf(window);
        var chain = new ArrayList<Map<String, Object>>();
        for (Component at = top; at != null; at = at == root ? null : at.getParent()) {
            chain.add(Map.of("uid", refs.uid(at), "path", ComponentTree.path(at, root, stage)));
        }
        return Map.of("chain", chain);
    }

    /** Return the part of an area, in the component's coordinates, that no ancestor cuts off. */
    private static Rectangle seen(Component component, Rectangle area) {
        Rectangle seen = area.intersection(new Rectangle(component.getSize()));
        Component at = component;
        int x = 0;
        int y = 0;
        for (Container above = component.getParent(); above != null && !(at instanceof Window); above = above.getParent()) {
            x += at.getX();
            y += at.getY();
            seen = seen.intersection(new Rectangle(-x, -y, above.getWidth(), above.getHeight()));
            at = above;
        }
        return seen;
    }
}
