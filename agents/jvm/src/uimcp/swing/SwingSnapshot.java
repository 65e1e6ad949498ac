package uimcp.swing;

import java.awt.Component;
import java.awt.KeyboardFocusManager;
import java.awt.Point;
import java.awt.Rectangle;
import java.awt.Window;
import java.awt.Dialog;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.swing.JComponent;
import javax.swing.SwingUtilities;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;
import uimcp.core.Contract.RecordField;
import uimcp.core.HostingToolkit;
import uimcp.core.JsonWriter;
import uimcp.core.ProgramInfo;
import uimcp.core.RecordFields;
import uimcp.core.RequestFields;
import uimcp.core.Slices;
import uimcp.core.TreeRecord;

/** Reads windows into flat records, in short slices of the event dispatch thread. */
final class SwingSnapshot {
    /** The part of the component asked for that is meant, in its coordinates; null for all of it. */
    private Rectangle area;
    private final ComponentRefs refs;
    private final RequestFields request;
    private final Set<String> sections;
    private final boolean internals;
    private final int depth;
    private final Map<String, Object> written = new LinkedHashMap<>();
    private final List<Map<String, Object>> stages = new ArrayList<>();
    private final ArrayDeque<Entry> pending = new ArrayDeque<>();
    private final RecordFields fields = new RecordFields();
    private Component focus;

    /** A component to be read, and where its record goes. */
    private static final class Entry {
        final Component component;
        final Walk walk;
        final Entry above;
        final int parent;
        final int depth;
        final boolean hidden;
        final ComponentTree.Segments siblings;
        private boolean redacted;

        Entry(Component component, Walk walk, Entry above, int parent, int depth, boolean hidden, ComponentTree.Segments siblings) {
            this.component = component;
            this.walk = walk;
            this.above = above;
            this.parent = parent;
            this.depth = depth;
            this.hidden = hidden;
            this.siblings = siblings;
        }

        /** Return whether the component, or one that it lies in, is to be redacted; asked from the top down. */
        boolean isRedacted() {
            redacted = above != null && above.redacted;
            Component known = above == null ? null : above.component;
            for (Component at = component; !redacted && !walk.redacted.isEmpty() && at != null && at != known; at = at.getParent()) {
                redacted = CssSelector.matchesAny(walk.redacted, at);
            }
            return redacted;
        }
    }

    /** The records of one window. */
    private static final class Walk {
        final Component root;
        final List<CssSelector> matched;
        final List<CssSelector> redacted;
        final List<Record> records = new ArrayList<>();

        Walk(Component root, List<CssSelector> matched, List<CssSelector> redacted) {
            this.root = root;
            this.matched = matched;
            this.redacted = redacted;
        }
    }

    private static final class Record implements TreeRecord {
        private final Component component;
        private final String uid;
        private final String type;
        private int parent;
        private String path;
        private final Object[] fields;

        Record(Component component, String uid, String type, int parent, String path, Object[] fields) {
            this.component = component;
            this.uid = uid;
            this.type = type;
            this.parent = parent;
            this.path = path;
            this.fields = fields;
        }

        @Override
        public Object node() {
            return component;
        }

        @Override
        public String uid() {
            return uid;
        }

        @Override
        public int parent() {
            return parent;
        }

        @Override
        public String segment() {
            return path;
        }

        @Override
        public double[] boundsInScene() {
            for (int at = 0; at < fields.length; at += 2) {
                if (RecordField.BOUNDS_IN_SCENE.equals(fields[at])) {
                    return (double[]) fields[at + 1];
                }
            }
            return null;
        }

        @Override
        public void move(int offset, int host, double x, double y) {
            path = parent < 0 ? type + "[0]" : path;
            parent = parent < 0 ? host : parent + offset;
            double[] bounds = boundsInScene();
            if (bounds != null) {
                bounds[0] += x;
                bounds[1] += y;
            }
        }

        @Override
        public void write(JsonWriter out) {
            out.open();
            out.field(RecordField.UID, uid);
            out.field(RecordField.TYPE, type);
            if (parent >= 0) {
                out.field(RecordField.PARENT, parent);
                out.field(RecordField.PATH, path);
            }
            for (int at = 0; at < fields.length; at += 2) {
                out.field((String) fields[at], fields[at + 1]);
            }
            out.close();
        }
    }

    private SwingSnapshot(ComponentRefs refs, RequestFields request) {
        this.refs = refs;
        this.request = request;
        this.sections = new HashSet<>(request.strings("sections"));
        this.internals = request.flag("internals");
        this.depth = (int) request.number("depth", 10_000);
    }

    static Map<String, Object> take(ComponentRefs refs, RequestFields request, long limitMillis) throws AgentException {
        long end = System.nanoTime() + limitMillis * 1_000_000;
        var snapshot = new SwingSnapshot(refs, request);
        SwingThread.call(limitMillis, snapshot::begin);
        while (SwingThread.call(remainingMillis(end), () -> Slices.more(snapshot::read))) {
            continue;
        }
        return snapshot.written;
    }

    private static long remainingMillis(long end) throws AgentException {
        long millis = (end - System.nanoTime()) / 1_000_000;
        if (millis <= 0) {
            throw new AgentException(ErrorCode.TIMEOUT, "Reading the UI took too long");
        }
        return millis;
    }

    private Void begin() throws AgentException {
        List<Window> all = SwingWindows.requireShowing();
        Window front = SwingWindows.focused(all);
        focus = SwingInput.focusOwner(front);
        written.put("app", ProgramInfo.describe("swing", System.getProperty("java.version")));
        written.put("focus", focus(all, front));
        written.put("stages", stages);
        if (!refs.warnings().isEmpty()) {
            written.put("warnings", List.copyOf(refs.warnings()));
        }
        RequestFields root = request.object("root");
        if (root != null) {
            ComponentRefs.Target target = refs.resolve(root);
            Component component = target.component;
            area = target.area;
            int index = all.indexOf(SwingWindows.of(component));
            open(all, index, component).put("rootPath", ComponentTree.path(component, SwingWindows.root(all.get(index)), index));
        } else {
            for (int index : selected(all, front)) {
                open(all, index, SwingWindows.root(all.get(index)));
            }
        }
        return null;
    }

    private Map<String, Object> focus(List<Window> all, Window front) {
        var found = new LinkedHashMap<String, Object>();
        int stage = all.indexOf(front);
        found.put("stage", stage);
        boolean known = focus != null && SwingWindows.of(focus) == front;
        found.put("uid", known ? refs.uid(focus) : null);
        found.put("path", known ? ComponentTree.path(focus, SwingWindows.root(front), stage) : null);
        return found;
    }

    private List<Integer> selected(List<Window> all, Window front) throws AgentException {
        Object stage = request.get("stage");
        if (stage instanceof Double) {
            int index = ((Double) stage).intValue();
            if (index < 0 || index >= all.size()) {
                throw AgentException.invalidArgument("There is no stage " + index + "; valid are 0 to " + (all.size() - 1));
            }
            return List.of(index);
        }
        Window wanted = "primary".equals(stage) ? SwingWindows.primary(all) : front;
        var found = new ArrayList<Integer>();
        for (int index = 0; index < all.size(); index++) {
            Window window = all.get(index);
            boolean popup = !SwingWindows.isStage(window);
            boolean included = "all".equals(stage) || window == wanted || (popup && SwingWindows.belongs(window, wanted));
            if (included && (!popup || request.flag("popups"))) {
                found.add(index);
            }
        }
        return found;
    }

    private Map<String, Object> open(List<Window> all, int index, Component root) throws AgentException {
        Window window = all.get(index);
        String css = request.text("css");
        var walk = new Walk(SwingWindows.root(window), CssSelector.parse(css == null ? List.of() : List.of(css)),
                CssSelector.parse(request.strings("redact")));
        Map<String, Object> stage = describe(window, index);
        if (request.flag(HostingToolkit.FOCUS_OWNER)) {
            Component owner = SwingInput.focusOwner(window);
            stage.put(HostingToolkit.FOCUS_OWNER, owner == null ? null : refs.uid(owner));
        }
        stage.put("nodes", walk.records);
        stages.add(stage);
        pending.add(new Entry(root, walk, null, -1, 0, !root.isShowing(), null));
        return stage;
    }

    private Map<String, Object> describe(Window window, int index) {
        var stage = new LinkedHashMap<String, Object>();
        stage.put("index", index);
        stage.put("uid", refs.uid(window));
        stage.put("title", SwingWindows.title(window));
        stage.put("kind", SwingWindows.isEmbedded(window) ? HostingToolkit.EMBEDDED : SwingWindows.isStage(window) ? "stage" : "popup");
        if (window.getOwner() != null && window.getOwner().isShowing()) {
            stage.put("owner", refs.uid(window.getOwner()));
        }
        if (window instanceof Dialog && ((Dialog) window).isModal()) {
            stage.put("modal", true);
        }
        stage.put("showing", true);
        stage.put("focused", window.isFocused());
        stage.put("x", window.getX());
        stage.put("y", window.getY());
        stage.put("width", window.getWidth());
        stage.put("height", window.getHeight());
        stage.put("stylesheets", List.of());
        return stage;
    }

    /** Read one component; return false if none is left. */
    private boolean read() {
        Entry entry = pending.poll();
        if (entry == null) {
            return false;
        }
        Component component = entry.component;
        String uid = refs.uid(component);
        String path = entry.siblings == null ? null : entry.siblings.of(component);
        boolean redacted = entry.isRedacted();
        identity(component);
        Texts.states(component, fields, component == focus);
        if (redacted) {
            fields.put(RecordField.MASKED, true);
        } else {
            Texts.content(component, fields);
        }
        flags(entry);
        bounds(entry);
        extras(component, redacted);
        SwingRows rows = sections.contains("virtualization") ? SwingRows.of(component) : null;
        if (rows != null) {
            fields.put(RecordField.VIRTUALIZATION, rows.describe(uid, refs, redacted));
        }
        int index = entry.walk.records.size();
        entry.walk.records.add(null);
        descend(entry, index);
        entry.walk.records.set(index, new Record(component, uid, ComponentTree.type(component), entry.parent, path, fields.take()));
        return true;
    }

    private void identity(Component component) {
        fields.text(RecordField.MODULE, component.getClass().getModule().getName());
        fields.text(RecordField.ID, ComponentTree.id(component));
        List<String> classes = CssSelector.styleClasses(component);
        if (!classes.isEmpty()) {
            fields.put(RecordField.STYLE_CLASS, classes);
        }
        if (!component.isVisible()) {
            fields.put(RecordField.VISIBLE, false);
        }
        if (!SwingActionability.enabled(component)) {
            fields.put(RecordField.DISABLED, true);
        }
    }

    private void flags(Entry entry) {
        if (entry.hidden) {
            fields.put(RecordField.SHOWN, false);
        }
        if (ComponentTree.isPlain(entry.component)) {
            fields.put(RecordField.PLAIN, 1);
        }
        if (CssSelector.matchesAny(entry.walk.matched, entry.component)) {
            fields.put(RecordField.MATCHED, 1);
        }
    }

    private void bounds(Entry entry) {
        boolean inScene = sections.contains("bounds");
        boolean onScreen = sections.contains("localToScreen");
        if (!inScene && !onScreen) {
            return;
        }
        Component component = entry.component;
        Component root = entry.walk.root;
        Point origin = component == root ? new Point() : SwingUtilities.convertPoint(component, 0, 0, root);
        Rectangle own = component.getBounds();
        if (area != null && entry.depth == 0) { // a row or header, which has no component of its own
            own = area;
            origin.translate(area.x, area.y);
        }
        if (inScene) {
            boolean top = component == root;
            fields.put(RecordField.BOUNDS_IN_PARENT, box(top ? 0 : own.x, top ? 0 : own.y, own));
            fields.put(RecordField.BOUNDS_IN_SCENE, box(origin.x, origin.y, own));
        }
        if (onScreen && root.isShowing()) {
            Point screen = root.getLocationOnScreen();
            fields.put(RecordField.BOUNDS_ON_SCREEN, box(origin.x + screen.x, origin.y + screen.y, own));
        }
    }

    private static double[] box(double x, double y, Rectangle size) {
        return new double[] {x, y, size.width, size.height};
    }

    private void extras(Component component, boolean redacted) {
        if (sections.contains("accessibility") && component.getAccessibleContext() != null) {
            String role = component.getAccessibleContext().getAccessibleRole().toDisplayString(java.util.Locale.ENGLISH);
            fields.text(RecordField.ROLE, role.toUpperCase(java.util.Locale.ENGLISH).replace("PUSH BUTTON", "BUTTON").replace(' ', '_'));
            fields.text(RecordField.HELP, redacted ? null : component.getAccessibleContext().getAccessibleDescription());
        }
        if (sections.contains("properties") && !redacted && component instanceof JComponent) {
            fields.text(RecordField.TOOLTIP, ((JComponent) component).getToolTipText());
        }
        if (sections.contains("reach")) {
            fields.put(RecordField.REACH, SwingActionability.describe(refs, component));
        }
    }

    private void descend(Entry entry, int index) {
        List<Component> children = ComponentTree.children(entry.component, internals);
        if (entry.depth >= depth) {
            if (!children.isEmpty()) {
                fields.put(RecordField.CHILDREN_TRUNCATED, children.size());
            }
            return;
        }
        boolean hidden = entry.hidden || !entry.component.isVisible();
        var siblings = new ComponentTree.Segments(entry.component);
        for (int at = children.size() - 1; at >= 0; at--) {
            pending.push(new Entry(children.get(at), entry.walk, entry, index, entry.depth + 1, hidden, siblings));
        }
    }
}
