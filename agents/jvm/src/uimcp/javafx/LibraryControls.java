package uimcp.javafx;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import javafx.beans.value.ObservableBooleanValue;
import javafx.scene.Node;
import javafx.scene.control.Cell;
import javafx.scene.control.Control;
import javafx.scene.control.Labeled;
import uimcp.core.AgentException;

/**
 * Values of controls of libraries, which share no class with those of JavaFX: known by public methods named as these
 * controls name them. A switch has {@code selectedProperty()}, a slider with two thumbs {@code getLowValue()} and
 * {@code getHighValue()}, a row of stars {@code getRating()}.
 */
final class LibraryControls {
    private static final ClassValue<LibraryControls> KNOWN = new ClassValue<>() {
        @Override
        protected LibraryControls computeValue(Class<?> type) {
            return new LibraryControls(type);
        }
    };

    private final Method selected;
    private final Number low;
    private final Number high;
    private final Number rating;

    private LibraryControls(Class<?> type) {
        boolean own = Control.class.isAssignableFrom(type) && !type.getName().startsWith("javafx.");
        selected = !own || Cell.class.isAssignableFrom(type) ? null : PublicMethods.find(type, ObservableBooleanValue.class, "selectedProperty");
        boolean valued = own && !Labeled.class.isAssignableFrom(type);
        low = valued ? Number.of(type, "LowValue") : null;
        high = valued ? Number.of(type, "HighValue") : null;
        rating = valued ? Number.of(type, "Rating") : null;
    }

    /** A property of a control that is a number. */
    private static final class Number {
        private final Method get;
        private final Method set;

        private Number(Method get, Method set) {
            this.get = get;
            this.set = set;
        }

        static Number of(Class<?> type, String name) {
            Method get = PublicMethods.find(type, double.class, "get" + name);
            Method set = PublicMethods.find(type, void.class, "set" + name, double.class);
            return get == null || set == null ? null : new Number(get, set);
        }

        String text(Node node) {
            return String.valueOf(PublicMethods.call(get, node));
        }

        void set(Node node, double value) {
            PublicMethods.call(set, node, value);
        }
    }

    /** Return whether the control is on, or null if it is no switch. */
    static Boolean selected(Node node) {
        Method found = KNOWN.get(node.getClass()).selected;
        return found == null ? null : ((ObservableBooleanValue) PublicMethods.call(found, node)).get();
    }

    /** Return the part of a control that is clicked: switches listen at their thumb, not at their label. */
    static Node clickedPart(Node node) {
        Node thumb = KNOWN.get(node.getClass()).selected == null ? null : node.lookup(".thumb-area");
        return thumb == null ? node : thumb;
    }

    /** Return the value as text, or null if the control has none of these. */
    static String value(Node node) {
        LibraryControls known = KNOWN.get(node.getClass());
        if (known.low != null && known.high != null) {
            return known.low.text(node) + ".." + known.high.text(node);
        }
        return known.rating == null ? null : known.rating.text(node);
    }

    /** Return the work that sets the value from text, or null if the control has none of these. */
    static Callable<Void> setter(Node node, String text) throws AgentException {
        LibraryControls known = KNOWN.get(node.getClass());
        if (known.low != null && known.high != null) {
            String[] ends = text.split("\\.\\.", -1);
            if (ends.length != 2) {
                throw FieldValues.invalid(text, "a range such as 2..8");
            }
            double from = number(ends[0]);
            double to = number(ends[1]);
            // Each end is limited by the other one, so the one that makes room comes first.
            return Actions.work(() -> {
                known.high.set(node, Math.max(to, Double.parseDouble(known.low.text(node))));
                known.low.set(node, from);
                known.high.set(node, to);
            });
        }
        if (known.rating == null) {
            return null;
        }
        double wanted = number(text);
        return Actions.work(() -> known.rating.set(node, wanted));
    }

    private static double number(String text) throws AgentException {
        try {
            return Double.parseDouble(text.trim());
        } catch (NumberFormatException notNumeric) {
            throw FieldValues.invalid(text, "a number");
        }
    }
}
