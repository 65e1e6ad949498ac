package uimcp.javafx;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javafx.css.PseudoClass;
import javafx.scene.Node;
import javafx.scene.control.CheckBox;
import javafx.scene.control.ChoiceBox;
import javafx.scene.control.ColorPicker;
import javafx.scene.control.ComboBox;
import javafx.scene.control.ComboBoxBase;
import javafx.scene.control.Control;
import javafx.scene.control.DatePicker;
import javafx.scene.control.Label;
import javafx.scene.control.Labeled;
import javafx.scene.control.ListCell;
import javafx.scene.control.PasswordField;
import javafx.scene.control.ProgressIndicator;
import javafx.scene.control.Slider;
import javafx.scene.control.Spinner;
import javafx.scene.control.TextInputControl;
import javafx.scene.control.ToggleButton;
import javafx.scene.control.Tooltip;
import javafx.scene.layout.Pane;
import javafx.scene.layout.Region;
import javafx.scene.shape.Line;
import javafx.scene.shape.Path;
import javafx.scene.text.Text;
import javafx.util.StringConverter;
import uimcp.core.Contract.RecordField;
import uimcp.core.RecordFields;

/** Writes a node's identity, state and texts into a record (contracts/records.schema.json). */
final class AccessibleText {
    private static final Set<String> STATES = Set.of("focused", "pressed", "selected", "disabled", "expanded", "armed");

    /** Style classes that charts give to parts that cannot be operated. */
    private static final Set<String> GRID = Set.of("chart-alternative-column-fill", "chart-alternative-row-fill", "chart-vertical-grid-lines",
            "chart-horizontal-grid-lines", "chart-vertical-zero-line", "chart-horizontal-zero-line", "axis-tick-mark", "axis-minor-tick-mark");

    private AccessibleText() {}

    static void identity(Node node, RecordFields record) {
        String module = node.getClass().getModule().getName();
        record.text(RecordField.MODULE, module);
        record.text(RecordField.ID, node.getId());
        if (!node.getStyleClass().isEmpty()) {
            record.put(RecordField.STYLE_CLASS, List.copyOf(node.getStyleClass()));
        }
        if (!node.isVisible()) {
            record.put(RecordField.VISIBLE, false);
        }
        if (!node.isManaged()) {
            record.put(RecordField.MANAGED, false);
        }
        if (node.isDisabled()) {
            record.put(RecordField.DISABLED, true);
        }
        if (node.getOpacity() != 1) {
            record.put(RecordField.OPACITY, node.getOpacity());
        }
    }

    static void states(Node node, RecordFields record, boolean focus) {
        List<String> states = null;
        for (PseudoClass state : node.getPseudoClassStates()) {
            String name = state.getPseudoClassName();
            if (STATES.contains(name) && !(focus && name.equals("focused"))) {
                states = added(states, name);
            }
        }
        if (focus) {
            states = added(states, "focused");
        }
        if (states != null) {
            states.sort(null);
            record.put(RecordField.PSEUDO_CLASS, states);
        }
    }

    private static List<String> added(List<String> states, String name) {
        List<String> all = states == null ? new ArrayList<>(2) : states;
        all.add(name);
        return all;
    }

    static void content(Node node, RecordFields record) {
        if (node instanceof PasswordField) {
            record.text(RecordField.PROMPT, ((PasswordField) node).getPromptText());
            record.put(RecordField.MASKED, true);
        } else if (node instanceof TextInputControl) {
            record.text(RecordField.PROMPT, ((TextInputControl) node).getPromptText());
            record.value(RecordField.VALUE_TEXT, ((TextInputControl) node).getText());
        } else if (node instanceof Labeled) {
            record.text(RecordField.LABEL, labelOf((Labeled) node));
            labeled((Labeled) node, record);
        } else if (node instanceof Text) {
            if (!insidePassword(node)) {
                record.text(RecordField.LABEL, readable(((Text) node).getText()));
            }
        } else if (node instanceof ComboBoxBase) {
            record.text(RecordField.PROMPT, ((ComboBoxBase<?>) node).getPromptText());
            record.text(RecordField.VALUE_TEXT, selectedValue((ComboBoxBase<?>) node));
        } else if (EditableText.of(node) != null) {
            record.value(RecordField.VALUE_TEXT, EditableText.of(node).text(node));
        } else {
            numbers(node, record);
        }
    }

    /** Return whether the node only lays out or adorns others: a pane without id and content, a line of a chart's grid. */
    static boolean isPlain(Node node) {
        boolean arranges = node instanceof Pane || node.getClass() == Region.class || node instanceof javafx.scene.Group;
        return node.getId() == null && ((arranges && EditableText.of(node) == null) || isGrid(node) || isBlank(node));
    }

    private static boolean isGrid(Node node) {
        return (node instanceof Path || node instanceof Line) && node.getStyleClass().stream().anyMatch(GRID::contains);
    }

    /** A label that shows nothing yet; once it does, it has a line again. */
    private static boolean isBlank(Node node) {
        boolean empty = node.getClass() == Label.class && ((Label) node).getGraphic() == null && ((Label) node).getTooltip() == null;
        return empty && (((Label) node).getText() == null || ((Label) node).getText().isBlank());
    }

    static void extras(Node node, RecordFields record, Set<String> sections, boolean redacted) {
        if (sections.contains("accessibility")) {
            record.text(RecordField.ROLE, node.getAccessibleRole() == null ? null : node.getAccessibleRole().name());
            record.text(RecordField.HELP, node.getAccessibleHelp());
        }
        if (sections.contains("properties") && !redacted) {
            Tooltip tooltip = node instanceof Control ? ((Control) node).getTooltip() : null;
            record.text(RecordField.TOOLTIP, tooltip == null ? null : tooltip.getText());
            Object data = node.getUserData();
            if (data != null) {
                boolean simple = data instanceof String || data instanceof Number || data instanceof Boolean;
                record.put(RecordField.USER_DATA, simple ? data : truncated(data));
            }
        }
    }

    /** A button without a text of its own has an accessible text, a text in its graphic, or a tooltip. */
    private static String labelOf(Labeled node) {
        String text = readable(node.getText());
        if (text != null && !text.isEmpty()) {
            return text;
        }
        if (node.getAccessibleText() != null) {
            return node.getAccessibleText();
        }
        Tooltip tooltip = node.getTooltip();
        String drawn = node.getGraphic() == null || SceneTree.hasControls(node.getGraphic()) ? "" : readable(VirtualizedControls.textOf(node.getGraphic()));
        return !drawn.isEmpty() ? drawn : tooltip == null ? null : tooltip.getText();
    }

    /** Return a text without the pictures of icon fonts, which have them where Unicode has no letters. */
    private static String readable(String text) {
        boolean icons = text != null && text.codePoints().anyMatch(point -> Character.getType(point) == Character.PRIVATE_USE);
        return !icons ? text : text.codePoints().filter(point -> Character.getType(point) != Character.PRIVATE_USE)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString().trim();
    }

    private static void labeled(Labeled node, RecordFields record) {
        if (node instanceof CheckBox) {
            if (!((CheckBox) node).isIndeterminate()) {
                record.put(RecordField.CHECKED, ((CheckBox) node).isSelected());
            }
        } else if (node instanceof ToggleButton) {
            record.put(RecordField.SELECTED, ((ToggleButton) node).isSelected());
        } else if (node.getStyleClass().contains("tab-label")) {
            Node tab = node.getParent() == null ? null : node.getParent().getParent();
            boolean selected = tab != null && tab.getPseudoClassStates().contains(PseudoClass.getPseudoClass("selected"));
            record.put(RecordField.SELECTED, selected);
        } else {
            checked(LibraryControls.selected(node), record);
        }
    }

    private static void checked(Boolean on, RecordFields record) {
        if (on != null) {
            record.put(RecordField.CHECKED, on);
        }
    }

    private static boolean insidePassword(Node node) {
        for (Node at = node; at != null; at = at.getParent()) {
            if (at instanceof PasswordField) {
                return true;
            }
        }
        return false;
    }

    private static String selectedValue(ComboBoxBase<?> box) {
        if (box instanceof ComboBox) {
            String shown = shownInside((ComboBox<?>) box);
            return shown.isEmpty() ? converted(((ComboBox<?>) box).getConverter(), box.getValue()) : shown;
        }
        if (box instanceof DatePicker || box instanceof ColorPicker || box.getValue() != null) {
            return box.getValue() == null ? null : box.getValue().toString();
        }
        return null;
    }

    /** Return what the box itself shows: a cell of its own may know better than the value's class how it is written. */
    private static String shownInside(ComboBox<?> box) {
        for (Node inside : box.isEditable() ? List.<Node>of() : box.getChildrenUnmodifiable()) {
            if (inside instanceof ListCell && (box.getValue() != null || !VirtualizedControls.textOf(inside).equals(box.getPromptText()))) {
                return VirtualizedControls.textOf(inside);
            }
        }
        return "";
    }

    @SuppressWarnings("unchecked")
    private static String converted(StringConverter<?> converter, Object value) {
        if (value == null) {
            return null;
        }
        return converter == null ? value.toString() : ((StringConverter<Object>) converter).toString(value);
    }

    private static void numbers(Node node, RecordFields record) {
        if (node.getStyleClass().contains("check-menu-item") || node.getStyleClass().contains("radio-menu-item")) {
            record.put(RecordField.CHECKED, node.getPseudoClassStates().contains(PseudoClass.getPseudoClass("checked")));
        } else if (node instanceof Slider) {
            record.text(RecordField.VALUE_TEXT, String.valueOf(((Slider) node).getValue()));
        } else if (node instanceof ProgressIndicator) {
            record.text(RecordField.VALUE_TEXT, String.valueOf(((ProgressIndicator) node).getProgress()));
        } else if (node instanceof Spinner) {
            record.text(RecordField.VALUE_TEXT, ((Spinner<?>) node).getEditor().getText());
        } else if (node instanceof ChoiceBox) {
            record.text(RecordField.VALUE_TEXT, converted(((ChoiceBox<?>) node).getConverter(), ((ChoiceBox<?>) node).getValue()));
        } else {
            record.text(RecordField.VALUE_TEXT, LibraryControls.value(node));
            checked(LibraryControls.selected(node), record);
        }
    }

    private static String truncated(Object data) {
        try {
            String text = String.valueOf(data);
            return text.length() > 200 ? text.substring(0, 200) : text;
        } catch (RuntimeException | StackOverflowError broken) {
            return data.getClass().getName(); // its toString() fails
        }
    }
}
