package uimcp.core;

import java.util.Arrays;

/** Collects the fields of one record after another without a map for each: the JavaFX thread makes little garbage. */
final class RecordFields {
    private static final int LENGTH = 2000;

    private Object[] pairs = new Object[64];
    private int used;

    void put(String key, Object value) {
        if (used == pairs.length) {
            pairs = Arrays.copyOf(pairs, 2 * used);
        }
        pairs[used++] = key;
        pairs[used++] = value;
    }

    /** Put a text that says something, cut to a sensible length. */
    void text(String key, String text) {
        if (text != null && !text.isEmpty()) {
            put(key, text.length() > LENGTH ? text.substring(0, LENGTH) : text);
        }
    }

    /** Return what was collected and begin anew. */
    Object[] take() {
        Object[] taken = Arrays.copyOf(pairs, used);
        Arrays.fill(pairs, 0, used, null);
        used = 0;
        return taken;
    }
}
