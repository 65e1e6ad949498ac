package uimcp.mixed;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;
import uimcp.core.HostingToolkit;
import uimcp.core.RequestFields;
import uimcp.core.TreeRecord;

/** Makes one capture of those of two toolkits: windows in one order, and what a host shows below that host. */
final class MixedCapture {
    /** A window that is not embedded. */
    static final class Window {
        final HostingToolkit toolkit;
        /** Its number among the windows of its toolkit. */
        final int ownIndex;
        final Map<String, Object> stage;

        Window(HostingToolkit toolkit, Map<String, Object> stage) {
            this.toolkit = toolkit;
            this.ownIndex = (Integer) stage.get("index");
            this.stage = stage;
        }

        boolean is(String state) {
            return Boolean.TRUE.equals(stage.get(state));
        }

        boolean has(String uid) {
            return nodes().stream().anyMatch(record -> ((TreeRecord) record).uid().equals(uid));
        }

        boolean isPopup() {
            return "popup".equals(stage.get("kind"));
        }

        /** In document order, but for what other toolkits show: that comes after all of its own. */
        @SuppressWarnings("unchecked")
        List<Object> nodes() {
            return (List<Object>) stage.get("nodes");
        }
    }

    private final List<Window> windows = new ArrayList<>();
    private final Map<String, Map<String, Object>> embedded = new HashMap<>();
    private final Map<HostingToolkit, Map<String, Object>> captures = new LinkedHashMap<>();
    /** What has the focus in an embedded window, by the host that shows it. */
    private final Map<String, Object> focusBelow = new HashMap<>();

    /** Add all windows of a toolkit; null if it shows none. */
    void add(HostingToolkit toolkit, Map<String, Object> capture) {
        if (capture == null) {
            return;
        }
        addEmbedded(toolkit, capture);
        for (Map<String, Object> stage : stages(capture)) {
            if (!HostingToolkit.EMBEDDED.equals(stage.get("kind"))) {
                windows.add(new Window(toolkit, stage));
            }
        }
        windows.sort(Comparator.comparing(Window::isPopup).thenComparing(window -> window.isPopup() ? "" : String.valueOf(window.stage.get("title"))));
        for (int at = 0; at < windows.size(); at++) {
            windows.get(at).stage.put("index", at);
        }
    }

    /** Add the capture of one node, whose path is known. */
    void addRoot(HostingToolkit toolkit, Map<String, Object> capture, String path) {
        captures.put(toolkit, capture);
        for (Map<String, Object> stage : stages(capture)) {
            windows.add(new Window(toolkit, stage));
            if (path != null) {
                stage.put("rootPath", path);
                stage.put("index", Integer.parseInt(path.replaceAll("/stages\\[(\\d+)\\].*", "$1")));
            }
        }
    }

    /** Keep what hosts may show; null if the toolkit shows nothing. */
    void addEmbedded(HostingToolkit toolkit, Map<String, Object> capture) {
        if (capture != null) {
            captures.putIfAbsent(toolkit, capture);
        }
        for (Map<String, Object> stage : capture == null ? List.<Map<String, Object>>of() : stages(capture)) {
            if (HostingToolkit.EMBEDDED.equals(stage.get("kind"))) {
                embedded.put((String) stage.get("uid"), stage);
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> stages(Map<String, Object> capture) {
        return (List<Map<String, Object>>) capture.get("stages");
    }

    /** Put what each host shows below it, also in what another host shows. */
    void join(HostingToolkit one, HostingToolkit other, Map<String, MixedToolkit.Host> hosts, long limitMillis) throws AgentException {
        for (Window window : windows) {
            List<Object> nodes = window.nodes();
            for (int at = 0; at < nodes.size(); at++) {
                TreeRecord record = (TreeRecord) nodes.get(at);
                HostingToolkit inner = one.isHost(record.node()) ? one : other.isHost(record.node()) ? other : null;
                String shown = inner == null ? null : inner.windowIn(record.node(), limitMillis);
                if (shown != null) {
                    hosts.put(shown, new MixedToolkit.Host(record.uid(), record.node()));
                    append(nodes, at, embedded.remove(shown));
                }
            }
        }
    }

    private void append(List<Object> nodes, int host, Map<String, Object> stage) {
        int offset = nodes.size();
        if (stage != null) {
            focusBelow.put(((TreeRecord) nodes.get(host)).uid(), stage.get(HostingToolkit.FOCUS_OWNER));
        }
        double[] place = ((TreeRecord) nodes.get(host)).boundsInScene();
        for (Object record : stage == null ? List.of() : (List<?>) stage.get("nodes")) {
            ((TreeRecord) record).move(offset, host, place == null ? 0 : place[0], place == null ? 0 : place[1]);
            nodes.add(record);
        }
    }

    /** Return the window with a number, or the one in front. */
    Window window(Object stage) throws AgentException {
        if (windows.isEmpty()) {
            throw new AgentException(ErrorCode.NO_STAGES, "The program shows no window");
        }
        if (!(stage instanceof Double)) {
            return front();
        }
        int index = ((Double) stage).intValue();
        if (index < 0 || index >= windows.size()) {
            throw AgentException.invalidArgument("There is no stage " + index + "; valid are 0 to " + (windows.size() - 1));
        }
        return windows.get(index);
    }

    private Window front() {
        Window first = windows.get(0);
        return windows.stream().filter(window -> window.is("modal") && !window.isPopup()).reduce((one, later) -> later)
                .or(() -> windows.stream().filter(window -> window.is("focused") && !window.isPopup()).findFirst()).orElse(first);
    }

    Map<String, Object> capture(RequestFields request) throws AgentException {
        Object stage = request.get("stage");
        Window front = window(request.object("root") == null ? stage : null);
        var written = new LinkedHashMap<String, Object>(captures.get(front.toolkit));
        var chosen = new ArrayList<Object>();
        for (Window window : windows) {
            boolean owned = window.isPopup() && request.flag("popups") && Objects.equals(window.stage.get("owner"), front.stage.get("uid"));
            boolean all = "all".equals(stage) && (!window.isPopup() || request.flag("popups"));
            if (window == front || (!(stage instanceof Double) && (owned || all))) {
                chosen.add(window.stage);
            }
        }
        Window focused = stage instanceof Double ? front() : front;
        var focus = new LinkedHashMap<String, Object>();
        focus.put("stage", focused.stage.get("index"));
        focus.put("uid", focusIn(focused));
        windows.forEach(window -> window.stage.remove(HostingToolkit.FOCUS_OWNER));
        written.put("stages", chosen);
        written.put("focus", focus);
        captures.values().stream().filter(capture -> Boolean.FALSE.equals(capture.get("consistent"))).forEach(capture -> written.put("consistent", false));
        return written;
    }

    /** Return what gets keys in a window; a host that has the focus gives it to a node of what it shows. */
    Object focusIn(Window window) {
        Object uid = window.stage.get(HostingToolkit.FOCUS_OWNER);
        while (focusBelow.get(uid) != null) {
            uid = focusBelow.get(uid);
        }
        return uid;
    }

    /** Return the window that a person who has just operated a node would write in. */
    Window windowAfter(String uid) throws AgentException {
        Window front = window(null);
        boolean known = uid != null && !front.is("modal");
        return known ? windows.stream().filter(window -> window.has(uid)).findFirst().orElse(front) : front;
    }

    /** Return null if there is no such node. */
    String pathOf(String uid) {
        String control = uid.replaceAll(":[rh].*", "");
        return find((record, path) -> record.uid().equals(control) ? path : null);
    }

    /** Return null if there is no such node. */
    String uidAt(String wanted) {
        return find((record, path) -> path.equals(wanted) ? record.uid() : null);
    }

    private interface Search {
        String result(TreeRecord record, String path);
    }

    private String find(Search search) {
        for (Window window : windows) {
            var paths = new ArrayList<String>();
            for (Object node : window.nodes()) {
                TreeRecord record = (TreeRecord) node;
                String path = record.parent() < 0 ? "/stages[" + window.stage.get("index") + "]/scene/root"
                        : paths.get(record.parent()) + "/" + record.segment();
                paths.add(path);
                if (search.result(record, path) != null) {
                    return search.result(record, path);
                }
            }
        }
        return null;
    }
}
