package uimcp.swing;

import java.awt.Component;
import java.awt.Rectangle;
import java.awt.Window;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import javax.swing.SwingUtilities;
import uimcp.core.AgentException;
import uimcp.core.HostingToolkit;
import uimcp.core.PersonWatch;
import uimcp.core.RequestFields;

/** Swing and AWT, as the server sees them. */
public final class SwingToolkit implements HostingToolkit {
    private static final long ANIMATION_NANOS = 500_000_000;
    private static final long FRAME_MILLIS = 30;

    private final ComponentRefs refs;
    private SwingPersonEvents person;

    /** {@code mark} is part of every uid; see {@link uimcp.core.Refs}. */
    public SwingToolkit(String mark) {
        refs = new ComponentRefs(mark);
    }

    /** Return whether the program uses Swing or AWT now. */
    public boolean isUsed() {
        return SwingThread.runs();
    }

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
    public boolean owns(String uid, long limitMillis) throws AgentException {
        return SwingThread.call(limitMillis, () -> refs.owns(uid));
    }

    @Override
    public boolean isHost(Object node) {
        for (Class<?> at = node.getClass(); at != null; at = at.getSuperclass()) {
            if (at.getName().equals("javafx.embed.swing.SwingNode")) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String windowIn(Object host, long limitMillis) throws AgentException {
        return SwingThread.call(limitMillis, () -> {
            Object content = host.getClass().getMethod("getContent").invoke(host);
            Window window = content == null ? null : SwingWindows.of((Component) content);
            return window == null ? null : refs.uid(window);
        });
    }

    @Override
    public Embedded embedded(RequestFields ref, long limitMillis) throws AgentException {
        return SwingThread.call(limitMillis, () -> {
            ComponentRefs.Target target = refs.resolve(ref);
            Window window = SwingWindows.of(target.component);
            Rectangle area = target.area == null ? new Rectangle(target.component.getSize()) : target.area;
            Rectangle box = SwingUtilities.convertRectangle(target.component, area, SwingWindows.root(window));
            return !SwingWindows.isEmbedded(window) ? null
                    : new Embedded(refs.uid(window), new double[] {box.x, box.y, box.width, box.height});
        });
    }

    @Override
    public void reveal(Object host, double[] box, long limitMillis) throws AgentException {
        var area = new Rectangle((int) box[0], (int) box[1], (int) Math.ceil(box[2]), (int) Math.ceil(box[3]));
        SwingThread.call(limitMillis, () -> {
            ((Component) host).requestFocusInWindow();
            return SwingActionability.spot(refs, new ComponentRefs.Target((Component) host, -1, area), false);
        });
    }

    @Override
    public boolean hasWindowAt(double screenX, double screenY, long limitMillis) throws AgentException {
        return SwingThread.call(limitMillis, () -> SwingWindows.showing().stream()
                .anyMatch(window -> !SwingWindows.isEmbedded(window) && window.getBounds().contains(screenX, screenY)));
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

    @Override
    public void watch(PersonWatch watch, long limitMillis) throws AgentException {
        SwingThread.call(limitMillis, () -> {
            if (person != null) {
                person.stop();
            }
            person = watch == null ? null : new SwingPersonEvents(refs, watch);
            if (person != null) {
                person.start();
            }
            return null;
        });
    }
}
