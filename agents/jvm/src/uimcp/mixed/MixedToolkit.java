package uimcp.mixed;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;
import uimcp.core.HostingToolkit;
import uimcp.core.PersonWatch;
import uimcp.core.RequestFields;
import uimcp.core.Toolkit;
import uimcp.javafx.JavaFxToolkit;
import uimcp.swing.SwingToolkit;

/**
 * JavaFX and Swing in one program as one tree. Each toolkit is asked on its own thread, one after the other: neither
 * thread ever waits for the other, which is how such programs come to a deadlock.
 */
final class MixedToolkit implements Toolkit {
    /** Asks for the tree and nothing of its nodes. */
    private static final RequestFields WHOLE = new RequestFields(Map.of("sections", List.of(), HostingToolkit.FOCUS_OWNER, true));
    private static final RequestFields WINDOWS = WHOLE.with("depth", 0.0);

    private final JavaFxToolkit fx = new JavaFxToolkit();
    /** What was operated last: a person's click would have given its window the focus, events alone do not. */
    private volatile String lastTarget;
    private final SwingToolkit swing = new SwingToolkit("s");
    /** The hosts seen last, by the uids of the windows that they show. */
    private final Map<String, Host> hosts = new ConcurrentHashMap<>();

    /** A node that shows a window of the other toolkit. */
    static final class Host {
        final String uid;
        final WeakReference<Object> node;

        Host(String uid, Object node) {
            this.uid = uid;
            this.node = new WeakReference<>(node);
        }
    }

    @Override
    public Map<String, Object> capture(RequestFields request, long limitMillis) throws AgentException {
        if (!swing.isUsed()) {
            return fx.capture(request, limitMillis);
        }
        RequestFields root = request.object("root");
        return root == null ? read(request, limitMillis).capture(request) : subtree(request, byUid(root, limitMillis), limitMillis);
    }

    private MixedCapture read(RequestFields request, long limitMillis) throws AgentException {
        RequestFields all = request.with("stage", "all").with("popups", true).with("root", null).with(HostingToolkit.FOCUS_OWNER, true);
        var merged = new MixedCapture();
        merged.add(fx, stages(fx, all, limitMillis));
        merged.add(swing, stages(swing, all, limitMillis));
        merged.join(fx, swing, hosts, limitMillis);
        return merged;
    }

    /** Read one node and what is below it; only the whole tree tells the path to it. */
    private Map<String, Object> subtree(RequestFields request, RequestFields root, long limitMillis) throws AgentException {
        String path = read(WHOLE, limitMillis).pathOf(root.text("uid"));
        HostingToolkit owner = owner(root, limitMillis);
        HostingToolkit other = owner == fx ? swing : fx;
        var merged = new MixedCapture();
        merged.addRoot(owner, owner.capture(request.with("root", root.map()), limitMillis), path);
        merged.addEmbedded(other, stages(other, request.with("stage", "all").with("popups", true).with("root", null), limitMillis));
        merged.join(fx, swing, hosts, limitMillis);
        return merged.capture(request);
    }

    /** Return null if the toolkit shows no window. */
    private static Map<String, Object> stages(HostingToolkit toolkit, RequestFields request, long limitMillis) throws AgentException {
        try {
            return toolkit.capture(request, limitMillis);
        } catch (AgentException refused) {
            if (refused.hasCode(ErrorCode.NO_STAGES)) {
                return null;
            }
            throw refused;
        }
    }

    private HostingToolkit owner(RequestFields ref, long limitMillis) throws AgentException {
        String uid = ref == null ? null : ref.text("uid");
        return uid != null && swing.isUsed() && swing.owns(uid, limitMillis) ? swing : fx;
    }

    /** Return a reference by uid for one that has only a path, which may lead from one toolkit into the other. */
    private RequestFields byUid(RequestFields ref, long limitMillis) throws AgentException {
        if (ref.text("uid") != null || ref.text("path") == null) {
            return ref;
        }
        String uid = read(WHOLE, limitMillis).uidAt(ref.text("path"));
        if (uid == null) {
            throw AgentException.nodeNotFound();
        }
        return ref.with("uid", uid);
    }

    @Override
    public void tell(List<String> rowUids) {
        fx.tell(rowUids);
        swing.tell(rowUids);
    }

    @Override
    public void act(RequestFields action, long limitMillis) throws AgentException {
        if (!swing.isUsed()) {
            fx.act(action, limitMillis);
            return;
        }
        RequestFields known = action;
        for (String key : List.of("target", "from", "to")) {
            RequestFields ref = action.object(key);
            known = ref == null ? known : known.with(key, byUid(ref, limitMillis).map());
        }
        RequestFields ref = known.object("target") == null ? known.object("from") : known.object("target");
        if (ref == null || ref.text("uid") == null) {
            actUntargeted(known, ref == null ? known : ref, limitMillis);
            return;
        }
        HostingToolkit owner = owner(ref, limitMillis);
        revealHost(owner, ref, limitMillis);
        owner.act(known, limitMillis);
        lastTarget = ref.text("uid").replaceAll(":[rh].*", "");
    }

    /** Presses go to the window at their point, and its hosts pass them on; keys go to what has the focus. */
    private void actUntargeted(RequestFields action, RequestFields point, long limitMillis) throws AgentException {
        if (point.get("x") != null) {
            boolean inSwing = swing.hasWindowAt(point.number("x", -1), point.number("y", -1), limitMillis);
            (inSwing ? swing : fx).act(action, limitMillis);
            return;
        }
        MixedCapture now = read(WHOLE, limitMillis);
        MixedCapture.Window window = now.windowAfter(lastTarget);
        Object focus = now.focusIn(window);
        if (focus == null) {
            window.toolkit.act(action, limitMillis);
            return;
        }
        RequestFields targeted = action.with("target", Map.of("uid", focus));
        try {
            owner(targeted.object("target"), limitMillis).act(targeted, limitMillis);
        } catch (AgentException refused) {
            if (!refused.hasReason("NOT_FOCUSABLE")) {
                throw refused;
            }
            window.toolkit.act(action, limitMillis);
        }
    }

    /** What a person cannot reach in the toolkit around it cannot be operated, whatever its own toolkit says. */
    private void revealHost(HostingToolkit owner, RequestFields ref, long limitMillis) throws AgentException {
        HostingToolkit.Embedded place = owner.embedded(ref, limitMillis);
        Host held = place == null ? null : hosts.get(place.window);
        Object host = held == null ? null : held.node.get();
        if (host != null) {
            (owner == fx ? swing : fx).reveal(host, place.box, limitMillis);
        }
    }

    @Override
    public void idle(long limitMillis) throws AgentException {
        // Input to a host is queued for the other thread, and what it draws comes back: hence both, and the first again.
        fx.idle(limitMillis);
        if (swing.isUsed()) {
            swing.idle(limitMillis);
            fx.idle(limitMillis);
            swing.idle(limitMillis);
        }
    }

    @Override
    public Map<String, Object> screenshot(RequestFields request, long limitMillis) throws AgentException {
        if (!swing.isUsed()) {
            return fx.screenshot(request, limitMillis);
        }
        RequestFields ref = request.object("ref");
        if (ref != null) {
            RequestFields known = byUid(ref, limitMillis);
            return owner(known, limitMillis).screenshot(request.with("ref", known.map()), limitMillis);
        }
        MixedCapture.Window window = read(WINDOWS, limitMillis).window(request.get("stage"));
        return window.toolkit.screenshot(request.with("stage", (double) window.ownIndex), limitMillis);
    }

    @Override
    public Map<String, Object> elementAt(double screenX, double screenY, long limitMillis) throws AgentException {
        if (!swing.isUsed()) {
            return fx.elementAt(screenX, screenY, limitMillis);
        }
        boolean inSwing = swing.hasWindowAt(screenX, screenY, limitMillis);
        HostingToolkit outer = inSwing ? swing : fx;
        HostingToolkit inner = inSwing ? fx : swing;
        var chain = new ArrayList<Object>((List<?>) outer.elementAt(screenX, screenY, limitMillis).get("chain"));
        Object innermost = ((Map<?, ?>) chain.get(0)).get("uid");
        if (hosts.values().stream().anyMatch(host -> host.uid.equals(innermost))) {
            chain.addAll(0, (List<?>) inner.elementAt(screenX, screenY, limitMillis).get("chain"));
        }
        return Map.of("chain", chain);
    }

    @Override
    public void watch(PersonWatch watch, long limitMillis) throws AgentException {
        fx.watch(watch, limitMillis);
        if (swing.isUsed()) {
            swing.watch(watch, limitMillis);
        }
    }
}
