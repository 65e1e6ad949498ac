package uimcp.javafx;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import javafx.scene.Node;
import javafx.scene.control.CheckBox;
import javafx.scene.control.Control;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.Labeled;
import javafx.scene.control.ListView;
import javafx.scene.control.MultipleSelectionModel;
import javafx.scene.control.TableColumnBase;
import javafx.scene.control.TablePosition;
import javafx.scene.control.TableView;
import javafx.scene.control.TreeItem;
import javafx.scene.control.TreeTableView;
import javafx.scene.control.TreeView;
import javafx.scene.control.skin.TableColumnHeader;
import javafx.scene.control.skin.VirtualFlow;
import javafx.scene.text.Text;
import uimcp.core.AgentException;

/** Lists, tables and trees, which create cells for the visible rows only and reuse them; rows are named by index. */
final class VirtualizedControls {
    private VirtualizedControls() {}

    static Map<String, Object> describe(Control control, String uid, NodeRefs refs, boolean redacted) {
        var written = new LinkedHashMap<String, Object>();
        var columns = columns(control);
        VirtualFlow<?> flow = flow(control);
        IndexedCell<?> first = flow == null || count(control) == 0 ? null : flow.getFirstVisibleCell();
        IndexedCell<?> last = first == null ? null : flow.getLastVisibleCell();
        written.put("kind", kind(control));
        written.put("rowType", rowType(control));
        written.put("itemsCount", count(control));
        written.put("visibleRange", last == null ? null : Map.of("from", first.getIndex(), "to", last.getIndex()));
        written.put("selectedIndices", new TreeSet<>(selection(control).getSelectedIndices()));
        int focus = focusedIndex(control);
        written.put("focusedIndex", focus < 0 ? null : focus);
        written.put("columns", describeColumns(control, columns));
        var rows = new ArrayList<Object>();
        for (int index = last == null ? 0 : first.getIndex(); last != null && !redacted && index <= last.getIndex(); index++) {
            IndexedCell<?> cell = flow.getCell(index);
            var row = new LinkedHashMap<String, Object>();
            row.put("index", index);
            row.put("cells", columns.isEmpty() ? single(cell) : cells(control, cell, columns));
            putState(row, control, cell, index);
            rows.add(row);
            refs.readRow(uid, index, item(control, index));
        }
        written.put("visibleCells", rows);
        return written;
    }

    /** Level and expansion of a tree's row, and the state of a check box in any row. */
    private static void putState(Map<String, Object> row, Control control, IndexedCell<?> cell, int index) {
        Object item = item(control, index);
        if (item instanceof TreeItem) {
            TreeItem<?> branch = (TreeItem<?>) item;
            row.put("level", level(branch) - (showsRoot(control) ? 0 : 1));
            if (!branch.isLeaf()) {
                row.put("expanded", branch.isExpanded());
            }
        }
        Node box = cell.lookup(".check-box");
        if (box instanceof CheckBox) {
            row.put("checked", ((CheckBox) box).isSelected());
        }
    }

    private static int level(TreeItem<?> item) {
        int level = 0;
        for (TreeItem<?> at = item.getParent(); at != null; at = at.getParent()) {
            level++;
        }
        return level;
    }

    private static boolean showsRoot(Control control) {
        return control instanceof TreeView ? ((TreeView<?>) control).isShowRoot() : ((TreeTableView<?>) control).isShowRoot();
    }

    /** Return the position of the first row with this text, or -1; rows that are not on screen count by their item. */
    static int indexOf(Control control, String text) {
        VirtualFlow<?> flow = flow(control);
        for (int index = 0; index < count(control); index++) {
            Object item = item(control, index);
            Object value = item instanceof TreeItem ? ((TreeItem<?>) item).getValue() : item;
            if (String.valueOf(value).equals(text)) {
                return index;
            }
        }
        IndexedCell<?> first = flow == null ? null : flow.getFirstVisibleCell();
        for (int index = first == null ? 0 : first.getIndex(); first != null && index <= flow.getLastVisibleCell().getIndex(); index++) {
            if (textOf(flow.getCell(index)).equals(text)) {
                return index;
            }
        }
        return -1;
    }

    static String kind(Control control) {
        return control instanceof ListView ? "ListView" : control instanceof TableView ? "TableView"
                : control instanceof TreeView ? "TreeView" : "TreeTableView";
    }

    static int count(Control control) {
        if (control instanceof ListView) {
            return ((ListView<?>) control).getItems() == null ? 0 : ((ListView<?>) control).getItems().size();
        }
        if (control instanceof TableView) {
            return ((TableView<?>) control).getItems() == null ? 0 : ((TableView<?>) control).getItems().size();
        }
        return control instanceof TreeView ? ((TreeView<?>) control).getExpandedItemCount()
                : ((TreeTableView<?>) control).getExpandedItemCount();
    }

    static Object item(Control control, int index) {
        if (index < 0 || index >= count(control)) {
            return null;
        }
        if (control instanceof ListView) {
            return ((ListView<?>) control).getItems().get(index);
        }
        if (control instanceof TableView) {
            return ((TableView<?>) control).getItems().get(index);
        }
        return control instanceof TreeView ? ((TreeView<?>) control).getTreeItem(index) : ((TreeTableView<?>) control).getTreeItem(index);
    }

    static MultipleSelectionModel<?> selection(Control control) {
        if (control instanceof ListView) {
            return ((ListView<?>) control).getSelectionModel();
        }
        if (control instanceof TableView) {
            return ((TableView<?>) control).getSelectionModel();
        }
        return control instanceof TreeView ? ((TreeView<?>) control).getSelectionModel() : ((TreeTableView<?>) control).getSelectionModel();
    }

    static void scrollTo(Control control, int index) {
        if (control instanceof ListView) {
            ((ListView<?>) control).scrollTo(index);
        } else if (control instanceof TableView) {
            ((TableView<?>) control).scrollTo(index);
        } else if (control instanceof TreeView) {
            ((TreeView<?>) control).scrollTo(index);
        } else {
            ((TreeTableView<?>) control).scrollTo(index);
        }
    }

    /** Return the rows in view and the headers, by what their uids add to that of the control. */
    static Map<String, Node> parts(Control control) {
        var found = new LinkedHashMap<String, Node>();
        VirtualFlow<?> flow = flow(control);
        IndexedCell<?> first = flow == null || count(control) == 0 ? null : flow.getFirstVisibleCell();
        for (int index = first == null ? 0 : first.getIndex(); first != null && index <= flow.getLastVisibleCell().getIndex(); index++) {
            found.put("r" + index, flow.getCell(index));
        }
        for (Node part : columns(control).isEmpty() ? Set.<Node>of() : control.lookupAll(".column-header")) {
            TableColumnBase<?, ?> column = part instanceof TableColumnHeader ? ((TableColumnHeader) part).getTableColumn() : null;
            if (column != null && columns(control).contains(column)) {
                found.put("h" + columnId(control, column), part);
            }
        }
        return found;
    }

    /** Return the header of a column, named by its id or its text. */
    static Node header(Control control, String name) throws AgentException {
        TableColumnBase<?, ?> column = column(control, name);
        for (Node part : control.lookupAll(".column-header")) {
            if (part instanceof TableColumnHeader && ((TableColumnHeader) part).getTableColumn() == column) {
                return part;
            }
        }
        throw AgentException.nodeNotFound();
    }

    static TableColumnBase<?, ?> column(Control control, String name) throws AgentException {
        for (TableColumnBase<?, ?> column : columns(control)) {
            if (columnId(control, column).equals(name)) {
                return column;
            }
        }
        for (TableColumnBase<?, ?> column : columns(control)) {
            if (name.equals(column.getText())) {
                return column;
            }
        }
        throw AgentException.nodeNotFound();
    }

    static VirtualFlow<?> flow(Control control) {
        for (Node part : control.getChildrenUnmodifiable()) {
            if (part instanceof VirtualFlow) {
                return (VirtualFlow<?>) part;
            }
        }
        return null;
    }

    static boolean expand(Control control, int index, boolean open) {
        Object item = item(control, index);
        if (item instanceof TreeItem) {
            ((TreeItem<?>) item).setExpanded(open);
        }
        return item instanceof TreeItem;
    }

    private static int focusedIndex(Control control) {
        if (control instanceof ListView) {
            return ((ListView<?>) control).getFocusModel().getFocusedIndex();
        }
        if (control instanceof TableView) {
            TablePosition<?, ?> cell = ((TableView<?>) control).getFocusModel().getFocusedCell();
            return cell == null ? -1 : cell.getRow();
        }
        return control instanceof TreeView ? ((TreeView<?>) control).getFocusModel().getFocusedIndex()
                : ((TreeTableView<?>) control).getFocusModel().getFocusedIndex();
    }

    private static String rowType(Control control) {
        return control instanceof ListView ? "ListCell" : control instanceof TableView ? "TableRow"
                : control instanceof TreeView ? "TreeCell" : "TreeTableRow";
    }

    static List<TableColumnBase<?, ?>> columns(Control control) {
        if (control instanceof TableView) {
            return new ArrayList<>(((TableView<?>) control).getVisibleLeafColumns());
        }
        return control instanceof TreeTableView ? new ArrayList<>(((TreeTableView<?>) control).getVisibleLeafColumns()) : List.of();
    }

    private static List<Object> describeColumns(Control control, List<TableColumnBase<?, ?>> columns) {
        var written = new ArrayList<Object>();
        for (TableColumnBase<?, ?> column : columns) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("id", columnId(control, column));
            entry.put("text", column.getText());
            written.add(entry);
        }
        return written;
    }

    static String columnId(Control control, TableColumnBase<?, ?> column) {
        if (column.getId() != null) {
            return column.getId();
        }
        var leaves = new ArrayList<TableColumnBase<?, ?>>();
        addLeaves(control instanceof TableView ? ((TableView<?>) control).getColumns() : ((TreeTableView<?>) control).getColumns(), leaves);
        return "col" + leaves.indexOf(column);
    }

    /** Columns may be grouped below others; only those without columns of their own hold cells. */
    private static void addLeaves(List<? extends TableColumnBase<?, ?>> columns, List<TableColumnBase<?, ?>> leaves) {
        for (TableColumnBase<?, ?> column : columns) {
            if (column.getColumns().isEmpty()) {
                leaves.add(column);
            } else {
                addLeaves(column.getColumns(), leaves);
            }
        }
    }

    private static List<Object> single(IndexedCell<?> cell) {
        var entry = new LinkedHashMap<String, Object>();
        entry.put("columnId", null);
        entry.put("text", textOf(cell));
        return List.of(entry);
    }

    private static List<Object> cells(Control control, IndexedCell<?> row, List<TableColumnBase<?, ?>> columns) {
        var cells = new ArrayList<Object>();
        for (TableColumnBase<?, ?> column : columns) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("columnId", columnId(control, column));
            Node cell = cellOf(row, column);
            entry.put("text", cell == null ? String.valueOf(column.getCellData(row.getIndex())) : textOf(cell));
            cells.add(entry);
        }
        return cells;
    }

    static Node cellOf(IndexedCell<?> row, TableColumnBase<?, ?> column) {
        Function<Node, Object> columnOf = cell -> cell instanceof javafx.scene.control.TableCell
                ? ((javafx.scene.control.TableCell<?, ?>) cell).getTableColumn()
                : cell instanceof javafx.scene.control.TreeTableCell
                        ? ((javafx.scene.control.TreeTableCell<?, ?>) cell).getTableColumn() : null;
        for (Node cell : row.getChildrenUnmodifiable()) {
            if (columnOf.apply(cell) == column) {
                return cell;
            }
        }
        return null;
    }

    static String textOf(Node cell) {
        if (cell instanceof Labeled) {
            String text = ((Labeled) cell).getText();
            Node graphic = ((Labeled) cell).getGraphic();
            return (text == null || text.isEmpty()) && graphic != null ? textOf(graphic) : text == null ? "" : text;
        }
        if (cell instanceof Text) {
            return ((Text) cell).getText();
        }
        var found = new StringBuilder();
        for (Node child : SceneTree.all(cell)) {
            String text = textOf(child);
            found.append(found.length() > 0 && !text.isEmpty() ? " " : "").append(text);
        }
        return found.toString();
    }
}
