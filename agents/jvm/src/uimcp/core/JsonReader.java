package uimcp.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses JSON into maps, lists, strings, doubles, booleans and null; throws a RuntimeException for anything else. */
final class JsonReader {
    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    static Object read(String text) {
        var reader = new JsonReader(text);
        Object value = reader.value();
        reader.space();
        if (reader.at != text.length()) {
            throw new IllegalArgumentException("text after the value");
        }
        return value;
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
