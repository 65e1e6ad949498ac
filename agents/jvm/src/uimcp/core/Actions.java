package uimcp.core;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.scene.control.CheckBox;
import javafx.scene.control.ChoiceBox;
import javafx.scene.control.ComboBox;
import javafx.scene.control.ComboBoxBase;
import javafx.scene.control.Control;
import javafx.scene.control.MenuButton;
import javafx.scene.control.SelectionModel;
import javafx.scene.control.Spinner;
import javafx.scene.control.TabPane;
import javafx.scene.control.TextInputControl;
import javafx.scene.control.TitledPane;
import javafx.scene.control.ToggleButton;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import javafx.stage.Window;

/** Does one action on the JavaFX thread, having checked that a person could do it. */
final class Actions {
    private final Refs refs;
    private final Map<String, Object> action;
    private final List<String> modifiers;

    Actions(Refs refs, Map<String, Object> action) {
        this.refs = refs;
        this.action = action;
        this.modifiers = RequestFields.strings(action, "modifiers");
    }

    /** Check everything that can be refused, and return the work itself, which may block in a modal dialog. */
    Callable<Void> prepare() throws AgentException {
        String type = RequestFields.text(action, "type");
        switch (type == null ? "" : type) {
            case "focus": return work(() -> focus(target("target")));
            case "click": return click((int) RequestFields.number(action, "clickCount", 1));
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
            default: throw AgentException.refused("UNSUPPORTED_ACTION", "JavaFX programs have no " + type);
        }
    }

    private Callable<Void> click(int count) throws AgentException {
        Actionability.HitPoint spot = pointed();
        MouseButton button = button(action);
        return work(() -> MouseInput.click(spot, button, count, modifiers));
    }

    private Callable<Void> hover() throws AgentException {
        Actionability.HitPoint spot = pointed();
        return work(() -> {
            MouseInput.fire(spot, MouseEvent.MOUSE_ENTERED, MouseButton.NONE, 0, modifiers);
            MouseInput.fire(spot, MouseEvent.MOUSE_MOVED, MouseButton.NONE, 0, modifiers);
        });
    }

    private Callable<Void> button(javafx.event.EventType<MouseEvent> type) throws AgentException {
        Actionability.HitPoint spot = pointed();
        return work(() -> MouseInput.fire(spot, type, button(action), 1, modifiers));
    }

    private Callable<Void> drag() throws AgentException {
        Actionability.HitPoint from = Actionability.spot(refs, target("from"), RequestFields.flag(action, "force"));
        Actionability.HitPoint to = Actionability.spot(refs, target("to"), true);
        return work(() -> {
            MouseInput.fire(from, MouseEvent.MOUSE_PRESSED, MouseButton.PRIMARY, 1, modifiers);
            MouseInput.fire(from, MouseEvent.DRAG_DETECTED, MouseButton.PRIMARY, 1, modifiers);
            for (int step = 1; step <= 8; step++) {
                double x = from.x + (to.x - from.x) * step / 8;
                double y = from.y + (to.y - from.y) * step / 8;
                MouseInput.fire(new Actionability.HitPoint(from.node, from.scene, x, y), MouseEvent.MOUSE_DRAGGED, MouseButton.PRIMARY, 1, modifiers);
            }
            MouseInput.fire(new Actionability.HitPoint(from.node, from.scene, to.x, to.y), MouseEvent.MOUSE_RELEASED, MouseButton.PRIMARY, 1, modifiers);
        });
    }

    private void focus(Node node) throws AgentException {
        Actionability.usable(refs, node);
        node.requestFocus();
        if (node.getScene().getFocusOwner() != node) {
            throw AgentException.refused("NOT_FOCUSABLE", "The node takes no focus");
        }
    }

    private Callable<Void> typeText() throws AgentException {
        if (RequestFields.map(action, "target") != null) {
            focus(target("target"));
        }
        Scene scene = focusedScene();
        return work(() -> KeyboardInput.type(scene, RequestFields.text(action, "text")));
    }

    private Callable<Void> pressKey() throws AgentException {
        if (RequestFields.map(action, "target") != null) {
            focus(target("target"));
        }
        Scene scene = focusedScene();
        return work(() -> KeyboardInput.press(scene, RequestFields.text(action, "key"), modifiers));
    }

    private Callable<Void> setText() throws AgentException {
        Node node = target("target");
        Node field = node instanceof Spinner ? ((Spinner<?>) node).getEditor()
                : node instanceof ComboBox && ((ComboBox<?>) node).isEditable() ? ((ComboBox<?>) node).getEditor() : node;
        if (!(field instanceof TextInputControl)) {
            throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "The node holds no text");
        }
        Actionability.usable(refs, node);
        TextInputControl text = (TextInputControl) field;
        if (!text.isEditable()) {
            throw AgentException.refused("READ_ONLY", "The field is read-only");
        }
        return work(() -> {
            text.requestFocus();
            text.setText(RequestFields.text(action, "text"));
            text.end();
        });
    }

    private Callable<Void> scroll() throws AgentException {
        Node node = target("target");
        Object index = action.get("toIndex");
        if (index instanceof Double && node instanceof Control && SceneTree.isVirtual(node)) {
            return work(() -> VirtualizedControls.scrollTo((Control) node, ((Double) index).intValue()));
        }
        Actionability.HitPoint spot = Actionability.spot(refs, node, true);
        Node flow = SceneTree.isVirtual(node) ? VirtualizedControls.flow((Control) node) : null;
        Actionability.HitPoint over = flow == null ? spot : new Actionability.HitPoint(flow, spot.scene, spot.x, spot.y);
        return work(() -> MouseInput.scroll(over, RequestFields.number(action, "deltaX", 0), RequestFields.number(action, "deltaY", 0)));
    }

    private Callable<Void> select() throws AgentException {
        Node node = target("target");
        Actionability.usable(refs, node);
        int index = (int) RequestFields.number(action, "index", -1);
        if (SceneTree.isVirtual(node)) {
            Control control = (Control) node;
            inRange(index, VirtualizedControls.count(control));
            return work(() -> {
                VirtualizedControls.selection(control).clearAndSelect(index);
                VirtualizedControls.scrollTo(control, index);
            });
        }
        SelectionModel<?> model = node instanceof ComboBox ? ((ComboBox<?>) node).getSelectionModel()
                : node instanceof ChoiceBox ? ((ChoiceBox<?>) node).getSelectionModel()
                : node instanceof TabPane ? ((TabPane) node).getSelectionModel() : null;
        if (model == null) {
            throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "Nothing can be selected in this node");
        }
        List<?> items = node instanceof ComboBox ? ((ComboBox<?>) node).getItems()
                : node instanceof ChoiceBox ? ((ChoiceBox<?>) node).getItems() : ((TabPane) node).getTabs();
        int wanted = index >= 0 ? index : position(items, RequestFields.text(action, "value"));
        inRange(wanted, items.size());
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

    private static void inRange(int index, int count) throws AgentException {
        if (index < 0 || index >= count) {
            throw AgentException.refused("OUT_OF_RANGE", "There is no such item; there are " + count);
        }
    }

    private Callable<Void> setChecked() throws AgentException {
        Node node = target("target");
        boolean wanted = RequestFields.flag(action, "checked");
        if (!(node instanceof CheckBox || node instanceof ToggleButton)) {
            throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "The node cannot be checked");
        }
        boolean now = node instanceof CheckBox ? ((CheckBox) node).isSelected() : ((ToggleButton) node).isSelected();
        Actionability.HitPoint spot = Actionability.spot(refs, node, RequestFields.flag(action, "force"));
        return work(() -> {
            if (now != wanted) {
                MouseInput.click(spot, MouseButton.PRIMARY, 1, List.of());
            }
        });
    }

    private Callable<Void> expand(boolean open) throws AgentException {
        Node node = target("target");
        Actionability.usable(refs, node);
        if (node instanceof TitledPane) {
            return work(() -> ((TitledPane) node).setExpanded(open));
        }
        if (node instanceof ComboBoxBase) {
            return work(open ? ((ComboBoxBase<?>) node)::show : ((ComboBoxBase<?>) node)::hide);
        }
        if (node instanceof MenuButton) {
            return work(open ? ((MenuButton) node)::show : ((MenuButton) node)::hide);
        }
        int index = (int) RequestFields.number(action, "index", -1);
        if (SceneTree.isVirtual(node) && VirtualizedControls.item((Control) node, index) instanceof javafx.scene.control.TreeItem) {
            return work(() -> VirtualizedControls.expand((Control) node, index, open));
        }
        throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "The node cannot be expanded");
    }

    Actionability.HitPoint pointed() throws AgentException {
        if (RequestFields.map(action, "target") == null) {
            return Actionability.at(refs, RequestFields.number(action, "x", -1), RequestFields.number(action, "y", -1));
        }
        return Actionability.spot(refs, target("target"), RequestFields.flag(action, "force"));
    }

    static MouseButton button(Map<String, Object> action) {
        String name = RequestFields.text(action, "button");
        return name == null ? MouseButton.PRIMARY : MouseButton.valueOf(name.toUpperCase());
    }

    private Node target(String key) throws AgentException {
        Map<String, Object> ref = RequestFields.map(action, key);
        if (ref == null) {
            throw AgentException.refused("MISSING_FIELD", RequestFields.text(action, "type") + " needs a " + key);
        }
        return NodeResolver.node(refs, ref);
    }

    private static Scene focusedScene() throws AgentException {
        List<Window> all = Windows.showing();
        if (all.isEmpty()) {
            throw new AgentException("MCP_UI_NO_STAGES", "The program shows no window");
        }
        return Windows.focused(all).getScene();
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
