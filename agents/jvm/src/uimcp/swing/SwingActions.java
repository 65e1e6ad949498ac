package uimcp.swing;

import java.awt.Component;
import java.awt.Rectangle;
import java.awt.Point;
import java.awt.Window;
import java.awt.event.MouseEvent;
import java.io.File;
import java.text.ParseException;
import java.util.List;
import java.util.concurrent.Callable;
import javax.swing.AbstractButton;
import javax.swing.JCheckBox;
import javax.swing.JCheckBoxMenuItem;
import javax.swing.JColorChooser;
import javax.swing.JComboBox;
import javax.swing.JComponent;
import javax.swing.JFileChooser;
import javax.swing.JMenu;
import javax.swing.JTable;
import javax.swing.JSlider;
import javax.swing.JSpinner;
import javax.swing.JToggleButton;
import javax.swing.SwingUtilities;
import javax.swing.text.JTextComponent;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;

/** Performs one action on the event dispatch thread, after checking that a person could do it. */
final class SwingActions {
    private static final int DRAG_STEPS = 8;

    private final ComponentRefs refs;
    private final RequestFields action;
    private final int modifiers;

    SwingActions(ComponentRefs refs, RequestFields action) {
        this.refs = refs;
        this.action = action;
        this.modifiers = SwingInput.modifiers(action.strings("modifiers"));
    }

    /** Check everything that can be refused, and return the rest of the work, which may block in a modal dialog. */
    Callable<Void> prepare() throws AgentException {
        String type = action.text("type");
        switch (type == null ? "" : type) {
            case "focus": return work(() -> focus(target("target").component));
            case "click": return click((int) action.number("clickCount", 1));
            case "doubleClick": return click(2);
            case "hover": return hover();
            case "mousePressed": return button(MouseEvent.MOUSE_PRESSED);
            case "mouseReleased": return button(MouseEvent.MOUSE_RELEASED);
            case "drag": return drag();
            case "typeText": return keys(window -> SwingInput.type(window, action.text("text")));
            case "pressKey": return keys(window -> SwingInput.press(window, action.text("key"), modifiers));
            case "setText": return setText();
            case "scroll": return scroll();
            case "select": return select();
            case "setChecked": return setChecked();
            case "expand": return expand(true);
            case "collapse": return expand(false);
            case "setFiles": return setFiles();
            default: throw AgentException.actionFailed("UNSUPPORTED_ACTION", "Swing programs have no " + type);
        }
    }

    private Callable<Void> click(int count) throws AgentException {
        SwingActionability.Spot spot = spot();
        int button = mouseButton();
        return work(() -> SwingInput.click(spot, button, count, modifiers));
    }

    private Callable<Void> hover() throws AgentException {
        SwingActionability.Spot spot = spot();
        return work(() -> {
            SwingInput.mouse(spot, MouseEvent.MOUSE_ENTERED, 0, 0, modifiers);
            SwingInput.mouse(spot, MouseEvent.MOUSE_MOVED, 0, 0, modifiers);
        });
    }

    private Callable<Void> button(int id) throws AgentException {
        SwingActionability.Spot spot = spot();
        return work(() -> SwingInput.mouse(spot, id, mouseButton(), 1, modifiers));
    }

    private Callable<Void> drag() throws AgentException {
        SwingActionability.Spot from = end("from", action.flag("force"));
        SwingActionability.Spot to = end("to", true);
        Point goal = SwingUtilities.convertPoint(to.component, to.x, to.y, from.component);
        return work(() -> {
            SwingInput.mouse(from, MouseEvent.MOUSE_PRESSED, MouseEvent.BUTTON1, 1, modifiers);
            for (int step = 1; step <= DRAG_STEPS; step++) {
                int x = from.x + (goal.x - from.x) * step / DRAG_STEPS;
                int y = from.y + (goal.y - from.y) * step / DRAG_STEPS;
                SwingInput.mouse(new SwingActionability.Spot(from.component, x, y), MouseEvent.MOUSE_DRAGGED, MouseEvent.BUTTON1, 1, modifiers);
            }
            SwingInput.mouse(new SwingActionability.Spot(from.component, goal.x, goal.y), MouseEvent.MOUSE_RELEASED, MouseEvent.BUTTON1, 1, modifiers);
        });
    }

    private SwingActionability.Spot end(String key, boolean force) throws AgentException {
        RequestFields given = action.object(key);
        if (given != null && given.get("x") instanceof Double) {
            return SwingActionability.at(given.number("x", -1), given.number("y", -1));
        }
        return SwingActionability.spot(refs, target(key), force);
    }

    private void focus(Component component) throws AgentException {
        SwingActionability.requireUsable(refs, component);
        SwingInput.focus(component);
    }

    private interface Keys {
        void send(Window window) throws AgentException;
    }

    private Callable<Void> keys(Keys keys) throws AgentException {
        if (action.object("target") == null) {
            Window window = SwingWindows.focused(SwingWindows.requireShowing());
            return work(() -> keys.send(window));
        }
        Component component = target("target").component;
        Component field = component instanceof JSpinner ? editor((JSpinner) component) : component;
        focus(field);
        Window window = SwingWindows.of(field);
        return work(() -> keys.send(window));
    }

    private Callable<Void> setText() throws AgentException {
        Component component = target("target").component;
        String text = action.text("text");
        SwingActionability.requireUsable(refs, component);
        if (component instanceof JTextComponent) {
            return write((JTextComponent) component, text);
        }
        if (component instanceof JSlider) {
            return slide((JSlider) component, text);
        }
        if (component instanceof JSpinner) {
            return spin((JSpinner) component, text);
        }
        if (component instanceof JColorChooser) {
            java.awt.Color color = color(text);
            return work(() -> ((JColorChooser) component).setColor(color));
        }
        if (component instanceof JComboBox && ((JComboBox<?>) component).isEditable()) {
            return work(() -> ((JComboBox<?>) component).setSelectedItem(text));
        }
        if (component instanceof java.awt.TextComponent && ((java.awt.TextComponent) component).isEditable()) {
            return work(() -> ((java.awt.TextComponent) component).setText(text));
        }
        throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The component holds no text");
    }

    private static Callable<Void> write(JTextComponent field, String text) throws AgentException {
        if (!field.isEditable()) {
            throw AgentException.actionFailed("READ_ONLY", "The field is read-only");
        }
        return work(() -> {
            field.requestFocusInWindow();
            field.setText(text);
            field.setCaretPosition(field.getDocument().getLength());
        });
    }

    private static Callable<Void> slide(JSlider slider, String text) throws AgentException {
        int value;
        try {
            value = (int) Math.round(Double.parseDouble(text.trim()));
        } catch (NumberFormatException notNumeric) {
            throw invalid(text, "a number");
        }
        if (value < slider.getMinimum() || value > slider.getMaximum()) {
            throw AgentException.actionFailed("OUT_OF_RANGE", "The slider goes from " + slider.getMinimum() + " to " + slider.getMaximum());
        }
        return work(() -> slider.setValue(value));
    }

    private static Callable<Void> spin(JSpinner spinner, String text) throws AgentException {
        JTextComponent editor = editor(spinner);
        return work(() -> {
            String before = editor.getText();
            editor.setText(text);
            try {
                spinner.commitEdit();
            } catch (ParseException unreadable) {
                editor.setText(before);
                throw invalid(text, "a value such as " + before);
            }
        });
    }

    private static JTextComponent editor(JSpinner spinner) throws AgentException {
        if (spinner.getEditor() instanceof JSpinner.DefaultEditor) {
            return ((JSpinner.DefaultEditor) spinner.getEditor()).getTextField();
        }
        throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "This spinner has an editor of its own");
    }

    private static java.awt.Color color(String text) throws AgentException {
        try {
            return java.awt.Color.decode(text.trim());
        } catch (NumberFormatException unknown) {
            throw invalid(text, "a colour such as #ff8800");
        }
    }

    private static AgentException invalid(String text, String wanted) {
        return AgentException.actionFailed("INVALID_VALUE", "'" + text + "' is not " + wanted);
    }

    private Callable<Void> scroll() throws AgentException {
        ComponentRefs.Target target = target("target");
        SwingRows rows = SwingRows.of(target.component);
        Object index = action.get("toIndex");
        if (index instanceof Double && rows != null) {
            int wanted = ((Double) index).intValue();
            requireInRange(wanted, rows.count());
            return work(() -> ((JComponent) target.component).scrollRectToVisible(rows.bounds(wanted, -1)));
        }
        SwingActionability.Spot spot = new SwingActionability.Spot(target.component, target.component.getWidth() / 2, target.component.getHeight() / 2);
        return work(() -> SwingInput.scroll(spot, action.number("deltaX", 0), action.number("deltaY", 0)));
    }

    private Callable<Void> select() throws AgentException {
        ComponentRefs.Target target = target("target");
        Component component = target.component;
        SwingActionability.requireUsable(refs, component);
        SwingRows rows = SwingRows.of(component);
        String value = action.text("value");
        int index = target.row >= 0 ? target.row : (int) action.number("index", -1);
        if (rows != null) {
            int chosen = index < 0 && value != null ? rows.indexOf(value) : index;
            requireInRange(chosen, rows.count());
            return work(() -> {
                rows.select(chosen);
                ((JComponent) component).scrollRectToVisible(rows.bounds(chosen, -1));
            });
        }
        if (!(component instanceof JComboBox)) {
            throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "Nothing can be selected in this component");
        }
        JComboBox<?> box = (JComboBox<?>) component;
        int wanted = index >= 0 ? index : position(box, value);
        requireInRange(wanted, box.getItemCount());
        return work(() -> box.setSelectedIndex(wanted));
    }

    private static int position(JComboBox<?> box, String value) {
        for (int at = 0; at < box.getItemCount(); at++) {
            Object item = box.getItemAt(at);
            if (String.valueOf(item).equals(value) || Texts.rendered(box, item).equals(value)) {
                return at;
            }
        }
        return -1;
    }

    private static void requireInRange(int index, int count) throws AgentException {
        if (index < 0 || index >= count) {
            throw AgentException.actionFailed("OUT_OF_RANGE", "There is no such item; there are " + count);
        }
    }

    private Callable<Void> setChecked() throws AgentException {
        ComponentRefs.Target target = target("target");
        Component component = target.component;
        if (component instanceof JTable && target.row >= 0) {
            return setChecked((JTable) component, target);
        }
        boolean checkable = component instanceof JToggleButton || component instanceof JCheckBox || component instanceof JCheckBoxMenuItem;
        if (!checkable) {
            throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The component cannot be checked");
        }
        SwingActionability.Spot spot = SwingActionability.spot(refs, target, action.flag("force"));
        AbstractButton button = (AbstractButton) component;
        boolean wanted = action.flag("checked");
        return work(() -> {
            if (button.isSelected() != wanted) {
                SwingInput.click(spot, MouseEvent.BUTTON1, 1, 0);
            }
            if (button.isSelected() != wanted) {
                throw AgentException.actionFailed("NOT_RECEIVED", "The component was clicked and is as it was");
            }
        });
    }

    /** The box of a row is a cell that is painted like one: of the column that was named, else the first of the row. */
    private Callable<Void> setChecked(JTable table, ComponentRefs.Target target) throws AgentException {
        for (int column = 0; column < table.getColumnCount(); column++) {
            Rectangle cell = table.getCellRect(target.row, column, false);
            int at = column;
            if (target.area.intersects(cell) && table.getColumnClass(at) == Boolean.class && table.getValueAt(target.row, at) instanceof Boolean) {
                SwingActionability.Spot spot = SwingActionability.spot(refs, new ComponentRefs.Target(table, target.row, cell), action.flag("force"));
                Boolean wanted = action.flag("checked");
                return work(() -> {
                    if (!wanted.equals(table.getValueAt(target.row, at))) {
                        SwingInput.click(spot, MouseEvent.BUTTON1, 1, 0);
                    }
                    if (!wanted.equals(table.getValueAt(target.row, at))) {
                        throw AgentException.actionFailed("NOT_RECEIVED", "The cell was clicked and is as it was");
                    }
                });
            }
        }
        throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The row has no cell that can be checked");
    }

    private Callable<Void> expand(boolean open) throws AgentException {
        ComponentRefs.Target target = target("target");
        Component component = target.component;
        SwingActionability.requireUsable(refs, component);
        if (component instanceof JComboBox) {
            return work(() -> ((JComboBox<?>) component).setPopupVisible(open));
        }
        if (component instanceof JMenu) {
            return work(() -> {
                if (((JMenu) component).isPopupMenuVisible() != open) {
                    ((JMenu) component).doClick(0);
                }
            });
        }
        SwingRows rows = SwingRows.of(component);
        int index = target.row >= 0 ? target.row : (int) action.number("index", -1);
        if (rows != null && "JTree".equals(rows.kind())) {
            requireInRange(index, rows.count());
            return work(() -> rows.expand(index, open));
        }
        throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The component cannot be expanded");
    }

    /** Choose files in a file chooser and close it, as its Open button does. */
    private Callable<Void> setFiles() throws AgentException {
        Component component = target("target").component;
        Component chooser = component instanceof JFileChooser ? component : SwingUtilities.getAncestorOfClass(JFileChooser.class, component);
        if (chooser == null) {
            throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The component is no file chooser");
        }
        SwingActionability.requireUsable(refs, chooser);
        File[] files = action.strings("paths").stream().map(File::new).toArray(File[]::new);
        requireInRange(0, files.length);
        return work(() -> {
            JFileChooser open = (JFileChooser) chooser;
            if (open.isMultiSelectionEnabled()) {
                open.setSelectedFiles(files);
            } else {
                open.setSelectedFile(files[0]);
            }
            open.approveSelection();
        });
    }

    private SwingActionability.Spot spot() throws AgentException {
        if (action.object("target") == null) {
            SwingActionability.Spot spot = SwingActionability.at(action.number("x", -1), action.number("y", -1));
            SwingActionability.requireUsable(refs, spot.component);
            return spot;
        }
        return SwingActionability.spot(refs, target("target"), action.flag("force"));
    }

    private int mouseButton() {
        String name = action.text("button");
        return name == null || name.equals("primary") ? MouseEvent.BUTTON1 : name.equals("middle") ? MouseEvent.BUTTON2 : MouseEvent.BUTTON3;
    }

    private ComponentRefs.Target target(String key) throws AgentException {
        RequestFields ref = action.object(key);
        if (ref == null) {
            throw AgentException.actionFailed("MISSING_FIELD", action.text("type") + " needs a " + key);
        }
        return refs.resolve(ref);
    }

    private interface Work {
        void run() throws AgentException;
    }

    private static Callable<Void> work(Work work) {
        return () -> {
            work.run();
            return null;
        };
    }
}
