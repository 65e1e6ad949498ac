package uimcp.core;

import java.util.Arrays;

/** Collects the fields of one record after another without a map for each: the UI thread makes little garbage. */
public final class RecordFields {
    private static final int MAX_TEXT = 2000;

    private Object[] pairs = new Object[64];
    private int used;

    public void put(String key, Object value) {
        if (used == pairs.length) {
            pairs = Arrays.copyOf(pairs, 2 * used);
        }
        pairs[used++] = key;
        pairs[used++] = value;
    }

    /** Put a text that is neither null nor empty, truncated. */
    public void text(String key, String text) {
        if (text != null && !text.isEmpty()) {
            put(key, text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text);
        }
    }

    /** Put a text that is not null, truncated: an empty field has a value, the empty one. */
    public void value(String key, String text) {
        if (text != null) {
            put(key, text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text);
        }
    }

    /** Return the keys and values in turns, and begin the next record. */
    public Object[] take() {
        Object[] taken = Arrays.copyOf(pairs, used);
        Arrays.fill(pairs, 0, used, null);
        used = 0;
        return taken;
    }
}
