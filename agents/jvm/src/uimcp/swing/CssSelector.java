package uimcp.swing;

import java.awt.Component;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.swing.JComponent;
import uimcp.core.AgentException;

/** Selectors of the contract over components: {@code #name}, {@code .styleClass}, {@code Type}, descendants, children. */
final class CssSelector {
    private static final Pattern COMPOUND = Pattern.compile("(\\*|[\\w-]+)?((?:[.#][\\w-]+)*)");

    private final List<String> compounds = new ArrayList<>();
    private final List<Boolean> direct = new ArrayList<>();

    private CssSelector(String css) throws AgentException {
        boolean child = false;
        for (String word : css.trim().replace(">", " > ").split("\\s+")) {
            boolean combinator = word.equals(">");
            boolean valid = combinator ? !child && !compounds.isEmpty() : !word.isEmpty() && COMPOUND.matcher(word).matches();
            if (!valid) {
                throw AgentException.invalidArgument("Not a css selector: " + css);
            }
            if (!combinator) {
                compounds.add(word);
                direct.add(child);
            }
            child = combinator;
        }
        if (child) {
            throw AgentException.invalidArgument("Not a css selector: " + css);
        }
    }

    /** Return the components at and below a root that any of the selectors matches. */
    static Set<Component> matching(List<String> selectors, Component root) throws AgentException {
        Set<Component> found = Collections.newSetFromMap(new IdentityHashMap<>());
        for (String css : selectors) {
            new CssSelector(css).collect(root, found);
        }
        return found;
    }

    private void collect(Component component, Set<Component> found) {
        if (matches(component, compounds.size() - 1)) {
            found.add(component);
        }
        for (Component child : ComponentTree.all(component)) {
            collect(child, found);
        }
    }

    private boolean matches(Component component, int at) {
        if (component == null || !is(component, compounds.get(at))) {
            return false;
        }
        if (at == 0) {
            return true;
        }
        for (Component above = component.getParent(); above != null; above = above.getParent()) {
            if (matches(above, at - 1)) {
                return true;
            }
            if (direct.get(at)) {
                return false;
            }
        }
        return false;
    }

    private static boolean is(Component component, String compound) {
        Matcher parts = COMPOUND.matcher(compound);
        if (!parts.matches()) {
            return false;
        }
        String type = parts.group(1);
        if (type != null && !type.equals("*") && !type.equals(ComponentTree.type(component))) {
            return false;
        }
        for (String part : parts.group(2).split("(?=[.#])")) {
            boolean fits = part.isEmpty() || (part.charAt(0) == '#' ? part.substring(1).equals(component.getName())
                    : styleClasses(component).contains(part.substring(1)));
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    /** Style classes, which look and feels such as FlatLaf keep as a client property. */
    static List<String> styleClasses(Component component) {
        Object given = component instanceof JComponent ? ((JComponent) component).getClientProperty("FlatLaf.styleClass") : null;
        return given == null ? List.of() : List.of(given.toString().trim().split("\\s+"));
    }
}
