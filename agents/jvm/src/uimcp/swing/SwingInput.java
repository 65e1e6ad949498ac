package uimcp.swing;

import java.awt.Component;
import java.awt.KeyboardFocusManager;
import java.awt.Window;
import java.awt.event.InputEvent;
import java.awt.event.KeyEvent;
import java.awt.event.MouseEvent;
import java.awt.event.MouseWheelEvent;
import java.util.List;
import java.util.Map;
import javax.swing.JComponent;
import javax.swing.JScrollPane;
import javax.swing.SwingUtilities;
import uimcp.core.AgentException;

/** Mouse and keyboard input as events sent to components. */
final class SwingInput {
    private static final Map<String, Integer> KEYS = Map.ofEntries(
            Map.entry("ENTER", KeyEvent.VK_ENTER), Map.entry("TAB", KeyEvent.VK_TAB), Map.entry("ESCAPE", KeyEvent.VK_ESCAPE),
            Map.entry("SPACE", KeyEvent.VK_SPACE), Map.entry("BACK_SPACE", KeyEvent.VK_BACK_SPACE), Map.entry("DELETE", KeyEvent.VK_DELETE),
            Map.entry("INSERT", KeyEvent.VK_INSERT), Map.entry("HOME", KeyEvent.VK_HOME), Map.entry("END", KeyEvent.VK_END),
            Map.entry("PAGE_UP", KeyEvent.VK_PAGE_UP), Map.entry("PAGE_DOWN", KeyEvent.VK_PAGE_DOWN), Map.entry("UP", KeyEvent.VK_UP),
            Map.entry("DOWN", KeyEvent.VK_DOWN), Map.entry("LEFT", KeyEvent.VK_LEFT), Map.entry("RIGHT", KeyEvent.VK_RIGHT),
            Map.entry("SHIFT", KeyEvent.VK_SHIFT), Map.entry("CONTROL", KeyEvent.VK_CONTROL), Map.entry("ALT", KeyEvent.VK_ALT),
            Map.entry("META", KeyEvent.VK_META), Map.entry("COMMA", KeyEvent.VK_COMMA), Map.entry("PERIOD", KeyEvent.VK_PERIOD),
            Map.entry("SLASH", KeyEvent.VK_SLASH), Map.entry("SEMICOLON", KeyEvent.VK_SEMICOLON), Map.entry("EQUALS", KeyEvent.VK_EQUALS),
            Map.entry("MINUS", KeyEvent.VK_MINUS), Map.entry("QUOTE", KeyEvent.VK_QUOTE), Map.entry("BACK_QUOTE", KeyEvent.VK_BACK_QUOTE),
            Map.entry("BACK_SLASH", KeyEvent.VK_BACK_SLASH), Map.entry("OPEN_BRACKET", KeyEvent.VK_OPEN_BRACKET),
            Map.entry("CLOSE_BRACKET", KeyEvent.VK_CLOSE_BRACKET), Map.entry("CONTEXT_MENU", KeyEvent.VK_CONTEXT_MENU));

    private SwingInput() {}

    static void click(SwingActionability.Spot spot, int button, int count, int modifiers) {
        mouse(spot, MouseEvent.MOUSE_ENTERED, 0, 0, modifiers);
        mouse(spot, MouseEvent.MOUSE_MOVED, 0, 0, modifiers);
        for (int nth = 1; nth <= count; nth++) {
            mouse(spot, MouseEvent.MOUSE_PRESSED, button, nth, modifiers);
            mouse(spot, MouseEvent.MOUSE_RELEASED, button, nth, modifiers);
            mouse(spot, MouseEvent.MOUSE_CLICKED, button, nth, modifiers);
        }
    }

    static void mouse(SwingActionability.Spot spot, int id, int button, int count, int modifiers) {
        boolean pressing = id == MouseEvent.MOUSE_PRESSED || id == MouseEvent.MOUSE_DRAGGED;
        int held = pressing || id == MouseEvent.MOUSE_RELEASED ? button == 0 ? 0 : InputEvent.getMaskForButton(button) : 0;
        boolean popup = id == MouseEvent.MOUSE_PRESSED && button == MouseEvent.BUTTON3;
        spot.component.dispatchEvent(new MouseEvent(
                spot.component, id, System.currentTimeMillis(), modifiers | held, spot.x, spot.y, count, popup,
                id == MouseEvent.MOUSE_DRAGGED ? MouseEvent.NOBUTTON : button));
    }

    /** Scroll like a wheel that turns three lines a notch; negative deltas scroll down and right. */
    static void scroll(SwingActionability.Spot spot, double deltaX, double deltaY) {
        JScrollPane pane = (JScrollPane) SwingUtilities.getAncestorOfClass(JScrollPane.class, spot.component);
        if (pane == null) {
            int notches = (int) Math.signum(-deltaY);
            spot.component.dispatchEvent(new MouseWheelEvent(
                    spot.component, MouseEvent.MOUSE_WHEEL, System.currentTimeMillis(), 0, spot.x, spot.y, 0, false,
                    MouseWheelEvent.WHEEL_UNIT_SCROLL, 3, notches));
            return;
        }
        pane.getVerticalScrollBar().setValue(pane.getVerticalScrollBar().getValue() - (int) deltaY);
        pane.getHorizontalScrollBar().setValue(pane.getHorizontalScrollBar().getValue() - (int) deltaX);
    }

    /** Return the component that gets keys in a window, also while the window system has given the focus to none. */
    static Component focusOwner(Window window) {
        Component owner = KeyboardFocusManager.getCurrentKeyboardFocusManager().getFocusOwner();
        return owner != null && SwingUtilities.isDescendingFrom(owner, window) ? owner : window.getMostRecentFocusOwner();
    }

    /** Type a text; controls ignore typed line breaks and tabs, so these are presses of ENTER and TAB. */
    static void type(Window window, String text) throws AgentException {
        for (char character : text.replace("\r\n", "\n").toCharArray()) {
            if (character == '\n' || character == '\r' || character == '\t') {
                press(window, character == '\t' ? "TAB" : "ENTER", 0);
            } else {
                key(window, KeyEvent.KEY_TYPED, 0, KeyEvent.VK_UNDEFINED, character);
            }
        }
    }

    static void press(Window window, String name, int modifiers) throws AgentException {
        int code = code(name);
        boolean shortcut = (modifiers & (InputEvent.CTRL_DOWN_MASK | InputEvent.ALT_DOWN_MASK | InputEvent.META_DOWN_MASK)) != 0;
        char typed = name.length() == 1 ? (modifiers & InputEvent.SHIFT_DOWN_MASK) != 0 ? name.charAt(0) : Character.toLowerCase(name.charAt(0))
                : code == KeyEvent.VK_ENTER ? '\n' : code == KeyEvent.VK_TAB ? '\t' : code == KeyEvent.VK_SPACE ? ' '
                : code == KeyEvent.VK_BACK_SPACE ? '\b' : code == KeyEvent.VK_DELETE ? '\u007f' : code == KeyEvent.VK_ESCAPE ? '\u001b' : KeyEvent.CHAR_UNDEFINED;
        key(window, KeyEvent.KEY_PRESSED, modifiers, code, typed);
        if (!shortcut && typed != KeyEvent.CHAR_UNDEFINED) {
            key(window, KeyEvent.KEY_TYPED, modifiers, KeyEvent.VK_UNDEFINED, typed);
        }
        key(window, KeyEvent.KEY_RELEASED, modifiers, code, typed);
    }

    private static void key(Window window, int id, int modifiers, int code, char character) {
        Component owner = focusOwner(window);
        Component target = owner == null ? SwingWindows.root(window) : owner;
        if (target.isShowing()) {
            target.dispatchEvent(new KeyEvent(target, id, System.currentTimeMillis(), modifiers, code, character));
        }
    }

    private static int code(String name) throws AgentException {
        if (KEYS.containsKey(name)) {
            return KEYS.get(name);
        }
        if (name.length() == 1) {
            return KeyEvent.getExtendedKeyCodeForChar(name.charAt(0));
        }
        if (name.matches("F\\d+")) {
            return KeyEvent.VK_F1 + Integer.parseInt(name.substring(1)) - 1;
        }
        throw AgentException.actionFailed("INVALID_KEY_CODE", "Unknown key " + name);
    }

    static int modifiers(List<String> names) {
        boolean mac = System.getProperty("os.name", "").startsWith("Mac");
        int mask = 0;
        for (String name : names) {
            switch (name) {
                case "SHIFT": mask |= InputEvent.SHIFT_DOWN_MASK; break;
                case "CONTROL": mask |= InputEvent.CTRL_DOWN_MASK; break;
                case "ALT": mask |= InputEvent.ALT_DOWN_MASK; break;
                case "META": mask |= InputEvent.META_DOWN_MASK; break;
                default: mask |= mac ? InputEvent.META_DOWN_MASK : InputEvent.CTRL_DOWN_MASK;
            }
        }
        return mask;
    }

    static void focus(Component component) throws AgentException {
        if (!component.isFocusable() || (component instanceof JComponent && !((JComponent) component).isRequestFocusEnabled())) {
            throw AgentException.actionFailed("NOT_FOCUSABLE", "The component takes no focus");
        }
        component.requestFocusInWindow();
    }
}
