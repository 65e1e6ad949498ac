package uimcp.javafx;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javafx.scene.Node;
import javafx.stage.Modality;
import javafx.stage.Stage;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.HostingToolkit;
import uimcp.core.RequestFields;

/** Selects the windows that a request asks for, and describes them. */
final class Stages {
    private Stages() {}

    static List<Integer> selected(RequestFields request, List<Window> all, Window front) throws AgentException {
        Object stage = request.get("stage");
        if (stage instanceof Double) {
            int index = ((Double) stage).intValue();
            if (index < 0 || index >= all.size()) {
                throw AgentException.invalidArgument("There is no stage " + index + "; valid are 0 to " + (all.size() - 1));
            }
            return List.of(index);
        }
        Window wanted = "primary".equals(stage) ? Windows.primary(all) : front;
        var found = new ArrayList<Integer>();
        for (int index = 0; index < all.size(); index++) {
            Window window = all.get(index);
            boolean popup = !(window instanceof Stage);
            boolean included = "all".equals(stage) || window == wanted || (popup && Windows.belongs(window, wanted));
            if (included && (!popup || request.flag("popups"))) {
                found.add(index);
            }
        }
        return found;
    }

    static Map<String, Object> describe(NodeRefs refs, Window window, int index) {
        Window owner = Windows.owner(window);
        var stage = new LinkedHashMap<String, Object>();
        stage.put("index", index);
        stage.put("uid", refs.uid(window));
        stage.put("title", Windows.title(window));
        stage.put("kind", Windows.isEmbedded(window) ? HostingToolkit.EMBEDDED : window instanceof Stage ? "stage" : "popup");
        if (owner != null) {
            stage.put("owner", refs.uid(owner));
        }
        if (window instanceof Stage && ((Stage) window).getModality() != Modality.NONE) {
            stage.put("modal", true);
        }
        stage.put("showing", true);
        stage.put("focused", window.isFocused());
        stage.put("x", window.getX());
        stage.put("y", window.getY());
        stage.put("width", window.getWidth());
        stage.put("height", window.getHeight());
        stage.put("stylesheets", List.copyOf(window.getScene().getStylesheets()));
        return stage;
    }

    static Map<String, Object> focus(NodeRefs refs, List<Window> all, Window front, Node owner) {
        var written = new LinkedHashMap<String, Object>();
        written.put("stage", all.indexOf(front));
        written.put("uid", owner == null ? null : refs.uid(owner));
        written.put("path", owner == null ? null : SceneTree.path(owner, all.indexOf(front)));
        return written;
    }
}
