package uimcp.core;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads fields of a request. */
final class RequestFields {
    private RequestFields() {}

    static double number(Map<String, Object> from, String key, double otherwise) {
        Object value = from.get(key);
        return value instanceof Double ? (Double) value : otherwise;
    }

    static boolean flag(Map<String, Object> from, String key) {
        return Boolean.TRUE.equals(from.get(key));
    }

    static String text(Map<String, Object> from, String key) {
        Object value = from.get(key);
        return value instanceof String ? (String) value : null;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Map<String, Object> from, String key) {
        Object value = from.get(key);
        return value instanceof Map ? (Map<String, Object>) value : null;
    }

    static List<String> strings(Map<String, Object> from, String key) {
        Object value = from.get(key);
        return value instanceof List ? ((List<?>) value).stream().map(String::valueOf).collect(Collectors.toList()) : List.of();
    }
}
