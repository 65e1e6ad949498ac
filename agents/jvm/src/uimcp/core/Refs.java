package uimcp.core;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import uimcp.core.Contract.ErrorCode;

/** Gives UI objects uids that stay the same, and finds them again; used on the UI thread only. */
public final class Refs {
    private static final String KEY = "mcp.uid";
    /** Holds our uid where the program's own {@code mcp.uid} was taken already. */
    private static final String ASSIGNED_KEY = "mcp.uid.given";
    private static final int MAX_ROWS = 4000;
    private static final int MIN_SWEEP = 20_000;

    private final String prefix;
    private final Map<String, WeakReference<Object>> objects = new HashMap<>();
    /** What each row showed when it was last read, and when it was last reported to a caller. */
    private final Map<String, Supplier<Object>> readItems = bounded();
    private final Map<String, Supplier<Object>> reportedItems = bounded();
    private final List<String> warnings = new ArrayList<>();
    private long last;
    private int sweepAt = MIN_SWEEP;

    /** {@code mark} keeps the uids of one toolkit apart from those of another in the same program. */
    public Refs(String mark) {
        prefix = prefix(ProcessHandle.current().pid()) + mark;
    }

    /** Return the object's uid, which is kept in its {@code properties}; the program may have set one there itself. */
    public String uid(Object object, Map<Object, Object> properties) {
        Object assigned = properties.get(ASSIGNED_KEY);
        Object preset = assigned == null ? properties.get(KEY) : assigned;
        String uid = preset == null ? null : preset.toString();
        var holder = uid == null ? null : objects.get(uid);
        if (holder != null && holder.get() == object) {
            return uid;
        }
        if (uid == null) {
            uid = prefix + ++last;
            properties.put(KEY, uid);
        } else if (holder != null && holder.get() != null) {
            warnings.add("mcp.uid " + uid + " is used twice");
            uid = uid + "-" + ++last;
            properties.put(ASSIGNED_KEY, uid);
        }
        sweep();
        objects.put(uid, new WeakReference<>(object));
        return uid;
    }

    /** Return the object with this uid, or null if it was never named or has been collected. */
    public Object find(String uid) {
        var held = objects.get(uid);
        return held == null ? null : held.get();
    }

    /** Note which item a row shows; counts once {@link #tell} says that a caller has seen it. */
    public synchronized void readRow(String rowUid, Object item) {
        // Texts stand for items that the model has no object for; they would be collected at once.
        readItems.put(rowUid, item instanceof String ? () -> item : new WeakReference<>(item)::get);
    }

    /** From now on these rows mean the items that they showed when they were last read. */
    public synchronized void tell(List<String> rowUids) {
        for (String rowUid : rowUids) {
            var item = readItems.get(rowUid);
            if (item != null) {
                reportedItems.put(rowUid, item);
            }
        }
    }

    /** Throw if the row showed another item when it was reported to a caller. */
    public synchronized void requireSameItem(String rowUid, int index, Object now) throws AgentException {
        var remembered = reportedItems.get(rowUid);
        Object before = remembered == null ? null : remembered.get();
        if (remembered != null && before != now && (before == null || !before.equals(now))) {
            throw new AgentException(ErrorCode.STALE_REF, "Another item is at row " + index + " now")
                    .with("now", String.valueOf(now));
        }
    }

    public List<String> warnings() {
        return warnings;
    }

    private static Map<String, Supplier<Object>> bounded() {
        return new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Supplier<Object>> eldest) {
                return size() > MAX_ROWS;
            }
        };
    }

    private void sweep() {
        if (objects.size() >= sweepAt) {
            objects.values().removeIf(held -> held.get() == null);
            sweepAt = Math.max(MIN_SWEEP, objects.size() * 2);
        }
    }

    /** Two letters from the process id, so that a uid from an earlier run does not name something in this one. */
    private static String prefix(long pid) {
        String letters = "abcdefghkmnpqstuvwxyz";
        int size = letters.length();
        return "" + letters.charAt((int) (pid / size % size)) + letters.charAt((int) (pid % size));
    }
}
