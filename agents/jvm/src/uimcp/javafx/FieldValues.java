package uimcp.javafx;

import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.concurrent.Callable;
import javafx.scene.Node;
import javafx.scene.control.ColorPicker;
import javafx.scene.control.DatePicker;
import javafx.scene.control.Slider;
import javafx.scene.control.Spinner;
import javafx.scene.paint.Color;
import uimcp.core.AgentException;

/** Sets controls whose value is not text from text: sliders, dates, colours, spinners. */
final class FieldValues {
    private FieldValues() {}

    /** Return the work that sets the value, or null if the node has no such value. */
    static Callable<Void> setter(Node node, String text) throws AgentException {
        if (node instanceof Slider) {
            return slider((Slider) node, text);
        }
        if (node instanceof DatePicker) {
            LocalDate date = text.isEmpty() ? null : date((DatePicker) node, text);
            return Actions.work(() -> ((DatePicker) node).setValue(date));
        }
        if (node instanceof ColorPicker) {
            Color color = color(text);
            return Actions.work(() -> ((ColorPicker) node).setValue(color));
        }
        return node instanceof Spinner ? spinner((Spinner<?>) node, text) : LibraryControls.setter(node, text);
    }

    private static Callable<Void> slider(Slider slider, String text) throws AgentException {
        double wanted;
        try {
            wanted = Double.parseDouble(text.trim());
        } catch (NumberFormatException notNumeric) {
            throw invalid(text, "a number");
        }
        if (!(wanted >= slider.getMin() && wanted <= slider.getMax())) {
            throw AgentException.actionFailed("OUT_OF_RANGE", "The slider goes from " + slider.getMin() + " to " + slider.getMax());
        }
        return Actions.work(() -> slider.setValue(wanted));
    }

    private static LocalDate date(DatePicker picker, String text) throws AgentException {
        try {
            return LocalDate.parse(text.trim());
        } catch (DateTimeParseException notIso) {
            try {
                return picker.getConverter().fromString(text);
            } catch (RuntimeException unreadable) {
                throw invalid(text, "a date such as 2026-01-31");
            }
        }
    }

    private static Color color(String text) throws AgentException {
        try {
            return Color.web(text.trim());
        } catch (IllegalArgumentException unknown) {
            throw invalid(text, "a colour such as #ff8800 or red");
        }
    }

    private static Callable<Void> spinner(Spinner<?> spinner, String text) throws AgentException {
        if (!spinner.isEditable()) {
            return chosen(spinner, text);
        }
        return Actions.work(() -> {
            spinner.getEditor().requestFocus();
            spinner.getEditor().setText(text);
            try {
                spinner.increment(0); // takes over the text of the editor
            } catch (RuntimeException unreadable) {
                throw invalid(text, "a value of this spinner");
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static Callable<Void> chosen(Spinner<?> spinner, String text) throws AgentException {
        var factory = (javafx.scene.control.SpinnerValueFactory<Object>) spinner.getValueFactory();
        Object value;
        try {
            value = factory.getConverter().fromString(text);
        } catch (RuntimeException unreadable) {
            throw invalid(text, "a value of this spinner");
        }
        return Actions.work(() -> factory.setValue(value));
    }

    static AgentException invalid(String text, String wanted) {
        return AgentException.actionFailed("INVALID_VALUE", "'" + text + "' is not " + wanted);
    }
}
