package uimcp.swing;

import java.awt.Component;
import java.awt.Rectangle;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;
import uimcp.core.Toolkit;

/** Swing and AWT, as the server sees them. */
final class SwingToolkit implements Toolkit {
    private static final long ANIMATION_NANOS = 500_000_000;
    private static final long FRAME_MILLIS = 30;

    private final ComponentRefs refs = new ComponentRefs();

    @Override
    public Map<String, Object> capture(RequestFields request, long limitMillis) throws AgentException {
        return SwingSnapshot.take(refs, request, limitMillis);
    }

    @Override
    public void tell(List<String> rowUids) {
        refs.tell(rowUids);
    }

    @Override
    public void act(RequestFields action, long limitMillis) throws AgentException {
        SwingThread.start(limitMillis, prepared(action, limitMillis));
    }

    /** Check an action; while what covers its target is moving, check again, up to half a second. */
    private Callable<Void> prepared(RequestFields action, long limitMillis) throws AgentException {
        long end = System.nanoTime() + ANIMATION_NANOS;
        while (true) {
            try {
                return SwingThread.call(limitMillis, () -> new SwingActions(refs, action).prepare());
            } catch (AgentException refused) {
                if (System.nanoTime() >= end || refused.coveredBy() == null || !moving(refused.coveredBy(), limitMillis)) {
                    throw refused;
                }
            }
        }
    }

    private boolean moving(String uid, long limitMillis) throws AgentException {
        Rectangle before = SwingThread.call(limitMillis, () -> place(uid));
        try {
            Thread.sleep(FRAME_MILLIS); // Swing has no pulse; animations are timers of some 20 to 30 ms
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return !before.equals(SwingThread.call(limitMillis, () -> place(uid)));
    }

    private Rectangle place(String uid) {
        Component component = refs.component(uid);
        return component == null || !component.isShowing() ? new Rectangle() : new Rectangle(component.getLocationOnScreen(), component.getSize());
    }

    @Override
    public void idle(long limitMillis) throws AgentException {
        SwingThread.idle(limitMillis);
    }

    @Override
    public Map<String, Object> screenshot(RequestFields request, long limitMillis) throws AgentException {
        return SwingScreenshots.take(refs, request, limitMillis);
    }

    @Override
    public Map<String, Object> elementAt(double screenX, double screenY, long limitMillis) throws AgentException {
        return SwingThread.call(limitMillis, () -> SwingActionability.chainAt(refs, screenX, screenY));
    }
}
