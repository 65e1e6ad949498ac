package uimcp.javafx;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import javafx.scene.Node;
import uimcp.core.AgentException;
import uimcp.core.HostingToolkit;
import uimcp.core.PersonWatch;
import uimcp.core.RequestFields;

/** JavaFX, as the server sees it. */
public final class JavaFxToolkit implements HostingToolkit {
    private static final long ANIMATION_NANOS = 500_000_000;

    private final NodeRefs refs = new NodeRefs();
    private PersonEvents person;

    @Override
    public Map<String, Object> capture(RequestFields request, long limitMillis) throws AgentException {
        return Snapshot.take(refs, request, limitMillis);
    }

    @Override
    public void tell(List<String> rowUids) {
        refs.tell(rowUids);
    }

    @Override
    public void act(RequestFields action, long limitMillis) throws AgentException {
        if (NativePointer.handles(action)) {
            NativePointer.perform(refs, action, limitMillis);
            return;
        }
        Callable<Void> work = prepared(action, limitMillis);
        try {
            FxThread.start(limitMillis, work);
        } catch (AgentException refused) {
            if (!refused.hasReason(Actions.NEEDS_POINTER)) {
                throw refused;
            }
            NativePointer.perform(refs, action, limitMillis);
        }
    }

    /** Check an action; while what covers its target is moving or fading, check again, up to half a second. */
    private Callable<Void> prepared(RequestFields action, long limitMillis) throws AgentException {
        long end = System.nanoTime() + ANIMATION_NANOS;
        while (true) {
            try {
                return FxThread.call(limitMillis, () -> new Actions(refs, action).prepare());
            } catch (AgentException refused) {
                if (System.nanoTime() >= end || !changing(refused, limitMillis)) {
                    throw refused;
                }
            }
        }
    }

    private boolean changing(AgentException refused, long limitMillis) throws AgentException {
        String covering = refused.coveredBy();
        if (covering == null) {
            return false;
        }
        List<Double> before = FxThread.call(limitMillis, () -> placement(covering));
        FxThread.idle(limitMillis);
        return !before.equals(FxThread.call(limitMillis, () -> placement(covering)));
    }

    private List<Double> placement(String uid) throws AgentException {
        Node node = refs.byUid(uid);
        return node == null ? List.of() : Actionability.placement(node);
    }

    @Override
    public boolean owns(String uid, long limitMillis) throws AgentException {
        return FxThread.call(limitMillis, () -> refs.owns(uid));
    }

    @Override
    public boolean isHost(Object node) {
        return Embedding.isA(node, "javafx.embed.swing.JFXPanel");
    }

    @Override
    public String windowIn(Object host, long limitMillis) throws AgentException {
        return FxThread.call(limitMillis, () -> Embedding.windowIn(refs, host));
    }

    @Override
    public Embedded embedded(RequestFields ref, long limitMillis) throws AgentException {
        return FxThread.call(limitMillis, () -> Embedding.place(refs, NodeResolver.resolve(refs, ref)));
    }

    @Override
    public void reveal(Object host, double[] box, long limitMillis) throws AgentException {
        FxThread.call(limitMillis, Actions.work(() -> Embedding.reveal(refs, (Node) host, box)));
    }

    @Override
    public boolean hasWindowAt(double screenX, double screenY, long limitMillis) throws AgentException {
        return FxThread.call(limitMillis, () -> Embedding.hasWindowAt(screenX, screenY));
    }

    @Override
    public void idle(long limitMillis) throws AgentException {
        FxThread.idle(limitMillis);
    }

    @Override
    public Map<String, Object> screenshot(RequestFields request, long limitMillis) throws AgentException {
        return Screenshots.take(refs, request, limitMillis);
    }

    @Override
    public Map<String, Object> elementAt(double screenX, double screenY, long limitMillis) throws AgentException {
        return FxThread.call(limitMillis, () -> Actionability.chainAt(refs, screenX, screenY));
    }

    @Override
    public void watch(PersonWatch watch, long limitMillis) throws AgentException {
        FxThread.call(limitMillis, () -> {
            if (person != null) {
                person.stop();
            }
            person = watch == null ? null : new PersonEvents(refs, watch);
            if (person != null) {
                person.start();
            }
            return null;
        });
    }
}
