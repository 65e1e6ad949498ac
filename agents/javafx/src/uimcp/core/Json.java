package uimcp.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON: maps, lists, strings, numbers, booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        var reader = new Json(text);
        Object value = reader.value();
        reader.space();
        if (reader.at != text.length()) {
            throw new IllegalArgumentException("text after the value");
        }
        return value;
    }

    static String write(Object value) {
        var out = new StringBuilder(4096);
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Number) {
            number((Number) value, out);
        } else if (value instanceof Map) {
            object((Map<?, ?>) value, out);
        } else if (value instanceof Iterable) {
            array((Iterable<?>) value, out);
        } else if (value instanceof double[]) {
            box((double[]) value, out);
        } else {
            string(value.toString(), out);
        }
    }

    private static void number(Number value, StringBuilder out) {
        double number = value.doubleValue();
        if (value instanceof Integer || value instanceof Long) {
            out.append(value);
        } else if (Double.isFinite(number)) {
            out.append(Math.round(number * 100) / 100.0);
        } else {
            out.append("null");
        }
    }

    private static void object(Map<?, ?> map, StringBuilder out) {
        char before = '{';
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.append(before);
            string(entry.getKey().toString(), out);
            out.append(':');
            write(entry.getValue(), out);
            before = ',';
        }
        out.append(before == '{' ? "{}" : "}");
    }

    private static void array(Iterable<?> list, StringBuilder out) {
        char before = '[';
        for (Object item : list) {
            out.append(before);
            write(item, out);
            before = ',';
        }
        out.append(before == '[' ? "[]" : "]");
    }

    private static void box(double[] numbers, StringBuilder out) {
        char before = '[';
        for (double number : numbers) {
            out.append(before);
            number(number, out);
            before = ',';
        }
        out.append(']');
    }

    private static void string(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
                out.append(pair ? text.substring(i, i + 2) : "\ufffd");
                i += pair ? 1 : 0;
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private Object value() {
        space();
        switch (peek()) {
            case '{': return map();
            case '[': return list();
            case '"': return string();
            case 't': return word("true", Boolean.TRUE);
            case 'f': return word("false", Boolean.FALSE);
            case 'n': return word("null", null);
            default: return number();
        }
    }

    private Map<String, Object> map() {
        var map = new LinkedHashMap<String, Object>();
        at++;
        space();
        while (peek() != '}') {
            space();
            String key = string();
            space();
            expect(':');
            map.put(key, value());
            space();
            if (peek() != '}') {
                expect(',');
            }
        }
        at++;
        return map;
    }

    private List<Object> list() {
        var list = new ArrayList<>();
        at++;
        space();
        while (peek() != ']') {
            list.add(value());
            space();
            if (peek() != ']') {
                expect(',');
            }
        }
        at++;
        return list;
    }

    private String string() {
        var out = new StringBuilder();
        expect('"');
        while (peek() != '"') {
            char c = text.charAt(at++);
            out.append(c == '\\' ? escaped() : c);
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char c = text.charAt(at++);
        switch (c) {
            case 'n': return '\n';
            case 't': return '\t';
            case 'r': return '\r';
            case 'b': return '\b';
            case 'f': return '\f';
            case 'u':
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default: return c;
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Double.valueOf(text.substring(start, at));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw new IllegalArgumentException("not JSON at " + at);
        }
        at += word.length();
        return value;
    }

    private void expect(char c) {
        if (peek() != c) {
            throw new IllegalArgumentException("expected " + c + " at " + at);
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw new IllegalArgumentException("the text ends too early");
        }
        return text.charAt(at);
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }
}
