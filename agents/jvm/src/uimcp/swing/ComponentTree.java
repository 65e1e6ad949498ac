package uimcp.swing;

import java.awt.Component;
import java.awt.Container;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.swing.AbstractButton;
import javax.swing.Box;
import javax.swing.CellRendererPane;
import javax.swing.JComboBox;
import javax.swing.JComponent;
import javax.swing.JLabel;
import javax.swing.JLayeredPane;
import javax.swing.JList;
import javax.swing.JPanel;
import javax.swing.JProgressBar;
import javax.swing.JRootPane;
import javax.swing.JScrollBar;
import javax.swing.JScrollPane;
import javax.swing.JSeparator;
import javax.swing.JSlider;
import javax.swing.JSpinner;
import javax.swing.JSplitPane;
import javax.swing.JTable;
import javax.swing.JTree;
import javax.swing.JViewport;
import javax.swing.border.TitledBorder;
import javax.swing.text.JTextComponent;

/** The components of a window without the inner parts of controls; paths still count every level. */
final class ComponentTree {
    /** Names that Swing and AWT give to parts of their own. */
    private static final Pattern SWINGS = Pattern.compile(
            "|null\\..*|(?:OptionPane|Spinner|ComboBox|ScrollBar|TabbedPane|SplitPaneDivider|Tree|List|Table)\\..*"
                    + "|(?:frame|dialog|win|panel|canvas|button|label|list|text|choice|checkbox|scrollpane)\\d+");

    private ComponentTree() {}

    static List<Component> children(Component component, boolean internals) {
        if (internals) {
            return all(component);
        }
        if (isLeaf(component)) {
            return List.of();
        }
        if (component instanceof JScrollPane) {
            JViewport view = ((JScrollPane) component).getViewport();
            return view == null || view.getView() == null ? List.of() : List.of(view.getView());
        }
        if (component instanceof JSplitPane) {
            JSplitPane split = (JSplitPane) component;
            return List.of(split.getLeftComponent(), split.getRightComponent()).stream().filter(part -> part != null).collect(Collectors.toList());
        }
        return all(component).stream().filter(child -> !(child instanceof CellRendererPane)).collect(Collectors.toList());
    }

    static List<Component> all(Component component) {
        return component instanceof Container ? Arrays.asList(((Container) component).getComponents()) : List.of();
    }

    static boolean isLeaf(Component component) {
        return component instanceof AbstractButton || component instanceof JLabel || component instanceof JTextComponent
                || component instanceof JSlider || component instanceof JProgressBar || component instanceof JScrollBar
                || component instanceof JSeparator || component instanceof JComboBox || component instanceof JSpinner
                || component instanceof JTable || component instanceof JTree || component instanceof JList;
    }

    /** Return whether the component only lays out others: a container without name, title and content. */
    static boolean isPlain(Component component) {
        boolean arranges = component instanceof JPanel || component instanceof JRootPane || component instanceof JLayeredPane
                || component instanceof JViewport || component instanceof JScrollPane || component instanceof JSplitPane
                || component instanceof Box || component instanceof Box.Filler || component instanceof CellRendererPane
                || component.getClass() == Container.class || component.getClass() == JComponent.class;
        return arranges && id(component) == null && borderTitle(component) == null;
    }

    /** Return the title that a border shows, or null. */
    static String borderTitle(Component component) {
        boolean titled = component instanceof JComponent && ((JComponent) component).getBorder() instanceof TitledBorder;
        String title = titled ? ((TitledBorder) ((JComponent) component).getBorder()).getTitle() : null;
        return title == null || title.isEmpty() ? null : title;
    }

    /** Return the name that the program gave the component; Swing names its own parts "null.contentPane" and the like. */
    static String id(Component component) {
        String name = component.getName();
        return name == null || SWINGS.matcher(name).matches() ? null : name;
    }

    static String type(Component component) {
        Class<?> at = component.getClass();
        while (at.getSimpleName().isEmpty() || !Character.isJavaIdentifierStart(at.getSimpleName().charAt(0))) {
            at = at.getSuperclass();
        }
        return at.getSimpleName();
    }

    /** Return the path from one component down to another, every level included. */
    static String segments(Component from, Component to) {
        var path = new ArrayList<String>();
        for (Component at = to; at != null && at != from; at = at.getParent()) {
            path.add(0, type(at) + "[" + nth(at) + "]");
        }
        return String.join("/", path);
    }

    /** The paths from a component down to its children, counted while they are asked for in their order: there may be thousands. */
    static final class Segments {
        private final Component from;
        private final List<Component> all;
        private final HashMap<String, Integer> counts = new HashMap<>();
        private int next;

        Segments(Component from) {
            this.from = from;
            all = all(from);
        }

        String of(Component child) {
            while (next < all.size()) {
                Component passed = all.get(next++);
                String type = type(passed);
                int nth = counts.merge(type, 1, Integer::sum) - 1;
                if (passed == child) {
                    return type + "[" + nth + "]";
                }
            }
            return segments(from, child); // it lies deeper, or was asked for out of order
        }
    }

    static String path(Component component, Component root, int stage) {
        String below = component == root ? "" : segments(root, component);
        return "/stages[" + stage + "]/scene/root" + (below.isEmpty() ? "" : "/" + below);
    }

    static Component byPath(Component root, String below) {
        Component at = root;
        for (String part : below.split("/")) {
            if (part.isEmpty()) {
                continue;
            }
            int open = part.indexOf('[');
            String type = part.substring(0, open);
            int wanted = Integer.parseInt(part.substring(open + 1, part.length() - 1));
            List<Component> same = all(at).stream().filter(child -> type(child).equals(type)).collect(Collectors.toList());
            if (wanted >= same.size()) {
                return null;
            }
            at = same.get(wanted);
        }
        return at;
    }

    private static int nth(Component component) {
        int nth = 0;
        for (Component sibling : component.getParent() == null ? List.<Component>of() : all(component.getParent())) {
            if (sibling == component) {
                break;
            }
            nth += type(sibling).equals(type(component)) ? 1 : 0;
        }
        return nth;
    }

    static boolean within(Component inner, Component outer) {
        for (Component at = inner; at != null; at = at.getParent()) {
            if (at == outer) {
                return true;
            }
        }
        return false;
    }
}
