package uimcp.swing;

import java.awt.Component;
import java.util.ArrayList;
import java.util.List;
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

    static List<CssSelector> parse(List<String> selectors) throws AgentException {
        var made = new ArrayList<CssSelector>();
        for (String css : selectors) {
            made.add(new CssSelector(css));
        }
        return made;
    }

    static boolean matchesAny(List<CssSelector> selectors, Component component) {
        return selectors.stream().anyMatch(selector -> selector.matches(component, selector.compounds.size() - 1));
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
