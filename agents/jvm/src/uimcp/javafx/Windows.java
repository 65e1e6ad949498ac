package uimcp.javafx;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javafx.scene.Node;
import javafx.scene.Scene;
import javafx.stage.Modality;
import javafx.stage.PopupWindow;
import javafx.stage.Stage;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;

/** The windows on screen, in the contract's order: stages by title, then popups. */
final class Windows {
    private static final Comparator<Window> BY_TITLE = Comparator.comparing(Windows::title).thenComparing(Object::hashCode);

    private Windows() {}

    static List<Window> showing() {
        var stages = new ArrayList<Window>();
        var popups = new ArrayList<Window>();
        for (Window window : Window.getWindows()) {
            if (window.isShowing() && window.getScene() != null) {
                (window instanceof Stage ? stages : popups).add(window);
            }
        }
        stages.sort(BY_TITLE);
        stages.addAll(popups);
        return stages;
    }

    static List<Window> requireShowing() throws AgentException {
        List<Window> all = showing();
        if (all.isEmpty()) {
            throw new AgentException(ErrorCode.NO_STAGES, "The program shows no window");
        }
        return all;
    }

    static String title(Window window) {
        String title = window instanceof Stage ? ((Stage) window).getTitle() : null;
        return title == null ? "" : title;
    }

    /** Return the focused stage, else the first one, or the modal dialog that blocks it. */
    static Window focused(List<Window> all) {
        Window front = all.get(0);
        for (Window window : all) {
            if (window instanceof Stage && window.isFocused()) {
                front = window;
                break;
            }
        }
        for (Stage modal = blocking(front); modal != null; modal = blocking(front)) {
            front = modal;
        }
        return front;
    }

    static Window primary(List<Window> all) {
        for (Window window : Window.getWindows()) {
            if (window.isShowing() && window instanceof Stage && ((Stage) window).getOwner() == null) {
                return window;
            }
        }
        return all.get(0);
    }

    static Window owner(Window window) {
        if (window instanceof PopupWindow) {
            return ((PopupWindow) window).getOwnerWindow();
        }
        return window instanceof Stage ? ((Stage) window).getOwner() : null;
    }

    /** Return the modal dialog that blocks input to a window, or null. */
    static Stage blocking(Window window) {
        for (Window other : Window.getWindows()) {
            if (other == window || !other.isShowing() || !(other instanceof Stage)) {
                continue;
            }
            Stage modal = (Stage) other;
            boolean all = modal.getModality() == Modality.APPLICATION_MODAL;
            boolean owned = modal.getModality() == Modality.WINDOW_MODAL && belongs(modal, window);
            if ((all || owned) && !belongs(window, modal)) {
                return modal;
            }
        }
        return null;
    }

    static boolean belongs(Window window, Window owner) {
        for (Window at = window; at != null; at = owner(at)) {
            if (at == owner) {
                return true;
            }
        }
        return false;
    }

    /** Return whether a JFXPanel shows the window; that class of JavaFX is not public. */
    static boolean isEmbedded(Window window) {
        return window != null && window.getClass().getName().endsWith(".EmbeddedWindow");
    }

    static Window of(Node node) {
        Scene scene = node.getScene();
        return scene == null ? null : scene.getWindow();
    }
}
