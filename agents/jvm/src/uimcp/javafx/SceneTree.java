package uimcp.javafx;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import javafx.scene.Node;
import javafx.scene.Parent;
import javafx.scene.Scene;
import javafx.scene.control.Accordion;
import javafx.scene.control.ButtonBar;
import javafx.scene.control.ChoiceBox;
import javafx.scene.control.ComboBoxBase;
import javafx.scene.control.Control;
import javafx.scene.control.IndexedCell;
import javafx.scene.control.Label;
import javafx.scene.control.Labeled;
import javafx.scene.control.ListView;
import javafx.scene.control.ProgressIndicator;
import javafx.scene.control.ScrollBar;
import javafx.scene.control.ScrollPane;
import javafx.scene.control.Separator;
import javafx.scene.control.Slider;
import javafx.scene.control.Spinner;
import javafx.scene.control.SplitPane;
import javafx.scene.control.Tab;
import javafx.scene.control.TabPane;
import javafx.scene.control.TableView;
import javafx.scene.control.TextInputControl;
import javafx.scene.control.TitledPane;
import javafx.scene.control.ToolBar;
import javafx.scene.control.TreeTableView;
import javafx.scene.control.TreeView;

/** The scene graph without the inner nodes of skins; paths still count every level. */
final class SceneTree {
    private SceneTree() {}

    static List<Node> children(Node node, boolean internals) {
        if (!internals && isLeaf(node)) {
            return List.of();
        }
        return internals ? all(node) : shown(node);
    }

    static List<Node> all(Node node) {
        return node instanceof Parent ? ((Parent) node).getChildrenUnmodifiable() : List.of();
    }

    static boolean isLeaf(Node node) {
        if (node instanceof TitledPane || isContainer(node)) {
            return false;
        }
        return node instanceof Labeled || node instanceof TextInputControl || node instanceof Slider
                || node instanceof ProgressIndicator || node instanceof ScrollBar || node instanceof Separator
                || node instanceof ComboBoxBase || node instanceof ChoiceBox || node instanceof Spinner
                || isVirtual(node) || EditableText.of(node) != null || LibraryControls.value(node) != null
                || node.getClass().getName().startsWith("javafx.scene.web.");
    }

    /** Return whether a label, button or cell holds controls: in its graphic, or as a row of a library's own list. */
    private static boolean isContainer(Node node) {
        return (node instanceof Labeled && ((Labeled) node).getGraphic() != null && hasControls(((Labeled) node).getGraphic()))
                || (node instanceof IndexedCell && all(node).stream().anyMatch(child -> child instanceof Control));
    }

    /** Return whether a person could operate something at or below the node. */
    static boolean hasControls(Node node) {
        return (node instanceof Control && !(node instanceof Label) && !(node instanceof Separator) && !(node instanceof ProgressIndicator))
                || all(node).stream().anyMatch(SceneTree::hasControls);
    }

    static boolean isVirtual(Node node) {
        return node instanceof ListView || node instanceof TableView || node instanceof TreeView || node instanceof TreeTableView;
    }

    /** Return the simple name of the class or, where that cannot stand in a path (anonymous classes), of a superclass. */
    static String typeOf(Class<?> named) {
        Class<?> at = named;
        while (at.getSimpleName().isEmpty() || !Character.isJavaIdentifierStart(at.getSimpleName().charAt(0))
                || at.getSimpleName().indexOf('/') >= 0) {
            at = at.getSuperclass();
        }
        return at.getSimpleName();
    }

    static String type(Node node) {
        return typeOf(node.getClass());
    }

    /** Return the path from one node down to another, every level included. */
    static String segments(Node from, Node to) {
        var path = new ArrayList<String>();
        for (Node at = to; at != null && at != from; at = at.getParent()) {
            path.add(0, segment(at));
        }
        return String.join("/", path);
    }

    static String path(Node node, int stage) {
        Node top = node.getScene().getRoot();
        String below = segments(top, node);
        return "/stages[" + stage + "]/scene/root" + (below.isEmpty() ? "" : "/" + below);
    }

    static Node byPath(Scene scene, String below) {
        Node at = scene.getRoot();
        for (String part : below.split("/")) {
            if (part.isEmpty()) {
                continue;
            }
            int open = part.indexOf('[');
            int wanted = Integer.parseInt(part.substring(open + 1, part.length() - 1));
            String type = part.substring(0, open);
            List<Node> same = all(at).stream().filter(child -> type(child).equals(type)).collect(Collectors.toList());
            if (wanted >= same.size()) {
                return null;
            }
            at = same.get(wanted);
        }
        return at;
    }

    private static String segment(Node node) {
        String type = type(node);
        int nth = 0;
        Node parent = node.getParent();
        for (Node sibling : parent == null ? List.<Node>of() : all(parent)) {
            if (sibling == node) {
                break;
            }
            nth += type(sibling).equals(type) ? 1 : 0;
        }
        return type + "[" + nth + "]";
    }

    private static List<Node> shown(Node node) {
        if (node instanceof ScrollPane) {
            return present(((ScrollPane) node).getContent());
        }
        if (node instanceof TitledPane) {
            List<Node> found = new ArrayList<>(isContainer(node) ? present(((TitledPane) node).getGraphic()) : List.of());
            found.addAll(present(((TitledPane) node).getContent()));
            return found;
        }
        if (node instanceof Labeled && !(node instanceof IndexedCell) && isContainer(node)) {
            return present(((Labeled) node).getGraphic());
        }
        if (node instanceof SplitPane) {
            return present(((SplitPane) node).getItems());
        }
        if (node instanceof ToolBar) {
            return present(((ToolBar) node).getItems());
        }
        if (node instanceof ButtonBar) {
            return present(((ButtonBar) node).getButtons());
        }
        if (node instanceof Accordion) {
            return present(((Accordion) node).getPanes());
        }
        if (node instanceof TabPane) {
            return tabs((TabPane) node);
        }
        return all(node);
    }

    private static List<Node> tabs(TabPane pane) {
        List<Node> found = new ArrayList<>();
        // Look in the header only: a lookup in the whole pane would visit every node of every tab.
        for (Node part : pane.getChildrenUnmodifiable()) {
            if (part.getStyleClass().contains("tab-header-area")) {
                found.addAll(part.lookupAll(".tab-label"));
            }
        }
        pane.getTabs().stream().map(Tab::getContent).forEach(content -> found.addAll(present(content)));
        return found;
    }

    private static List<Node> present(Node node) {
        return node == null || node.getScene() == null ? List.of() : List.of(node);
    }

    private static List<Node> present(Collection<? extends Node> nodes) {
        return nodes.stream().filter(node -> node.getScene() != null).collect(Collectors.toList());
    }
}
