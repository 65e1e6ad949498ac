package uimcp.swing;

import java.awt.Component;
import java.awt.Rectangle;
import java.awt.Window;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.swing.JComponent;
import uimcp.core.AgentException;
import uimcp.core.Refs;
import uimcp.core.RequestFields;

/** Uids of components and windows; a row is {@code UID:rINDEX}, a cell {@code UID:rINDEX:cCOLUMN}, a header {@code UID:hCOLUMN}. */
final class ComponentRefs {
    private static final Pattern PART = Pattern.compile("(.+?):(?:r(\\d+)(?::c(.+))?|h(.+))");
    private static final Pattern PATH = Pattern.compile("/stages\\[(\\d+)\\]/scene/root((?:/[^/\\[]+\\[\\d+\\])*)");

    private final Refs refs;
    /** AWT components have no properties of their own. */
    private final Map<Component, Map<Object, Object>> properties = new WeakHashMap<>();

    ComponentRefs(String mark) {
        refs = new Refs(mark);
    }

    /** A component, or one part of it: a row, a cell or a header. */
    static final class Target {
        final Component component;
        final int row;
        /** The part in the component's coordinates; null for the whole component. */
        final Rectangle area;

        Target(Component component, int row, Rectangle area) {
            this.component = component;
            this.row = row;
            this.area = area;
        }
    }

    String uid(Component component) {
        Map<Object, Object> kept = properties.computeIfAbsent(component, absent -> new HashMap<>());
        Object preset = component instanceof JComponent ? ((JComponent) component).getClientProperty("mcp.uid") : null;
        if (preset != null) {
            kept.putIfAbsent("mcp.uid", preset);
        }
        return refs.uid(component, kept);
    }

    void readRow(String controlUid, int index, Object item) {
        refs.readRow(controlUid + ":r" + index, item);
    }

    void tell(List<String> rowUids) {
        refs.tell(rowUids);
    }

    List<String> warnings() {
        return refs.warnings();
    }

    boolean owns(String uid) {
        Matcher part = PART.matcher(uid);
        return refs.find(part.matches() ? part.group(1) : uid) != null;
    }

    /** Return the component with this uid, or null if it is in no window. */
    Component component(String uid) {
        Object found = refs.find(uid);
        return found instanceof Component && SwingWindows.of((Component) found) != null ? (Component) found : null;
    }

    /** Find what a reference names: by uid, else by path; rows are scrolled to. */
    Target resolve(RequestFields ref) throws AgentException {
        String uid = ref.text("uid");
        Target found = uid == null ? null : byUid(uid);
        if (found == null && ref.text("path") != null) {
            Component component = byPath(ref.text("path"));
            found = component == null ? null : new Target(component, -1, null);
        }
        if (found == null || !SwingWindows.of(found.component).isShowing()) {
            throw AgentException.nodeNotFound();
        }
        return found;
    }

    private Target byUid(String uid) throws AgentException {
        Matcher part = PART.matcher(uid);
        if (!part.matches()) {
            Component component = component(uid);
            return component == null ? null : new Target(component, -1, null);
        }
        Component control = component(part.group(1));
        SwingRows rows = control == null ? null : SwingRows.of(control);
        if (rows == null) {
            return null;
        }
        if (part.group(4) != null) {
            return rows.header(part.group(4));
        }
        int index = Integer.parseInt(part.group(2));
        if (index >= rows.count()) {
            throw AgentException.nodeNotFound();
        }
        refs.requireSameItem(part.group(1) + ":r" + index, index, rows.item(index));
        return rows.reveal(index, part.group(3));
    }

    private static Component byPath(String path) {
        Matcher parts = PATH.matcher(path);
        List<Window> all = SwingWindows.showing();
        if (!parts.matches() || Integer.parseInt(parts.group(1)) >= all.size()) {
            return null;
        }
        return ComponentTree.byPath(SwingWindows.root(all.get(Integer.parseInt(parts.group(1)))), parts.group(2));
    }
}
