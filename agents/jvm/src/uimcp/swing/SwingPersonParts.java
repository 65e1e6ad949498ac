package uimcp.swing;

import java.awt.Component;
import java.awt.Point;
import java.awt.Rectangle;
import java.awt.event.KeyEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.swing.JList;
import javax.swing.JTabbedPane;
import javax.swing.JTable;
import javax.swing.JTextField;
import javax.swing.JTree;
import javax.swing.SwingUtilities;
import javax.swing.table.JTableHeader;
import javax.swing.text.JTextComponent;

/** Which component, row, cell or header a person means by a place or a key. */
final class SwingPersonParts {
    private static final Set<Integer> EDITING = Set.of(KeyEvent.VK_A, KeyEvent.VK_C, KeyEvent.VK_V, KeyEvent.VK_X, KeyEvent.VK_Y, KeyEvent.VK_Z);
    /** Keys by the names of our actions. */
    private static final Map<Integer, String> KEYS = Map.ofEntries(Map.entry(KeyEvent.VK_ENTER, "ENTER"), Map.entry(KeyEvent.VK_ESCAPE, "ESCAPE"),
            Map.entry(KeyEvent.VK_SPACE, "SPACE"), Map.entry(KeyEvent.VK_UP, "UP"), Map.entry(KeyEvent.VK_DOWN, "DOWN"),
            Map.entry(KeyEvent.VK_LEFT, "LEFT"), Map.entry(KeyEvent.VK_RIGHT, "RIGHT"), Map.entry(KeyEvent.VK_PAGE_UP, "PAGE_UP"),
            Map.entry(KeyEvent.VK_PAGE_DOWN, "PAGE_DOWN"), Map.entry(KeyEvent.VK_HOME, "HOME"), Map.entry(KeyEvent.VK_END, "END"),
            Map.entry(KeyEvent.VK_DELETE, "DELETE"), Map.entry(KeyEvent.VK_BACK_SPACE, "BACK_SPACE"));
    private static final Set<Integer> IN_FIELDS = Set.of(KeyEvent.VK_ENTER, KeyEvent.VK_ESCAPE, KeyEvent.VK_UP, KeyEvent.VK_DOWN);

    private SwingPersonParts() {}

    /** Return uids of the component and those around it, innermost first, with the row, cell or tab at the point, if one is given. */
    static List<String> chain(ComponentRefs refs, Component component, Point point) {
        var chain = new ArrayList<String>();
        for (Component at = component; at != null; at = at.getParent()) {
            String part = point == null ? null : part(refs, at, SwingUtilities.convertPoint(component, point, at));
            if (part != null) {
                chain.add(part);
            }
            chain.add(refs.uid(at));
        }
        return chain;
    }

    private static String part(ComponentRefs refs, Component at, Point point) {
        if (at instanceof JTableHeader) {
            int column = ((JTableHeader) at).columnAtPoint(point);
            JTable table = ((JTableHeader) at).getTable();
            return column < 0 || table == null ? null : refs.uid(table) + ":hcol" + column;
        }
        if (at instanceof JTable) {
            int row = ((JTable) at).rowAtPoint(point);
            int column = ((JTable) at).columnAtPoint(point);
            return row < 0 || column < 0 ? null : refs.uid(at) + ":r" + row + ":ccol" + column;
        }
        int row = at instanceof JTree ? ((JTree) at).getRowForLocation(point.x, point.y)
                : at instanceof JTabbedPane ? ((JTabbedPane) at).indexAtLocation(point.x, point.y)
                : at instanceof JList ? rowAt((JList<?>) at, point) : -1;
        return row < 0 ? null : refs.uid(at) + ":r" + row;
    }

    private static int rowAt(JList<?> list, Point point) {
        int row = list.locationToIndex(point);
        return row >= 0 && list.getCellBounds(row, row).contains(point) ? row : -1;
    }

    /** Return the row of a tree whose handle is at a point, which opens and closes it; -1 if there is none. */
    static int handleAt(JTree tree, Point point) {
        int row = tree.getClosestRowForLocation(point.x, point.y);
        Rectangle box = row < 0 ? null : tree.getRowBounds(row);
        boolean beside = box != null && point.x < box.x && point.y >= box.y && point.y < box.y + box.height;
        return beside && !tree.getModel().isLeaf(tree.getPathForRow(row).getLastPathComponent()) ? row : -1;
    }

    /** Return the first component of one of these classes, from the component outwards, or null. */
    static Component above(Component component, Class<?>... classes) {
        for (Component at = component; at != null; at = at.getParent()) {
            for (Class<?> one : classes) {
                if (one.isInstance(at)) {
                    return at;
                }
            }
        }
        return null;
    }

    /** Return whether a component shows JavaFX, which tells its events itself; its module may be absent. */
    static boolean isFx(Object component) {
        for (Class<?> at = component.getClass(); at != null; at = at.getSuperclass()) {
            if (at.getName().equals("javafx.embed.swing.JFXPanel")) {
                return true;
            }
        }
        return false;
    }

    static String keyName(int code) {
        String known = KEYS.get(code);
        return known != null ? known : isFunction(code) ? "F" + (code - KeyEvent.VK_F1 + 1) : String.valueOf((char) code);
    }

    /** Return whether a key does something that neither a text nor a click tells. */
    static boolean tells(int code, boolean shortcut, JTextComponent writes) {
        if (shortcut) {
            return writes == null || !EDITING.contains(code);
        }
        if (writes == null) {
            return KEYS.containsKey(code) || isFunction(code);
        }
        return isFunction(code) || code == KeyEvent.VK_ESCAPE || (writes instanceof JTextField && IN_FIELDS.contains(code));
    }

    private static boolean isFunction(int code) {
        return code >= KeyEvent.VK_F1 && code <= KeyEvent.VK_F12;
    }
}
