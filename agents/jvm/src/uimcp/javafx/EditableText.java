package uimcp.javafx;

import java.lang.reflect.Method;
import javafx.scene.Node;
import javafx.scene.control.Labeled;
import javafx.scene.control.TextInputControl;
import javafx.scene.layout.Region;

/**
 * Text fields and editors of libraries, which share no class with those of JavaFX: known by their public methods
 * {@code isEditable()}, {@code getText()} and {@code replaceText(from, to, text)} or {@code setText(text)}.
 */
final class EditableText {
    private static final EditableText NONE = new EditableText(null, null, null, null);
    private static final ClassValue<EditableText> KNOWN = new ClassValue<>() {
        @Override
        protected EditableText computeValue(Class<?> type) {
            return look(type);
        }
    };

    private final Method editable;
    private final Method text;
    private final Method setText;
    private final Method replaceText;

    private EditableText(Method editable, Method text, Method setText, Method replaceText) {
        this.editable = editable;
        this.text = text;
        this.setText = setText;
        this.replaceText = replaceText;
    }

    /** Return how to use the node's text, or null if it has none that could be edited. */
    static EditableText of(Node node) {
        boolean own = node instanceof Region && !(node instanceof Labeled) && !(node instanceof TextInputControl);
        EditableText found = own ? KNOWN.get(node.getClass()) : NONE;
        return found == NONE ? null : found;
    }

    String text(Node node) {
        Object found = PublicMethods.call(text, node);
        return found instanceof String ? (String) found : "";
    }

    boolean isEditable(Node node) {
        return Boolean.TRUE.equals(PublicMethods.call(editable, node));
    }

    void set(Node node, String wanted) {
        if (replaceText != null) {
            PublicMethods.call(replaceText, node, 0, text(node).length(), wanted);
        } else {
            PublicMethods.call(setText, node, wanted);
        }
    }

    private static EditableText look(Class<?> type) {
        Method editable = PublicMethods.find(type, boolean.class, "isEditable");
        Method text = editable == null ? null : PublicMethods.find(type, String.class, "getText");
        Method setText = PublicMethods.find(type, void.class, "setText", String.class);
        Method replaceText = PublicMethods.find(type, void.class, "replaceText", int.class, int.class, String.class);
        return text == null || (setText == null && replaceText == null) ? NONE : new EditableText(editable, text, setText, replaceText);
    }
}
