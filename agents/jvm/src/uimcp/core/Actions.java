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
        this.modifiers = Ask.strings(action, "modifiers");
    }

    /** Check everything that can be refused, and return the work itself, which may block in a modal dialog. */
    Callable<Void> prepare() throws AgentException {
        String type = Ask.text(action, "type");
        switch (type == null ? "" : type) {
            case "focus": return work(() -> focus(target("target")));
            case "click": return click((int) Ask.number(action, "clickCount", 1));
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
        Reach.Spot spot = pointed();
        MouseButton button = button(action);
        return work(() -> Mouse.click(spot, button, count, modifiers));
    }

    private Callable<Void> hover() throws AgentException {
        Reach.Spot spot = pointed();
        return work(() -> {
            Mouse.fire(spot, MouseEvent.MOUSE_ENTERED, MouseButton.NONE, 0, modifiers);
            Mouse.fire(spot, MouseEvent.MOUSE_MOVED, MouseButton.NONE, 0, modifiers);
        });
    }

    private Callable<Void> button(javafx.event.EventType<MouseEvent> type) throws AgentException {
        Reach.Spot spot = pointed();
        return work(() -> Mouse.fire(spot, type, button(action), 1, modifiers));
    }

    private Callable<Void> drag() throws AgentException {
        Reach.Spot from = Reach.spot(refs, target("from"), Ask.flag(action, "force"));
        Reach.Spot to = Reach.spot(refs, target("to"), true);
        return work(() -> {
            Mouse.fire(from, MouseEvent.MOUSE_PRESSED, MouseButton.PRIMARY, 1, modifiers);
            Mouse.fire(from, MouseEvent.DRAG_DETECTED, MouseButton.PRIMARY, 1, modifiers);
            for (int step = 1; step <= 8; step++) {
                double x = from.x + (to.x - from.x) * step / 8;
                double y = from.y + (to.y - from.y) * step / 8;
                Mouse.fire(new Reach.Spot(from.node, from.scene, x, y), MouseEvent.MOUSE_DRAGGED, MouseButton.PRIMARY, 1, modifiers);
            }
            Mouse.fire(new Reach.Spot(from.node, from.scene, to.x, to.y), MouseEvent.MOUSE_RELEASED, MouseButton.PRIMARY, 1, modifiers);
        });
    }

    private void focus(Node node) throws AgentException {
        Reach.usable(refs, node);
        node.requestFocus();
        if (node.getScene().getFocusOwner() != node) {
            throw AgentException.refused("NOT_FOCUSABLE", "The node takes no focus");
        }
    }

    private Callable<Void> typeText() throws AgentException {
        if (Ask.map(action, "target") != null) {
            focus(target("target"));
        }
        Scene scene = focusedScene();
        return work(() -> Keys.type(scene, Ask.text(action, "text")));
    }

    private Callable<Void> pressKey() throws AgentException {
        if (Ask.map(action, "target") != null) {
            focus(target("target"));
        }
        Scene scene = focusedScene();
        return work(() -> Keys.press(scene, Ask.text(action, "key"), modifiers));
    }

    private Callable<Void> setText() throws AgentException {
        Node node = target("target");
        Node field = node instanceof Spinner ? ((Spinner<?>) node).getEditor()
                : node instanceof ComboBox && ((ComboBox<?>) node).isEditable() ? ((ComboBox<?>) node).getEditor() : node;
        if (!(field instanceof TextInputControl)) {
            throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "The node holds no text");
        }
        Reach.usable(refs, node);
        TextInputControl text = (TextInputControl) field;
        if (!text.isEditable()) {
            throw AgentException.refused("READ_ONLY", "The field is read-only");
        }
        return work(() -> {
            text.requestFocus();
            text.setText(Ask.text(action, "text"));
            text.end();
        });
    }

    private Callable<Void> scroll() throws AgentException {
        Node node = target("target");
        Object index = action.get("toIndex");
        if (index instanceof Double && node instanceof Control && Tree.isVirtual(node)) {
            return work(() -> Virtual.scrollTo((Control) node, ((Double) index).intValue()));
        }
        Reach.Spot spot = Reach.spot(refs, node, true);
        Node flow = Tree.isVirtual(node) ? Virtual.flow((Control) node) : null;
        Reach.Spot over = flow == null ? spot : new Reach.Spot(flow, spot.scene, spot.x, spot.y);
        return work(() -> Mouse.scroll(over, Ask.number(action, "deltaX", 0), Ask.number(action, "deltaY", 0)));
    }

    private Callable<Void> select() throws AgentException {
        Node node = target("target");
        Reach.usable(refs, node);
        int index = (int) Ask.number(action, "index", -1);
        if (Tree.isVirtual(node)) {
            Control control = (Control) node;
            inRange(index, Virtual.count(control));
            return work(() -> {
                Virtual.selection(control).clearAndSelect(index);
                Virtual.scrollTo(control, index);
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
        int wanted = index >= 0 ? index : position(items, Ask.text(action, "value"));
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
        boolean wanted = Ask.flag(action, "checked");
        if (!(node instanceof CheckBox || node instanceof ToggleButton)) {
            throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "The node cannot be checked");
        }
        boolean now = node instanceof CheckBox ? ((CheckBox) node).isSelected() : ((ToggleButton) node).isSelected();
        Reach.Spot spot = Reach.spot(refs, node, Ask.flag(action, "force"));
        return work(() -> {
            if (now != wanted) {
                Mouse.click(spot, MouseButton.PRIMARY, 1, List.of());
            }
        });
    }

    private Callable<Void> expand(boolean open) throws AgentException {
        Node node = target("target");
        Reach.usable(refs, node);
        if (node instanceof TitledPane) {
            return work(() -> ((TitledPane) node).setExpanded(open));
        }
        if (node instanceof ComboBoxBase) {
            return work(open ? ((ComboBoxBase<?>) node)::show : ((ComboBoxBase<?>) node)::hide);
        }
        if (node instanceof MenuButton) {
            return work(open ? ((MenuButton) node)::show : ((MenuButton) node)::hide);
        }
        int index = (int) Ask.number(action, "index", -1);
        if (Tree.isVirtual(node) && Virtual.item((Control) node, index) instanceof javafx.scene.control.TreeItem) {
            return work(() -> Virtual.expand((Control) node, index, open));
        }
        throw AgentException.refused("UNSUPPORTED_TARGET_TYPE", "The node cannot be expanded");
    }

    Reach.Spot pointed() throws AgentException {
        if (Ask.map(action, "target") == null) {
            return Reach.at(refs, Ask.number(action, "x", -1), Ask.number(action, "y", -1));
        }
        return Reach.spot(refs, target("target"), Ask.flag(action, "force"));
    }

    static MouseButton button(Map<String, Object> action) {
        String name = Ask.text(action, "button");
        return name == null ? MouseButton.PRIMARY : MouseButton.valueOf(name.toUpperCase());
    }

    private Node target(String key) throws AgentException {
        Map<String, Object> ref = Ask.map(action, key);
        if (ref == null) {
            throw AgentException.refused("MISSING_FIELD", Ask.text(action, "type") + " needs a " + key);
        }
        return Find.node(refs, ref);
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
