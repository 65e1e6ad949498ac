package uimcp.swing;

import java.awt.Component;
import java.awt.Dialog;
import java.awt.Frame;
import java.awt.Window;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import javax.swing.RootPaneContainer;
import javax.swing.SwingUtilities;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;

/** The windows on screen, in the contract's order: frames and dialogs by title, then popups. */
final class SwingWindows {
    private SwingWindows() {}

    static List<Window> showing() {
        var all = Arrays.stream(Window.getWindows()).filter(SwingWindows::isShown).collect(Collectors.toList());
        var found = all.stream().filter(SwingWindows::isStage)
                .sorted(Comparator.comparing(SwingWindows::title))
                .collect(Collectors.toCollection(ArrayList::new));
        all.stream().filter(window -> !isStage(window)).forEach(found::add);
        return found;
    }

    static List<Window> requireShowing() throws AgentException {
        List<Window> all = showing();
        if (all.isEmpty()) {
            throw new AgentException(ErrorCode.NO_STAGES, "The program shows no window");
        }
        return all;
    }

    private static boolean isShown(Window window) {
        return window.isShowing() && window.getWidth() > 0;
    }

    static boolean isStage(Window window) {
        return window instanceof Frame || window instanceof Dialog;
    }

    static String title(Window window) {
        String title = window instanceof Frame ? ((Frame) window).getTitle()
                : window instanceof Dialog ? ((Dialog) window).getTitle() : null;
        return title == null ? "" : title;
    }

    /** Return what the tree of a window begins with. */
    static Component root(Window window) {
        return window instanceof RootPaneContainer ? ((RootPaneContainer) window).getRootPane() : window;
    }

    /** Return the focused window, else the first one, or the modal dialog that blocks it. */
    static Window focused(List<Window> all) {
        Window front = all.stream().filter(window -> isStage(window) && window.isFocused()).findFirst().orElse(all.get(0));
        Dialog modal = blocking(front);
        return modal == null ? front : modal;
    }

    static Window primary(List<Window> all) {
        for (Window window : Window.getWindows()) {
            if (isShown(window) && window instanceof Frame) {
                return window;
            }
        }
        return all.get(0);
    }

    /** Return the modal dialog that blocks input to a window, or null; of several, the one opened last. */
    static Dialog blocking(Window window) {
        Dialog found = null;
        for (Window other : Window.getWindows()) {
            if (isShown(other) && other instanceof Dialog && ((Dialog) other).isModal() && blocks((Dialog) other, window)) {
                found = (Dialog) other;
            }
        }
        return found == null || belongs(window, found) ? null : found;
    }

    private static boolean blocks(Dialog modal, Window window) {
        return modal.getModalityType() != Dialog.ModalityType.DOCUMENT_MODAL || top(modal) == top(window);
    }

    static boolean belongs(Window window, Window owner) {
        for (Window at = window; at != null; at = at.getOwner()) {
            if (at == owner) {
                return true;
            }
        }
        return false;
    }

    private static Window top(Window window) {
        Window at = window;
        while (at.getOwner() != null) {
            at = at.getOwner();
        }
        return at;
    }

    /** Return whether a SwingNode shows the window; that class of the JDK is not public. */
    static boolean isEmbedded(Window window) {
        return window != null && window.getClass().getName().endsWith("LightweightFrame");
    }

    static Window of(Component component) {
        return component instanceof Window ? (Window) component : SwingUtilities.getWindowAncestor(component);
    }
}
