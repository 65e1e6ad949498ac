package uimcp.core;

import java.util.List;
import java.util.Map;

/** The field that a person writes in: what they type is one event, which takes further values as they go on. */
public final class PersonField<N> {
    /** What a toolkit knows of its fields. */
    public interface Fields<N> {
        String text(N field);

        /** Return whether the text must not be reported. */
        boolean secret(N field);

        List<String> chain(N field);
    }

    private final PersonWatch watch;
    private final Fields<N> fields;
    private N field;
    private N told;
    private String text;
    private String before;

    public PersonField(PersonWatch watch, Fields<N> fields) {
        this.watch = watch;
        this.fields = fields;
    }

    /** Note which field is about to get a key. */
    public void track(N now) {
        if (now != field) {
            flush();
            field = now;
            text = now == null ? null : fields.text(now);
            before = watch.before();
        }
    }

    /** Tell what was written since, if anything was. */
    public void flush() {
        String now = field == null ? null : fields.text(field);
        if (field == null || now.equals(text)) {
            return;
        }
        text = now;
        Map<String, Object> event = PersonWatch.event("setText", fields.chain(field));
        event.put(fields.secret(field) ? "masked" : "text", fields.secret(field) ? (Object) true : now);
        if (told == field) {
            watch.again(event);
        } else {
            watch.tell(event, before);
        }
        told = field;
    }

    /** Tell another event, after what was written. */
    public void tell(Map<String, Object> event, String seen) {
        flush();
        told = null;
        field = null;
        watch.tell(event, seen);
    }
}
