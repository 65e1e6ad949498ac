package uimcp.swing;

import java.awt.Component;
import java.awt.Point;
import java.awt.Rectangle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.swing.AbstractButton;
import javax.swing.JComponent;
import javax.swing.JLabel;
import javax.swing.JList;
import javax.swing.JTabbedPane;
import javax.swing.JTable;
import javax.swing.JTree;
import javax.swing.ListCellRenderer;
import javax.swing.table.JTableHeader;
import javax.swing.tree.TreePath;
import uimcp.core.AgentException;

/** The rows of a list, table, tree or tabbed pane, which Swing paints without a component for each. */
abstract class SwingRows {
    final JComponent control;

    SwingRows(JComponent control) {
        this.control = control;
    }

    /** Return null if the component has no rows. */
    static SwingRows of(Component component) {
        return component instanceof JTable ? new Table((JTable) component) : component instanceof JTree ? new Tree((JTree) component)
                : component instanceof JList ? new Items((JList<?>) component)
                : component instanceof JTabbedPane ? new TabRows((JTabbedPane) component) : null;
    }

    abstract String kind();

    abstract int count();

    /** What the row shows: the model's object or, where there is none for the row, its texts. */
    abstract Object item(int index);

    abstract Rectangle bounds(int index, int column);

    abstract String text(int index, int column);

    abstract int[] selected();

    abstract void select(int index);

    /** The row at a point of the control, or -1. */
    abstract int at(Point point);

    List<String> columns() {
        return List.of();
    }

    void putState(Map<String, Object> row, int index) {}

    boolean expand(int index, boolean open) {
        return false;
    }

    ComponentRefs.Target header(String column) throws AgentException {
        throw AgentException.nodeNotFound();
    }

    /** Return a row, or one cell of it, after scrolling to it. */
    ComponentRefs.Target reveal(int index, String column) throws AgentException {
        int at = column == null ? -1 : column(column);
        Rectangle area = bounds(index, at);
        if (area == null) {
            throw AgentException.nodeNotFound();
        }
        control.scrollRectToVisible(area);
        return new ComponentRefs.Target(control, index, area);
    }

    int column(String name) throws AgentException {
        List<String> titles = columns();
        for (int at = 0; at < titles.size(); at++) {
            if (name.equals("col" + at) || name.equals(titles.get(at))) {
                return at;
            }
        }
        throw AgentException.nodeNotFound();
    }

    int indexOf(String text) {
        for (int index = 0; index < count(); index++) {
            if (text.equals(text(index, columns().isEmpty() ? -1 : 0))) {
                return index;
            }
        }
        return -1;
    }

    /** Return the first and the last row in view, or null if there is none. */
    int[] inView() {
        Rectangle seen = control.getVisibleRect();
        if (count() == 0 || seen.isEmpty()) {
            return null;
        }
        int last = at(new Point(seen.x, seen.y + seen.height - 1));
        return new int[] {Math.max(0, at(seen.getLocation())), last < 0 ? count() - 1 : last};
    }

    Map<String, Object> describe(String uid, ComponentRefs refs, boolean redacted) {
        int[] shown = inView();
        var written = new LinkedHashMap<String, Object>();
        written.put("kind", kind());
        written.put("rowType", "Row");
        written.put("itemsCount", count());
        written.put("visibleRange", shown == null ? null : Map.of("from", shown[0], "to", shown[1]));
        var chosen = new ArrayList<Integer>();
        Arrays.stream(selected()).forEach(chosen::add);
        written.put("selectedIndices", chosen);
        written.put("focusedIndex", chosen.isEmpty() ? null : chosen.get(0));
        var columns = new ArrayList<Object>();
        for (int at = 0; at < columns().size(); at++) {
            columns.add(Map.of("id", "col" + at, "text", columns().get(at)));
        }
        written.put("columns", columns);
        var rows = new ArrayList<Object>();
        for (int index = shown == null ? 0 : shown[0]; !redacted && shown != null && index <= shown[1]; index++) {
            rows.add(row(index));
            refs.readRow(uid, index, item(index));
        }
        written.put("visibleCells", rows);
        return written;
    }

    private Map<String, Object> row(int index) {
        var row = new LinkedHashMap<String, Object>();
        var cells = new ArrayList<Object>();
        int width = columns().size();
        for (int at = width == 0 ? -1 : 0; at < width; at++) {
            var cell = new LinkedHashMap<String, Object>();
            cell.put("columnId", at < 0 ? null : "col" + at);
            cell.put("text", text(index, at));
            cells.add(cell);
        }
        row.put("index", index);
        row.put("cells", cells);
        putState(row, index);
        return row;
    }

    /** Return the text that a renderer shows. */
    static String shown(Component renderer, Object value) {
        String text = renderer instanceof JLabel ? ((JLabel) renderer).getText()
                : renderer instanceof AbstractButton ? ((AbstractButton) renderer).getText() : null;
        boolean check = renderer instanceof AbstractButton && value instanceof Boolean;
        return check ? String.valueOf(value) : text == null || text.isEmpty() ? value == null ? "" : Texts.plain(String.valueOf(value)) : Texts.plain(text);
    }

    private static final class Table extends SwingRows {
        private final JTable table;

        Table(JTable table) {
            super(table);
            this.table = table;
        }

        @Override
        String kind() {
            return "JTable";
        }

        @Override
        int count() {
            return table.getRowCount();
        }

        @Override
        Object item(int index) {
            var texts = new ArrayList<String>();
            for (int at = 0; at < table.getColumnCount(); at++) {
                texts.add(String.valueOf(table.getValueAt(index, at)));
            }
            return texts.toString();
        }

        @Override
        Rectangle bounds(int index, int column) {
            Rectangle first = table.getCellRect(index, Math.max(0, column), false);
            return column >= 0 ? first : first.union(table.getCellRect(index, table.getColumnCount() - 1, false)).intersection(table.getVisibleRect().isEmpty() ? first : wide(first));
        }

        private Rectangle wide(Rectangle row) {
            Rectangle seen = table.getVisibleRect();
            return new Rectangle(seen.x, row.y, seen.width, row.height);
        }

        @Override
        String text(int index, int column) {
            Object value = table.getValueAt(index, column);
            return shown(table.prepareRenderer(table.getCellRenderer(index, column), index, column), value);
        }

        @Override
        void putState(Map<String, Object> row, int index) {
            for (int at = 0; at < table.getColumnCount() && !row.containsKey("checked"); at++) {
                if (table.getColumnClass(at) == Boolean.class && table.getValueAt(index, at) instanceof Boolean) {
                    row.put("checked", table.getValueAt(index, at));
                }
            }
        }

        @Override
        int[] selected() {
            return table.getSelectedRows();
        }

        @Override
        void select(int index) {
            table.setRowSelectionInterval(index, index);
        }

        @Override
        int at(Point point) {
            return table.rowAtPoint(point);
        }

        @Override
        List<String> columns() {
            var titles = new ArrayList<String>();
            for (int at = 0; at < table.getColumnCount(); at++) {
                titles.add(Texts.plain(String.valueOf(table.getColumnName(at))));
            }
            return titles;
        }

        @Override
        ComponentRefs.Target header(String column) throws AgentException {
            JTableHeader header = table.getTableHeader();
            if (header == null) {
                throw AgentException.nodeNotFound();
            }
            return new ComponentRefs.Target(header, -1, header.getHeaderRect(column(column)));
        }
    }

    private static final class Tree extends SwingRows {
        private final JTree tree;

        Tree(JTree tree) {
            super(tree);
            this.tree = tree;
        }

        @Override
        String kind() {
            return "JTree";
        }

        @Override
        int count() {
            return tree.getRowCount();
        }

        @Override
        Object item(int index) {
            TreePath path = tree.getPathForRow(index);
            return path == null ? null : path.getLastPathComponent();
        }

        @Override
        Rectangle bounds(int index, int column) {
            return tree.getRowBounds(index);
        }

        @Override
        String text(int index, int column) {
            Object node = item(index);
            return Texts.plain(tree.convertValueToText(node, false, tree.isExpanded(index), tree.getModel().isLeaf(node), index, false));
        }

        @Override
        void putState(Map<String, Object> row, int index) {
            row.put("level", tree.getPathForRow(index).getPathCount() - (tree.isRootVisible() ? 1 : 2));
            if (!tree.getModel().isLeaf(item(index))) {
                row.put("expanded", tree.isExpanded(index));
            }
        }

        @Override
        int[] selected() {
            int[] rows = tree.getSelectionRows();
            return rows == null ? new int[0] : rows;
        }

        @Override
        void select(int index) {
            tree.setSelectionRow(index);
        }

        @Override
        int at(Point point) {
            return tree.getClosestRowForLocation(point.x, point.y);
        }

        @Override
        boolean expand(int index, boolean open) {
            if (open) {
                tree.expandRow(index);
            } else {
                tree.collapseRow(index);
            }
            return true;
        }
    }

    private static final class Items extends SwingRows {
        private final JList<?> list;

        Items(JList<?> list) {
            super(list);
            this.list = list;
        }

        @Override
        String kind() {
            return "JList";
        }

        @Override
        int count() {
            return list.getModel().getSize();
        }

        @Override
        Object item(int index) {
            return list.getModel().getElementAt(index);
        }

        @Override
        Rectangle bounds(int index, int column) {
            return list.getCellBounds(index, index);
        }

        @Override
        @SuppressWarnings("unchecked")
        String text(int index, int column) {
            var renderer = (ListCellRenderer<Object>) list.getCellRenderer();
            Object value = item(index);
            return shown(renderer.getListCellRendererComponent((JList<Object>) list, value, index, false, false), value);
        }

        @Override
        int[] selected() {
            return list.getSelectedIndices();
        }

        @Override
        void select(int index) {
            list.setSelectedIndex(index);
        }

        @Override
        int at(Point point) {
            return list.locationToIndex(point);
        }
    }
}
