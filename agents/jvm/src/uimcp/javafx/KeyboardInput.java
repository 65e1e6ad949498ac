package uimcp.javafx;

import java.util.List;
import javafx.event.Event;
import javafx.event.EventHandler;
import javafx.event.EventTarget;
import javafx.event.EventType;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.input.KeyCode;
import javafx.scene.input.KeyEvent;
import uimcp.core.AgentException;

/** Keyboard input as events sent to the focused node. */
final class KeyboardInput {
    private KeyboardInput() {}

    /** Type a text; controls ignore typed line breaks and tabs, so these are presses of ENTER and TAB. */
    static void type(Scene scene, String text) throws AgentException {
        for (int point : text.replace("\r\n", "\n").codePoints().toArray()) {
            if (point == '\n' || point == '\r' || point == '\t') {
                press(scene, point == '\t' ? "TAB" : "ENTER", List.of());
            } else {
                fire(scene, KeyEvent.KEY_TYPED, new String(Character.toChars(point)), KeyCode.UNDEFINED, List.of());
            }
        }
    }

    static void press(Scene scene, String name, List<String> modifiers) throws AgentException {
        KeyCode code = code(name);
        KeyEvent pressed = fire(scene, KeyEvent.KEY_PRESSED, "", code, modifiers);
        boolean shortcut = modifiers.contains("CONTROL") || modifiers.contains("META") || modifiers.contains("ALT");
        if (!pressed.isConsumed()) {
            accelerate(scene, pressed);
        }
        if (!shortcut && name.length() == 1) {
            fire(scene, KeyEvent.KEY_TYPED, modifiers.contains("SHIFT") ? name : name.toLowerCase(), KeyCode.UNDEFINED, modifiers);
        } else if (!shortcut && (code == KeyCode.SPACE || code == KeyCode.ENTER || code == KeyCode.TAB)) {
            fire(scene, KeyEvent.KEY_TYPED, code == KeyCode.SPACE ? " " : code == KeyCode.TAB ? "\t" : "\r", KeyCode.UNDEFINED, modifiers);
        }
        fire(scene, KeyEvent.KEY_RELEASED, "", code, modifiers);
    }

    private static KeyCode code(String name) throws AgentException {
        try {
            return KeyCode.valueOf(Character.isDigit(name.charAt(0)) ? "DIGIT" + name : name);
        } catch (IllegalArgumentException unknown) {
            throw AgentException.actionFailed("INVALID_KEY_CODE", "Unknown key " + name);
        }
    }

    private static KeyEvent fire(Scene scene, EventType<KeyEvent> type, String character, KeyCode code, List<String> modifiers) {
        Node owner = scene.getFocusOwner();
        EventTarget target = owner == null ? scene : owner;
        boolean shortcut = modifiers.contains("SHORTCUT");
        boolean mac = System.getProperty("os.name", "").startsWith("Mac");
        var event = new KeyEvent(
                target, target, type, character, code.getName(), code, modifiers.contains("SHIFT"),
                modifiers.contains("CONTROL") || (shortcut && !mac), modifiers.contains("ALT"),
                modifiers.contains("META") || (shortcut && mac));
        var delivered = new boolean[1];
        EventHandler<KeyEvent> last = reached -> delivered[0] = true;
        // JavaFX dispatches a copy of the event, so ours never shows as consumed: a handler on the scene, which comes
        // last, tells whether the copy got through.
        scene.addEventHandler(type, last);
        try {
            Event.fireEvent(target, event);
        } finally {
            scene.removeEventHandler(type, last);
        }
        if (!delivered[0]) {
            event.consume();
        }
        return event;
    }

    private static void accelerate(Scene scene, KeyEvent pressed) {
        scene.getAccelerators().entrySet().stream()
                .filter(entry -> entry.getKey().match(pressed))
                .findFirst()
                .ifPresent(entry -> entry.getValue().run());
    }
}
