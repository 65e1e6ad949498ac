package uimcp.javafx;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import javafx.collections.ListChangeListener;
import javafx.css.Selector;
import javafx.event.EventHandler;
import javafx.scene.Node;
import javafx.scene.control.ButtonBase;
import javafx.scene.control.CheckBox;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.PasswordField;
import javafx.scene.control.ScrollBar;
import javafx.scene.control.Slider;
import javafx.scene.control.Spinner;
import javafx.scene.control.TextArea;
import javafx.scene.control.TreeCell;
import javafx.scene.control.TreeItem;
import javafx.scene.control.TreeTableRow;
import javafx.scene.input.DragEvent;
import javafx.scene.input.KeyCode;
import javafx.scene.input.KeyEvent;
import javafx.scene.input.MouseButton;
import javafx.scene.input.MouseEvent;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.PersonField;
import uimcp.core.PersonWatch;

/** Tells what a person does in the windows of a JavaFX program, also in those that open later; on the JavaFX thread. */
final class PersonEvents {
    /** A press that moves further than this is a drag. */
    private static final double DRAG = 8;

    private final NodeRefs refs;
    private final PersonWatch watch;
    private final PersonField<Node> field;
    private final Set<Window> windows = Collections.newSetFromMap(new WeakHashMap<>());
    private final EventHandler<MouseEvent> mouse = this::mouse;
    private final EventHandler<KeyEvent> key = this::key;
    private final EventHandler<DragEvent> drop = this::dropped;
    private final ListChangeListener<Window> opened = change -> {
        while (change.next()) {
            change.getAddedSubList().forEach(this::listen);
        }
    };
    private Press press;

    /** Where a button went down, and what the UI showed then. */
    private static final class Press {
        final Node node;
        final List<String> chain;
        final double x;
        final double y;
        final String before;

        Press(Node node, List<String> chain, MouseEvent event, String before) {
            this.node = node;
            this.chain = chain;
            this.x = event.getScreenX();
            this.y = event.getScreenY();
            this.before = before;
        }
    }

    PersonEvents(NodeRefs refs, PersonWatch watch) throws AgentException {
        this.refs = refs;
        this.watch = watch;
        List<Selector> redacted = Snapshot.selectors(watch.request().strings("redact"));
        field = new PersonField<>(watch, new PersonField.Fields<>() {
            @Override
            public String text(Node node) {
                return PersonNodes.written(node);
            }

            @Override
            public boolean secret(Node node) {
                return node instanceof PasswordField || SceneWalker.isWithin(redacted, node, null);
            }

            @Override
            public List<String> chain(Node node) {
                return PersonNodes.chain(refs, node);
            }
        });
    }

    void start() {
        Window.getWindows().forEach(this::listen);
        Window.getWindows().addListener(opened);
    }

    void stop() {
        Window.getWindows().removeListener(opened);
        for (Window window : windows) {
            window.removeEventFilter(MouseEvent.ANY, mouse);
            window.removeEventFilter(KeyEvent.ANY, key);
            window.removeEventFilter(DragEvent.DRAG_DROPPED, drop);
        }
    }

    private void listen(Window window) {
        if (windows.add(window)) {
            window.addEventFilter(MouseEvent.ANY, mouse);
            window.addEventFilter(KeyEvent.ANY, key);
            window.addEventFilter(DragEvent.DRAG_DROPPED, drop);
        }
    }

    private void mouse(MouseEvent event) {
        boolean down = event.getEventType() == MouseEvent.MOUSE_PRESSED;
        boolean up = event.getEventType() == MouseEvent.MOUSE_RELEASED;
        if (!(down || up) || !watch.listens() || !(event.getTarget() instanceof Node)) {
            return;
        }
        Node node = (Node) event.getTarget();
        if (down) {
            field.flush();
            press = Embedding.isA(node, "javafx.embed.swing.SwingNode") || PersonNodes.above(node, ScrollBar.class) != null
                    ? null : new Press(node, PersonNodes.chain(refs, node), event, watch.before());
        } else if (press != null) {
            Press begun = press;
            press = null;
            released(begun, event);
        }
    }

    private void released(Press begun, MouseEvent event) {
        Node valued = PersonNodes.above(begun.node, Slider.class, Spinner.class);
        if (valued != null) {
            FxThread.later(() -> adjusted(valued, begun.before));
        } else if (Math.hypot(event.getScreenX() - begun.x, event.getScreenY() - begun.y) > DRAG) {
            dragged(begun, event.getPickResult() == null ? null : event.getPickResult().getIntersectedNode());
        } else {
            field.tell(clicked(begun.node, begun.chain, event), begun.before);
        }
    }

    private void dragged(Press begun, Node onto) {
        if (onto != null) {
            Map<String, Object> dragged = PersonWatch.event("drag", begun.chain);
            dragged.put("to", PersonNodes.chain(refs, onto));
            field.tell(dragged, begun.before);
        }
    }

    private void dropped(DragEvent event) {
        if (press != null && watch.listens() && event.getTarget() instanceof Node) {
            dragged(press, (Node) event.getTarget());
        }
        press = null;
    }

    private void adjusted(Node node, String before) {
        String value = node instanceof Slider ? String.valueOf(((Slider) node).getValue()) : ((Spinner<?>) node).getEditor().getText();
        Map<String, Object> set = PersonWatch.event("setText", PersonNodes.chain(refs, node));
        set.put("text", value);
        field.tell(set, before);
    }

    private Map<String, Object> clicked(Node node, List<String> chain, MouseEvent event) {
        boolean plain = event.getButton() == MouseButton.PRIMARY;
        TreeItem<?> branch = plain && PersonNodes.hasAbove(node, "tree-disclosure-node") ? branchAt(node) : null;
        if (branch != null) {
            return PersonWatch.event(branch.isExpanded() ? "collapse" : "expand", chain);
        }
        CheckBox box = plain ? (CheckBox) PersonNodes.above(node, CheckBox.class) : null;
        if (box != null && !box.isAllowIndeterminate()) {
            return checked(box, chain);
        }
        Map<String, Object> made = PersonWatch.event(event.getClickCount() == 2 ? "doubleClick" : "click", chain);
        if (!plain) {
            made.put("button", event.getButton() == MouseButton.SECONDARY ? "right" : "middle");
        }
        PersonWatch.putModifiers(made, event.isControlDown(), event.isShiftDown(), event.isAltDown(), event.isMetaDown());
        return made;
    }

    private static Map<String, Object> checked(CheckBox box, List<String> chain) {
        Map<String, Object> made = PersonWatch.event("setChecked", chain);
        made.put("checked", !box.isSelected());
        return made;
    }

    private static TreeItem<?> branchAt(Node node) {
        IndexedCell<?> cell = (IndexedCell<?>) PersonNodes.above(node, TreeCell.class, TreeTableRow.class);
        return cell instanceof TreeCell ? ((TreeCell<?>) cell).getTreeItem()
                : cell instanceof TreeTableRow ? ((TreeTableRow<?>) cell).getTreeItem() : null;
    }

    private void key(KeyEvent event) {
        if (!watch.listens() || !(event.getTarget() instanceof Node)) {
            return;
        }
        Node node = (Node) event.getTarget();
        Node writes = PersonNodes.fieldAt(node);
        if (event.getEventType() == KeyEvent.KEY_PRESSED) {
            pressed(event, node, writes);
        }
        if (writes != null) {
            field.track(writes);
            FxThread.later(field::flush);
        }
    }

    private void pressed(KeyEvent event, Node node, Node writes) {
        KeyCode code = event.getCode();
        boolean shortcut = (event.isControlDown() || event.isAltDown() || event.isMetaDown()) && (code.isLetterKey() || code.isDigitKey());
        if (code == KeyCode.SPACE && node instanceof ButtonBase) {
            List<String> chain = PersonNodes.chain(refs, node);
            boolean box = node instanceof CheckBox && !((CheckBox) node).isAllowIndeterminate();
            field.tell(box ? checked((CheckBox) node, chain) : PersonWatch.event("click", chain), watch.before());
        } else if (PersonNodes.tells(code, shortcut, writes, writes instanceof TextArea)) {
            Map<String, Object> made = PersonWatch.event("pressKey", PersonNodes.chain(refs, node));
            made.put("key", code.isDigitKey() ? code.getName() : code.name());
            PersonWatch.putModifiers(made, event.isControlDown(), event.isShiftDown(), event.isAltDown(), event.isMetaDown());
            field.tell(made, watch.before());
        }
    }
}
