package uimcp.core;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Map;

/** Writes JSON to a stream through one small buffer, so that a large answer never exists as one string. */
public final class JsonWriter {
    /** A value that writes itself. */
    public interface Item {
        void write(JsonWriter out);
    }

    private final OutputStream stream;
    private final byte[] buffer = new byte[32 * 1024];
    private int used;
    private boolean first = true;

    JsonWriter(OutputStream stream) {
        this.stream = stream;
    }

    /** Write one value and a line feed, and flush. */
    void line(Object value) throws IOException {
        try {
            first = true;
            value(value);
            put('\n');
            stream.write(buffer, 0, used);
            used = 0;
            stream.flush();
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        }
    }

    public void open() {
        put('{');
        first = true;
    }

    public void close() {
        put('}');
        first = false;
    }

    public void field(String key, Object value) {
        key(key);
        value(value);
    }

    public void field(String key, int value) {
        key(key);
        whole(value);
    }

    public void key(String key) {
        comma();
        string(key);
        put(':');
    }

    /** Write `Type[n]`. */
    public void indexed(String type, int nth) {
        put('"');
        characters(type);
        put('[');
        whole(nth);
        put(']');
        put('"');
    }

    public void value(Object value) {
        if (value instanceof String) {
            string((String) value);
        } else if (value == null || value instanceof Boolean) {
            characters(String.valueOf(value));
        } else if (value instanceof Integer || value instanceof Long) {
            whole(((Number) value).longValue());
        } else if (value instanceof Number) {
            number(((Number) value).doubleValue());
        } else if (value instanceof double[]) {
            box((double[]) value);
        } else if (value instanceof Item) {
            ((Item) value).write(this);
        } else {
            collection(value);
        }
    }

    private void collection(Object value) {
        if (value instanceof Map) {
            open();
            ((Map<?, ?>) value).forEach((key, held) -> field(key.toString(), held));
            close();
        } else if (value instanceof Iterable) {
            put('[');
            first = true;
            for (Object item : (Iterable<?>) value) {
                comma();
                value(item);
            }
            put(']');
            first = false;
        } else {
            string(value.toString());
        }
    }

    private void comma() {
        if (!first) {
            put(',');
        }
        first = false;
    }

    private void box(double[] numbers) {
        char before = '[';
        for (double number : numbers) {
            put(before);
            number(number);
            before = ',';
        }
        put(']');
    }

    /** Write two decimals: enough for screen coordinates. */
    private void number(double number) {
        if (!Double.isFinite(number)) {
            characters("null");
            return;
        }
        if (Math.abs(number) > 1e15) {
            characters(Double.toString(number));
            return;
        }
        long hundredths = Math.round(number * 100);
        if (hundredths < 0) {
            put('-');
            hundredths = -hundredths;
        }
        whole(hundredths / 100);
        put('.');
        put((char) ('0' + hundredths / 10 % 10));
        if (hundredths % 10 != 0) {
            put((char) ('0' + hundredths % 10));
        }
    }

    private void whole(long number) {
        if (number < 0) {
            characters(Long.toString(number));
            return;
        }
        if (number >= 10) {
            whole(number / 10);
        }
        put((char) ('0' + number % 10));
    }

    private void string(String text) {
        put('"');
        characters(text);
        put('"');
    }

    private void characters(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                put('\\');
                put(c);
            } else if (c < ' ') {
                control(c);
            } else if (c < 0x80) {
                put(c);
            } else if (!Character.isSurrogate(c)) {
                encoded(c);
            } else if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                encoded(Character.toCodePoint(c, text.charAt(++i)));
            } else {
                encoded(0xfffd);
            }
        }
    }

    private void control(char c) {
        put('\\');
        put('u');
        put('0');
        put('0');
        put(Character.forDigit(c >> 4, 16));
        put(Character.forDigit(c & 15, 16));
    }

    /** Write a code point beyond ASCII as UTF-8. */
    private void encoded(int point) {
        if (point < 0x800) {
            put((char) (0xc0 | point >> 6));
        } else {
            if (point < 0x10000) {
                put((char) (0xe0 | point >> 12));
            } else {
                put((char) (0xf0 | point >> 18));
                put((char) (0x80 | point >> 12 & 63));
            }
            put((char) (0x80 | point >> 6 & 63));
        }
        put((char) (0x80 | point & 63));
    }

    private void put(char octet) {
        if (used == buffer.length) {
            try {
                stream.write(buffer, 0, used);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            used = 0;
        }
        buffer[used++] = (byte) octet;
    }
}
