package uimcp.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Typed access to the fields of a JSON object in a request; a field of another type counts as absent. */
public final class RequestFields {
    private final Map<String, Object> fields;

    public RequestFields(Map<String, Object> fields) {
        this.fields = fields;
    }

    /** Parse one request; throws a RuntimeException if it is not a JSON object. */
    @SuppressWarnings("unchecked")
    static RequestFields parse(String line) {
        return new RequestFields((Map<String, Object>) JsonReader.read(line));
    }

    /** Return the same fields with one more or another value. */
    public RequestFields with(String key, Object value) {
        var all = new HashMap<>(fields);
        all.put(key, value);
        return new RequestFields(all);
    }

    public Map<String, Object> map() {
        return fields;
    }

    public Object get(String key) {
        return fields.get(key);
    }

    public double number(String key, double otherwise) {
        Object value = fields.get(key);
        return value instanceof Double ? (Double) value : otherwise;
    }

    public boolean flag(String key) {
        return Boolean.TRUE.equals(fields.get(key));
    }

    /** Return null if the field is absent. */
    public String text(String key) {
        Object value = fields.get(key);
        return value instanceof String ? (String) value : null;
    }

    /** Return null if the field is absent. */
    @SuppressWarnings("unchecked")
    public RequestFields object(String key) {
        Object value = fields.get(key);
        return value instanceof Map ? new RequestFields((Map<String, Object>) value) : null;
    }

    public List<String> strings(String key) {
        Object value = fields.get(key);
        return value instanceof List ? ((List<?>) value).stream().map(String::valueOf).collect(Collectors.toList()) : List.of();
    }
}
