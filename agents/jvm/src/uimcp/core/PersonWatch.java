package uimcp.core;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * Collects what a person does, each time with what the UI showed before. The UI is not read while the person's event
 * waits to be handled, but between events, by a thread of our own and in slices: recording slows no program down.
 */
public final class PersonWatch {
    private static final int MAX_EVENTS = 1000;
    private static final int BATCH = 20;
    /** After so long the first effect of an event shows, after so long all of it. */
    private static final long SHOWN_MILLIS = 60;
    private static final long SETTLED_MILLIS = 400;
    /** How old the last reading may become while the person does nothing: programs change their UI by themselves. */
    private static final long AGE_MILLIS = 500;
    private static final long LIMIT_MILLIS = 5000;

    private final Toolkit toolkit;
    private final RequestFields request;
    private final ArrayDeque<Map<String, Object>> events = new ArrayDeque<>();
    private String latest;
    private long readAt;
    private long lastEvent;
    private long count;
    private boolean shown = true;
    private boolean settled = true;
    private int paused;
    private boolean stopped;

    PersonWatch(Toolkit toolkit, RequestFields request) {
        this.toolkit = toolkit;
        this.request = request;
    }

    /** What the watched toolkit is asked for; also names what to redact. */
    public RequestFields request() {
        return request;
    }

    void start() throws AgentException {
        latest = packed(toolkit.capture(request, LIMIT_MILLIS));
        readAt = now();
        var reading = new Thread(this::follow, "ui-mcp watch");
        reading.setDaemon(true);
        reading.start();
    }

    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /** Leave out what happens until {@link #resume}: an agent does it. */
    synchronized void pause() {
        paused++;
    }

    synchronized void resume() {
        paused--;
        noteEvent();
    }

    /** Return whether what happens now is a person's doing. */
    public synchronized boolean listens() {
        return !stopped && paused == 0;
    }

    /** Return what the UI showed last, for {@link #tell}. */
    public synchronized String before() {
        return latest;
    }

    /** Note an event and what the UI showed before it. */
    public synchronized void tell(Map<String, Object> event, String before) {
        if (!listens() || events.size() >= MAX_EVENTS) {
            return;
        }
        event.put("capture", before);
        events.add(event);
        settled = false;
        noteEvent();
    }

    /** Note another value of the field that the last event was about. */
    public synchronized void again(Map<String, Object> event) {
        if (listens() && events.size() < MAX_EVENTS) {
            events.add(event);
            settled = false;
            noteEvent();
        }
    }

    private void noteEvent() {
        lastEvent = now();
        count++;
        shown = false;
        notifyAll();
    }

    /** Return the oldest events that have not been returned yet, some at a time. */
    synchronized Map<String, Object> drain() {
        var some = new ArrayList<Map<String, Object>>();
        while (!events.isEmpty() && some.size() < BATCH) {
            some.add(events.poll());
        }
        return Map.of("events", some, "more", !events.isEmpty());
    }

    private void follow() {
        try {
            while (awaitTurn()) {
                read();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Wait until the UI should be read again; return false once the recording has ended. */
    private synchronized boolean awaitTurn() throws InterruptedException {
        while (!stopped) {
            long due = (!shown ? lastEvent + SHOWN_MILLIS : !settled ? lastEvent + SETTLED_MILLIS : readAt + AGE_MILLIS) - now();
            if (due <= 0) {
                return true;
            }
            wait(due);
        }
        return false;
    }

    private void read() {
        long before = begun();
        String capture;
        try {
            capture = packed(toolkit.capture(request, LIMIT_MILLIS));
        } catch (AgentException | RuntimeException unreadable) {
            capture = null; // no window, or a busy program: the last reading stays
        }
        finish(before, capture);
    }

    private synchronized long begun() {
        return count;
    }

    /** Keep a reading during which nothing was done. */
    private synchronized void finish(long before, String capture) {
        readAt = now();
        if (before != count || stopped) {
            return;
        }
        latest = capture == null ? latest : capture;
        if (!shown) {
            shown = true;
        } else if (!settled) {
            settled = true;
            if (events.size() < MAX_EVENTS) {
                var after = new LinkedHashMap<String, Object>();
                after.put("type", "after");
                after.put("capture", latest);
                events.add(after);
            }
        }
    }

    private static String packed(Map<String, Object> capture) {
        var bytes = new ByteArrayOutputStream();
        try (var packing = new GZIPOutputStream(bytes)) {
            new JsonWriter(packing).line(capture);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    /** Return an event for {@link #tell}; {@code chain} names the node and those around it, innermost first. */
    public static Map<String, Object> event(String type, List<String> chain) {
        var event = new LinkedHashMap<String, Object>();
        event.put("type", type);
        event.put("chain", chain);
        return event;
    }

    /** Add the keys that are held, if any are. */
    public static void putModifiers(Map<String, Object> event, boolean ctrl, boolean shift, boolean alt, boolean meta) {
        var held = new ArrayList<String>();
        Map.of("CTRL", ctrl, "SHIFT", shift, "ALT", alt, "META", meta).forEach((name, down) -> {
            if (down) {
                held.add(name);
            }
        });
        if (!held.isEmpty()) {
            Collections.sort(held);
            event.put("modifiers", held);
        }
    }
}
