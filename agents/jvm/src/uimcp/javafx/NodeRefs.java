package uimcp.javafx;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.Refs;

/**
 * Uids of nodes and windows. Cells are reused for other rows, so a row is named by its control and index,
 * {@code UID:rINDEX}, a cell of a table by its column as well, {@code UID:rINDEX:cCOLUMN}, and a column header
 * {@code UID:hCOLUMN}.
 */
final class NodeRefs {
    private static final Pattern PART = Pattern.compile("(.+?):(?:r(\\d+)(?::c(.+))?|h(.+))");

    private final Refs refs = new Refs("");

    /** A row of a list, table or tree. */
    static final class Row {
        final Control control;
        final int index;

        Row(Control control, int index) {
            this.control = control;
            this.index = index;
        }
    }

    String uid(Node node) {
        return refs.uid(node, node.getProperties());
    }

    String uid(Window window) {
        return refs.uid(window, window.getProperties());
    }

    /** Note which item a row shows; once reported, a later use of the row's uid is refused if it shows another one. */
    void readRow(String controlUid, int index, Object item) {
        refs.readRow(controlUid + ":r" + index, item);
    }

    void tell(List<String> rowUids) {
        refs.tell(rowUids);
    }

    boolean owns(String uid) {
        Matcher part = PART.matcher(uid);
        return refs.find(part.matches() ? part.group(1) : uid) != null;
    }

    List<String> warnings() {
        return refs.warnings();
    }

    /** Return the node with this uid, scrolling to it if it is a row, or null if it is in no scene. */
    Node byUid(String uid) throws AgentException {
        Matcher part = PART.matcher(uid);
        if (!part.matches()) {
            return object(uid);
        }
        Node control = object(part.group(1));
        if (control == null || !SceneTree.isVirtual(control)) {
            return null;
        }
        if (part.group(4) != null) {
            return VirtualizedControls.header((Control) control, part.group(4));
        }
        Row row = row(uid);
        return RowReveal.reveal(row.control, row.index, part.group(3));
    }

    /** Return the row that a uid names, or null if it names something else; throws if it shows another item now. */
    Row row(String uid) throws AgentException {
        Matcher part = PART.matcher(uid == null ? "" : uid);
        Node control = part.matches() && part.group(2) != null ? object(part.group(1)) : null;
        if (control == null || !SceneTree.isVirtual(control)) {
            return null;
        }
        int index = Integer.parseInt(part.group(2));
        Object item = VirtualizedControls.item((Control) control, index);
        refs.requireSameItem(part.group(1) + ":r" + index, index, item);
        return new Row((Control) control, index);
    }

    private Node object(String uid) {
        Object found = refs.find(uid);
        return found instanceof Node && ((Node) found).getScene() != null ? (Node) found : null;
    }
}
