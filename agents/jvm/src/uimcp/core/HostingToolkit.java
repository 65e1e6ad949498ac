package uimcp.core;

/**
 * A toolkit that can show parts of another one and be shown in it. A host is a component or node that shows the other
 * toolkit's UI; what it shows is a window of its own there, of the kind {@link #EMBEDDED}.
 */
public interface HostingToolkit extends Toolkit {
    String EMBEDDED = "embedded";
    /** Asks a capture for the uid of what would get keys in each window, under the same name in its description. */
    String FOCUS_OWNER = "focusOwner";

    /** Return whether the uid names something of this toolkit, also something that is gone. */
    boolean owns(String uid, long limitMillis) throws AgentException;

    /** Return whether a node of the other toolkit shows something of this one. */
    boolean isHost(Object node);

    /** Return the uid of the window that a host of the other toolkit shows, or null if it shows none. */
    String windowIn(Object host, long limitMillis) throws AgentException;

    /** Return where a node lies in the embedded window that it belongs to, or null if its window is not embedded. */
    Embedded embedded(RequestFields ref, long limitMillis) throws AgentException;

    /** Scroll a host of this toolkit to a part of it, in its coordinates; throw if a person could not operate that part. */
    void reveal(Object host, double[] box, long limitMillis) throws AgentException;

    /** Return whether a window that is not embedded lies at a point of the screen. */
    boolean hasWindowAt(double screenX, double screenY, long limitMillis) throws AgentException;

    /** A part of an embedded window. */
    final class Embedded {
        public final String window;
        public final double[] box;

        public Embedded(String window, double[] box) {
            this.window = window;
            this.box = box;
        }
    }
}
