package uimcp.javafx;

import javafx.geometry.Bounds;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.TableColumnBase;
import javafx.scene.control.TableView;
import javafx.scene.control.TreeTableView;
import javafx.scene.control.skin.VirtualFlow;
import uimcp.core.AgentException;

/** Scrolls lists, tables and trees to a row or cell, so that a press would reach it. */
final class RowReveal {
    /** More rows than any control is known to pin at its top. */
    private static final int MAX_PINNED = 12;

    private RowReveal() {}

    /** Return the cell of a row, or of one column of it, after scrolling to where nothing of the control covers it. */
    static Node reveal(Control control, int index, String column) throws AgentException {
        VirtualFlow<?> flow = VirtualizedControls.flow(control);
        if (flow == null || index < 0 || index >= VirtualizedControls.count(control)) {
            throw AgentException.nodeNotFound();
        }
        place(control); // an action before this one may have expanded or added rows that no pulse has placed yet
        TableColumnBase<?, ?> wanted = column == null ? null : VirtualizedControls.column(control, column);
        if (!isInView(flow, index)) {
            placeAt(control, index);
        }
        if (wanted != null && !isReachable(control, cell(flow, index, wanted))) {
            scrollToColumn(control, wanted);
            place(control);
        }
        // Some skins pin rows or show a total over the top ones: each round the row comes to lie one lower.
        for (int above = 1; above <= MAX_PINNED && above <= index && !isReachable(control, cell(flow, index, wanted)); above++) {
            placeAt(control, index - above);
        }
        Node found = cell(flow, index, wanted);
        if (found == null) {
            throw AgentException.actionFailed("OFFSCREEN", "The cell cannot be scrolled into view");
        }
        return found;
    }

    private static boolean isInView(VirtualFlow<?> flow, int index) {
        IndexedCell<?> first = flow.getFirstVisibleCell();
        IndexedCell<?> last = flow.getLastVisibleCell();
        return first != null && last != null && index >= first.getIndex() && index <= last.getIndex();
    }

    /** Return the cell of a row, or of one column of it; null while the control has none, as for columns out of view. */
    private static Node cell(VirtualFlow<?> flow, int index, TableColumnBase<?, ?> column) {
        IndexedCell<?> row = flow.getCell(index);
        return column == null ? row : VirtualizedControls.cellOf(row, column);
    }

    private static void placeAt(Control control, int index) {
        VirtualizedControls.scrollTo(control, index);
        place(control);
    }

    private static void place(Control control) {
        control.applyCss();
        // Twice: some skins, such as those of spreadsheets, place the rows only after the first pass.
        control.layout();
        control.layout();
    }

    /** Return whether a press on a cell would reach it; what is no part of the control cannot be scrolled away. */
    private static boolean isReachable(Control control, Node cell) {
        Bounds seen = cell == null || !cell.isVisible() ? null : Actionability.seenPart(cell);
        if (seen == null) {
            return false;
        }
        Node hit = Actionability.pick(control.getScene().getRoot(), seen.getMinX() + seen.getWidth() / 2, seen.getMinY() + seen.getHeight() / 2);
        return hit == null || Actionability.within(hit, cell) || !Actionability.within(hit, control);
    }

    private static void scrollToColumn(Control control, TableColumnBase<?, ?> column) {
        int index = VirtualizedControls.columns(control).indexOf(column);
        if (control instanceof TableView) {
            ((TableView<?>) control).scrollToColumnIndex(index);
        } else {
            ((TreeTableView<?>) control).scrollToColumnIndex(index);
        }
    }
}
