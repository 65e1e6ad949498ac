package uimcp.core;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javafx.collections.ObservableMap;
import javafx.scene.Node;
import javafx.scene.control.Control;
import javafx.stage.Window;

/** Names nodes for good and finds them again; a row of a list is named through its control. */
final class Refs {
    private static final String KEY = "mcp.uid";
    private static final String GIVEN = "mcp.uid.given";
    private static final int REMEMBERED_ROWS = 4000;
    private static final int SWEEP = 20_000;

    private final String prefix;
    private final Map<String, WeakReference<Object>> named = new HashMap<>();
    private final Map<String, WeakReference<Object>> rows = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, WeakReference<Object>> eldest) {
            return size() > REMEMBERED_ROWS;
        }
    };
    private final List<String> warnings = new ArrayList<>();
    private long last;
    private int sweepAt = SWEEP;

    Refs(String prefix) {
        this.prefix = prefix;
    }

    String uid(Node node) {
        return uid(node, node.getProperties());
    }

    String uid(Window window) {
        return uid(window, window.getProperties());
    }

    List<String> warnings() {
        return warnings;
    }

    Node byUid(String uid) throws AgentException {
        int colon = uid.indexOf(":r");
        var held = named.get(colon < 0 ? uid : uid.substring(0, colon));
        Object found = held == null ? null : held.get();
        if (!(found instanceof Node) || ((Node) found).getScene() == null) {
            return null;
        }
        return colon < 0 ? (Node) found : row((Control) found, uid);
    }

    /** Remember which item a row showed, so that the row cannot come to mean another one. */
    void rememberRow(String uid, Object item) {
        rows.put(uid, new WeakReference<>(item));
    }

    private Node row(Control control, String uid) throws AgentException {
        String[] parts = uid.split(":");
        int index = Integer.parseInt(parts[1].substring(1));
        var remembered = rows.get(parts[0] + ":" + parts[1]);
        Object now = VirtualizedControls.item(control, index);
        Object before = remembered == null ? null : remembered.get();
        if (remembered != null && before != now && (before == null || !before.equals(now))) {
            throw new AgentException("MCP_UI_STALE_REF", "Another item is at row " + index + " now")
                    .with("now", String.valueOf(now));
        }
        return VirtualizedControls.reveal(control, index, parts.length > 2 ? parts[2].substring(1) : null);
    }

    private String uid(Object owner, ObservableMap<Object, Object> properties) {
        Object assigned = properties.get(GIVEN);
        Object preset = assigned == null ? properties.get(KEY) : assigned;
        String uid = preset == null ? null : preset.toString();
        var holder = uid == null ? null : named.get(uid);
        if (holder != null && holder.get() == owner) {
            return uid;
        }
        if (uid == null) {
            uid = prefix + ++last;
            properties.put(KEY, uid);
        } else if (holder != null && holder.get() != null) {
            warnings.add("mcp.uid " + uid + " is used twice");
            uid = uid + "-" + ++last;
            properties.put(GIVEN, uid);
        }
        if (named.size() >= sweepAt) {
            named.values().removeIf(held -> held.get() == null);
            sweepAt = Math.max(SWEEP, named.size() * 2);
        }
        named.put(uid, new WeakReference<>(owner));
        return uid;
    }
}
