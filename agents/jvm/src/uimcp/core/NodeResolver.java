package uimcp.core;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javafx.scene.Node;
import javafx.stage.Window;

/** Resolves references: uid first, path as a fallback. */
final class NodeResolver {
    private static final Pattern PATH = Pattern.compile("/stages\\[(\\d+)\\]/scene/root((?:/[^/\\[]+\\[\\d+\\])*)");

    private NodeResolver() {}

    static Node node(Refs refs, Map<String, Object> ref) throws AgentException {
        String uid = RequestFields.text(ref, "uid");
        Node found = uid == null ? null : refs.byUid(uid);
        if (found == null && RequestFields.text(ref, "path") != null) {
            found = byPath(RequestFields.text(ref, "path"));
        }
        if (found == null || found.getScene() == null || Windows.of(found) == null || !Windows.of(found).isShowing()) {
            throw AgentException.missing();
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
