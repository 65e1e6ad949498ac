package uimcp.javafx;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import javafx.scene.Node;
import javafx.scene.control.ComboBoxBase;
import javafx.scene.control.ComboBox;
import javafx.scene.control.Control;
import javafx.scene.control.DatePicker;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.Spinner;
import javafx.scene.control.TableCell;
import javafx.scene.control.TableColumnBase;
import javafx.scene.control.TextInputControl;
import javafx.scene.control.TreeTableCell;
import javafx.scene.control.skin.TableColumnHeader;
import javafx.scene.input.KeyCode;

/** Which node a person means by a place or a key. */
final class PersonNodes {
    private static final Set<KeyCode> EDITING = EnumSet.of(KeyCode.A, KeyCode.C, KeyCode.V, KeyCode.X, KeyCode.Y, KeyCode.Z);
    private static final Set<KeyCode> KEYS = EnumSet.of(KeyCode.ENTER, KeyCode.ESCAPE, KeyCode.SPACE, KeyCode.UP, KeyCode.DOWN,
            KeyCode.LEFT, KeyCode.RIGHT, KeyCode.PAGE_UP, KeyCode.PAGE_DOWN, KeyCode.HOME, KeyCode.END, KeyCode.DELETE, KeyCode.BACK_SPACE);
    private static final Set<KeyCode> IN_FIELDS = EnumSet.of(KeyCode.ENTER, KeyCode.ESCAPE, KeyCode.UP, KeyCode.DOWN);

    private PersonNodes() {}

    /** Return uids of the node and those around it, innermost first, with the rows, cells and headers that it lies in. */
    static List<String> chain(NodeRefs refs, Node node) {
        var chain = new ArrayList<String>();
        for (Node at = node; at != null; at = at.getParent()) {
            Node label = at.getStyleClass().contains("tab") ? at.lookup(".tab-label") : null;
            if (label != null) {
                chain.add(refs.uid(label));
            }
            Node control = at instanceof IndexedCell || at instanceof TableColumnHeader ? controlOf(at) : null;
            if (control != null) {
                addPart(chain, refs.uid(control), (Control) control, at);
            }
            chain.add(refs.uid(at));
        }
        return chain;
    }

    private static void addPart(List<String> chain, String uid, Control control, Node part) {
        if (part instanceof TableColumnHeader) {
            TableColumnBase<?, ?> column = ((TableColumnHeader) part).getTableColumn();
            if (column != null) {
                chain.add(uid + ":h" + VirtualizedControls.columnId(control, column));
            }
            return;
        }
        String row = uid + ":r" + ((IndexedCell<?>) part).getIndex();
        TableColumnBase<?, ?> column = part instanceof TableCell ? ((TableCell<?, ?>) part).getTableColumn()
                : part instanceof TreeTableCell ? ((TreeTableCell<?, ?>) part).getTableColumn() : null;
        chain.add(column == null ? row : row + ":c" + VirtualizedControls.columnId(control, column));
    }

    private static Node controlOf(Node part) {
        for (Node at = part; at != null; at = at.getParent()) {
            if (SceneTree.isVirtual(at)) {
                return at;
            }
        }
        return null;
    }

    /** Return the first node of one of these classes, from the node outwards, or null. */
    static Node above(Node node, Class<?>... classes) {
        for (Node at = node; at != null; at = at.getParent()) {
            for (Class<?> one : classes) {
                if (one.isInstance(at)) {
                    return at;
                }
            }
        }
        return null;
    }

    static boolean hasAbove(Node node, String styleClass) {
        for (Node at = node; at != null; at = at.getParent()) {
            if (at.getStyleClass().contains(styleClass)) {
                return true;
            }
        }
        return false;
    }

    /** Return what a key is written into, or null. */
    static Node fieldAt(Node node) {
        Node outer = above(node, Spinner.class, ComboBoxBase.class);
        if (outer instanceof Spinner ? ((Spinner<?>) outer).isEditable() : outer instanceof ComboBoxBase && ((ComboBoxBase<?>) outer).isEditable()) {
            return outer instanceof Spinner || outer instanceof ComboBox || outer instanceof DatePicker ? outer : null;
        }
        boolean writes = node instanceof TextInputControl ? ((TextInputControl) node).isEditable()
                : EditableText.of(node) != null && EditableText.of(node).isEditable(node);
        return writes ? node : null;
    }

    /** Return what is written in a field; never null. */
    static String written(Node field) {
        TextInputControl editor = field instanceof Spinner ? ((Spinner<?>) field).getEditor()
                : field instanceof ComboBox ? ((ComboBox<?>) field).getEditor()
                : field instanceof DatePicker ? ((DatePicker) field).getEditor()
                : field instanceof TextInputControl ? (TextInputControl) field : null;
        String text = editor == null ? EditableText.of(field).text(field) : editor.getText();
        return text == null ? "" : text;
    }

    /** Return whether a key does something that neither a text nor a click tells. */
    static boolean tells(KeyCode code, boolean shortcut, Node writes, boolean lines) {
        if (shortcut) {
            return writes == null || !EDITING.contains(code);
        }
        if (writes == null) {
            return KEYS.contains(code) || code.isFunctionKey();
        }
        return code.isFunctionKey() || code == KeyCode.ESCAPE || (!lines && IN_FIELDS.contains(code));
    }
}
