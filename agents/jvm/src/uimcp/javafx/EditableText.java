package uimcp.javafx;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
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
        Object found = call(text, node);
        return found instanceof String ? (String) found : "";
    }

    boolean isEditable(Node node) {
        return Boolean.TRUE.equals(call(editable, node));
    }

    void set(Node node, String wanted) {
        if (replaceText != null) {
            call(replaceText, node, 0, text(node).length(), wanted);
        } else {
            call(setText, node, wanted);
        }
    }

    private static EditableText look(Class<?> type) {
        Method editable = method(type, boolean.class, "isEditable");
        Method text = editable == null ? null : method(type, String.class, "getText");
        Method setText = method(type, void.class, "setText", String.class);
        Method replaceText = method(type, void.class, "replaceText", int.class, int.class, String.class);
        return text == null || (setText == null && replaceText == null) ? NONE : new EditableText(editable, text, setText, replaceText);
    }

    /** Return a public method as its first public owner declares it: the class itself may not be open to us. */
    private static Method method(Class<?> type, Class<?> result, String name, Class<?>... arguments) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            Method found = declared(at, name, arguments);
            for (Class<?> above : at.getInterfaces()) {
                found = found == null ? method(above, result, name, arguments) : found;
            }
            if (found != null && found.getReturnType() == result) {
                return found;
            }
        }
        return null;
    }

    private static Method declared(Class<?> type, String name, Class<?>... arguments) {
        try {
            boolean open = Modifier.isPublic(type.getModifiers()) && type.getModule().isExported(type.getPackageName(), EditableText.class.getModule());
            return open ? type.getMethod(name, arguments) : null;
        } catch (NoSuchMethodException absent) {
            return null;
        }
    }

    private static Object call(Method method, Node node, Object... arguments) {
        try {
            return method.invoke(node, arguments);
        } catch (InvocationTargetException failed) {
            throw new IllegalStateException(failed.getCause());
        } catch (IllegalAccessException hidden) {
            throw new IllegalStateException(hidden);
        }
    }
}
