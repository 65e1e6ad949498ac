package uimcp.javafx;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javafx.scene.Node;
import javafx.stage.Window;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;

/** Finds the node that a reference names: by uid, else by path. */
final class NodeResolver {
    private static final Pattern PATH = Pattern.compile("/stages\\[(\\d+)\\]/scene/root((?:/[^/\\[]+\\[\\d+\\])*)");

    private NodeResolver() {}

    static Node resolve(NodeRefs refs, RequestFields ref) throws AgentException {
        String uid = ref.text("uid");
        Node found = uid == null ? null : refs.byUid(uid);
        if (found == null && ref.text("path") != null) {
            found = byPath(ref.text("path"));
        }
        if (found == null || found.getScene() == null || Windows.of(found) == null || !Windows.of(found).isShowing()) {
            throw AgentException.nodeNotFound();
        }
        return found;
    }

    private static Node byPath(String path) {
        Matcher parts = PATH.matcher(path);
        List<Window> all = Windows.showing();
        if (!parts.matches() || Integer.parseInt(parts.group(1)) >= all.size()) {
            return null;
        }
        return SceneTree.byPath(all.get(Integer.parseInt(parts.group(1))).getScene(), parts.group(2));
    }
}
