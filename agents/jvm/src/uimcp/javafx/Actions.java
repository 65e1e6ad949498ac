package uimcp.javafx;

import java.util.List;
import java.util.concurrent.Callable;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.control.CheckBox;
import javafx.scene.control.ChoiceBox;
import javafx.scene.control.ComboBox;
import javafx.scene.control.ComboBoxBase;
import javafx.scene.control.Control;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.MenuButton;
import javafx.scene.control.SelectionModel;
import javafx.scene.control.Spinner;
import javafx.scene.control.TabPane;
import javafx.scene.control.TextInputControl;
import javafx.scene.control.TitledPane;
import javafx.scene.control.ToggleButton;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;

/** Performs one action on the JavaFX thread, after checking that a person could do it. */
final class Actions {
    /** Reason of a refusal: the gesture is possible only with the real pointer. */
    static final String NEEDS_POINTER = "NEEDS_POINTER";

    private final NodeRefs refs;
    private final RequestFields action;
    private final List<String> modifiers;

    Actions(NodeRefs refs, RequestFields action) {
        this.refs = refs;
        this.action = action;
        this.modifiers = action.strings("modifiers");
    }

    /** Check everything that can be refused, and return the rest of the work, which may block in a modal dialog. */
    Callable<Void> prepare() throws AgentException {
        String type = action.text("type");
        switch (type == null ? "" : type) {
            case "focus": return work(() -> focus(target("target")));
            case "click": return click((int) action.number("clickCount", 1));
            case "doubleClick": return click(2);
            case "hover": return hover();
            case "mousePressed": return button(MouseEvent.MOUSE_PRESSED);
            case "mouseReleased": return button(MouseEvent.MOUSE_RELEASED);
            case "drag": return drag();
            case "typeText": return typeText();
            case "setText": return setText();
            case "pressKey": return pressKey();
            case "scroll": return scroll();
            case "select": return select();
            case "setChecked": return setChecked();
            case "expand": return expand(true);
            case "collapse": return expand(false);
            default: throw AgentException.actionFailed("UNSUPPORTED_ACTION", "JavaFX programs have no " + type);
        }
    }

    private Callable<Void> click(int count) throws AgentException {
        HitPoint point = hitPoint();
        MouseButton button = button(action);
        return work(() -> MouseInput.click(point, button, count, modifiers));
    }

    private Callable<Void> hover() throws AgentException {
        HitPoint point = hitPoint();
        return work(() -> {
            MouseInput.fire(point, MouseEvent.MOUSE_ENTERED, MouseButton.NONE, 0, modifiers);
            MouseInput.fire(point, MouseEvent.MOUSE_MOVED, MouseButton.NONE, 0, modifiers);
        });
    }

    private Callable<Void> button(javafx.event.EventType<MouseEvent> type) throws AgentException {
        HitPoint point = hitPoint();
        return work(() -> MouseInput.fire(point, type, button(action), 1, modifiers));
    }

    private Callable<Void> drag() throws AgentException {
        HitPoint from = end("from", action.flag("force"));
        HitPoint to = end("to", true);
        return work(() -> {
            MouseInput.fire(from, MouseEvent.MOUSE_PRESSED, MouseButton.PRIMARY, 1, modifiers);
            try {
                MouseInput.fire(from, MouseEvent.DRAG_DETECTED, MouseButton.PRIMARY, 1, modifiers);
            } catch (IllegalStateException refused) {
                // JavaFX starts drag and drop only for events that come from the window system.
                MouseInput.fire(from, MouseEvent.MOUSE_RELEASED, MouseButton.PRIMARY, 1, modifiers);
                throw AgentException.actionFailed(NEEDS_POINTER, "Drag and drop needs the real pointer");
            }
            for (int step = 1; step <= 8; step++) {
                double x = from.x + (to.x - from.x) * step / 8;
                double y = from.y + (to.y - from.y) * step / 8;
                MouseInput.fire(new HitPoint(from.node, from.scene, x, y), MouseEvent.MOUSE_DRAGGED, MouseButton.PRIMARY, 1, modifiers);
            }
            MouseInput.fire(new HitPoint(from.node, from.scene, to.x, to.y), MouseEvent.MOUSE_RELEASED, MouseButton.PRIMARY, 1, modifiers);
        });
    }

    /** Return an end of a drag: a node, or a point of the screen. */
    HitPoint end(String key, boolean force) throws AgentException {
        RequestFields given = action.object(key);
        if (given != null && given.get("x") instanceof Double && given.get("y") instanceof Double) {
            return Actionability.hitPointAt(refs, given.number("x", -1), given.number("y", -1));
        }
        return Actionability.hitPoint(refs, target(key), force);
    }

    private void focus(Node node) throws AgentException {
        Actionability.requireUsable(refs, node);
        node.requestFocus();
        if (node.getScene().getFocusOwner() != node) {
            throw AgentException.actionFailed("NOT_FOCUSABLE", "The node takes no focus");
        }
    }

    private Callable<Void> typeText() throws AgentException {
        Scene scene = keyScene();
        return work(() -> KeyboardInput.type(scene, action.text("text")));
    }

    private Callable<Void> pressKey() throws AgentException {
        Scene scene = keyScene();
        return work(() -> KeyboardInput.press(scene, action.text("key"), modifiers));
    }

    private Callable<Void> setText() throws AgentException {
        Node node = target("target");
        String given = action.text("text");
        Callable<Void> value = FieldValues.setter(node, given);
        if (value != null) {
            Actionability.requireUsable(refs, node);
            return value;
        }
        EditableText area = EditableText.of(node);
        if (area != null) {
            Actionability.requireUsable(refs, node);
            requireEditable(area.isEditable(node));
            return work(() -> {
                node.requestFocus();
                area.set(node, given);
            });
        }
        Node field = node instanceof Spinner ? ((Spinner<?>) node).getEditor()
                : node instanceof ComboBox && ((ComboBox<?>) node).isEditable() ? ((ComboBox<?>) node).getEditor() : node;
        if (!(field instanceof TextInputControl)) {
            throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The node holds no text");
        }
        Actionability.requireUsable(refs, node);
        TextInputControl text = (TextInputControl) field;
        requireEditable(text.isEditable());
        return work(() -> {
            text.requestFocus();
            text.setText(given);
            text.end();
        });
    }

    private static void requireEditable(boolean editable) throws AgentException {
        if (!editable) {
            throw AgentException.actionFailed("READ_ONLY", "The field is read-only");
        }
    }

    private Callable<Void> scroll() throws AgentException {
        Node node = target("target");
        Object index = action.get("toIndex");
        if (index instanceof Double && node instanceof Control && SceneTree.isVirtual(node)) {
            return work(() -> VirtualizedControls.scrollTo((Control) node, ((Double) index).intValue()));
        }
        HitPoint point = Actionability.hitPoint(refs, node, true);
        Node flow = SceneTree.isVirtual(node) ? VirtualizedControls.flow((Control) node) : null;
        HitPoint over = flow == null ? point : new HitPoint(flow, point.scene, point.x, point.y);
        return work(() -> MouseInput.scroll(over, action.number("deltaX", 0), action.number("deltaY", 0)));
    }

    private Callable<Void> select() throws AgentException {
        NodeRefs.Row row = refs.row(targetUid());
        Node node = row == null ? target("target") : row.control;
        Actionability.requireUsable(refs, node);
        int index = row == null ? (int) action.number("index", -1) : row.index;
        String value = action.text("value");
        if (SceneTree.isVirtual(node)) {
            Control control = (Control) node;
            int chosen = index < 0 && value != null ? VirtualizedControls.indexOf(control, value) : index;
            requireInRange(chosen, VirtualizedControls.count(control));
            return work(() -> {
                VirtualizedControls.selection(control).clearAndSelect(chosen);
                VirtualizedControls.scrollTo(control, chosen);
            });
        }
        Callable<Void> field = value == null ? null : FieldValues.setter(node, value);
        if (field != null) {
            return field;
        }
        SelectionModel<?> model = node instanceof ComboBox ? ((ComboBox<?>) node).getSelectionModel()
                : node instanceof ChoiceBox ? ((ChoiceBox<?>) node).getSelectionModel()
                : node instanceof TabPane ? ((TabPane) node).getSelectionModel() : null;
        if (model == null) {
            throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "Nothing can be selected in this node");
        }
        List<?> items = node instanceof ComboBox ? ((ComboBox<?>) node).getItems()
                : node instanceof ChoiceBox ? ((ChoiceBox<?>) node).getItems() : ((TabPane) node).getTabs();
        int wanted = index >= 0 ? index : position(items, value);
        requireInRange(wanted, items.size());
        return work(() -> model.select(wanted));
    }

    private static int position(List<?> items, String value) {
        for (int at = 0; at < items.size(); at++) {
            Object item = items.get(at);
            Object text = item instanceof javafx.scene.control.Tab ? ((javafx.scene.control.Tab) item).getText() : item;
            if (String.valueOf(text).equals(value)) {
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
        Node given = target("target");
        // In a row it is the check box inside that a person would click.
        Node inside = given instanceof IndexedCell ? given.lookup(".check-box") : null;
        Node node = inside == null ? given : inside;
        boolean wanted = action.flag("checked");
        if (checked(node) == null) {
            throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The node cannot be checked");
        }
        HitPoint point = Actionability.hitPoint(refs, LibraryControls.clickedPart(node), node, action.flag("force"));
        // A box with three states needs two clicks from off to on.
        int clicks = node instanceof CheckBox && ((CheckBox) node).isAllowIndeterminate() ? 2 : 1;
        return work(() -> {
            for (int left = clicks; left > 0 && checked(node) != wanted; left--) {
                MouseInput.click(point, MouseButton.PRIMARY, 1, List.of());
            }
            if (checked(node) != wanted) {
                throw AgentException.actionFailed("NOT_RECEIVED", "The node was clicked and is as it was");
            }
        });
    }

    private static Boolean checked(Node node) {
        return node instanceof CheckBox ? (Boolean) ((CheckBox) node).isSelected()
                : node instanceof ToggleButton ? (Boolean) ((ToggleButton) node).isSelected() : LibraryControls.selected(node);
    }

    private Callable<Void> expand(boolean open) throws AgentException {
        NodeRefs.Row row = refs.row(targetUid());
        Node node = row == null ? target("target") : row.control;
        Actionability.requireUsable(refs, node);
        if (node instanceof TitledPane) {
            return work(() -> ((TitledPane) node).setExpanded(open));
        }
        if (node instanceof ComboBoxBase) {
            return work(open ? ((ComboBoxBase<?>) node)::show : ((ComboBoxBase<?>) node)::hide);
        }
        if (node instanceof MenuButton) {
            return work(open ? ((MenuButton) node)::show : ((MenuButton) node)::hide);
        }
        int index = row == null ? (int) action.number("index", -1) : row.index;
        if (SceneTree.isVirtual(node) && VirtualizedControls.item((Control) node, index) instanceof javafx.scene.control.TreeItem) {
            return work(() -> VirtualizedControls.expand((Control) node, index, open));
        }
        throw AgentException.actionFailed("UNSUPPORTED_TARGET_TYPE", "The node cannot be expanded");
    }

    HitPoint hitPoint() throws AgentException {
        if (action.object("target") == null) {
            return Actionability.hitPointAt(refs, action.number("x", -1), action.number("y", -1));
        }
        return Actionability.hitPoint(refs, target("target"), action.flag("force"));
    }

    static MouseButton button(RequestFields action) {
        String name = action.text("button");
        return name == null ? MouseButton.PRIMARY : MouseButton.valueOf(name.toUpperCase());
    }

    private String targetUid() {
        RequestFields ref = action.object("target");
        return ref == null ? null : ref.text("uid");
    }

    private Node target(String key) throws AgentException {
        RequestFields ref = action.object(key);
        if (ref == null) {
            throw AgentException.actionFailed("MISSING_FIELD", action.text("type") + " needs a " + key);
        }
        return NodeResolver.resolve(refs, ref);
    }

    /** Return the scene that gets keys: that of the target, after focusing it, else the one of the focused window. */
    private Scene keyScene() throws AgentException {
        if (action.object("target") != null) {
            Node node = target("target");
            focus(node);
            return node.getScene();
        }
        return Windows.focused(Windows.requireShowing()).getScene();
    }

    interface Work {
        void run() throws AgentException;
    }

    static Callable<Void> work(Work work) {
        return () -> {
            work.run();
            return null;
        };
    }
}
