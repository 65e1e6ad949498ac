package uimcp.javafx;

import java.util.List;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.Refs;

/**
 * Uids of nodes and windows. Cells are reused for other rows, so a row is named by its control and index,
 * {@code UID:rINDEX}, and a cell of a table by its column as well, {@code UID:rINDEX:cCOLUMN}.
 */
final class NodeRefs {
    private final Refs refs = new Refs();

    String uid(Node node) {
        return refs.uid(node, node.getProperties());
    }

    String uid(Window window) {
        return refs.uid(window, window.getProperties());
    }

    /** Remember which item a row shows; a later use of the row's uid is refused if it shows another one. */
    void rememberRow(String controlUid, int index, Object item) {
        refs.rememberRow(controlUid + ":r" + index, item);
    }

    List<String> warnings() {
        return refs.warnings();
    }

    /** Return the node with this uid, scrolling to it if it is a row, or null if it is in no scene. */
    Node byUid(String uid) throws AgentException {
        int colon = uid.indexOf(":r");
        Object found = refs.find(colon < 0 ? uid : uid.substring(0, colon));
        if (!(found instanceof Node) || ((Node) found).getScene() == null) {
            return null;
        }
        return colon < 0 ? (Node) found : row((Control) found, uid);
    }

    private Node row(Control control, String uid) throws AgentException {
        String[] parts = uid.split(":");
        int index = Integer.parseInt(parts[1].substring(1));
        refs.requireSameItem(parts[0] + ":" + parts[1], index, VirtualizedControls.item(control, index));
        return VirtualizedControls.reveal(control, index, parts.length > 2 ? parts[2].substring(1) : null);
    }
}
