package uimcp.core;

import java.util.List;
import java.util.Map;

/** What the server asks of a UI toolkit. Each call takes at most {@code limitMillis}; results are written as JSON. */
public interface Toolkit {
    /** Read the UI into flat records (contracts/records.schema.json). */
    Map<String, Object> capture(RequestFields request, long limitMillis) throws AgentException;

    /** Note that a caller has seen these rows as the last capture read them. */
    void tell(List<String> rowUids);

    /** Perform one action, if a person could do it now. */
    void act(RequestFields action, long limitMillis) throws AgentException;

    /** Return once the toolkit has run what was submitted and drawn the result. */
    void idle(long limitMillis) throws AgentException;

    /** Draw a window or a node; the result holds a PNG in base64 as {@code png}. */
    Map<String, Object> screenshot(RequestFields request, long limitMillis) throws AgentException;

    /** Name the node at a point of the screen and its ancestors, innermost first, as {@code chain}. */
    Map<String, Object> elementAt(double screenX, double screenY, long limitMillis) throws AgentException;

    /** Tell from now on what a person does, or with null no longer. */
    void watch(PersonWatch watch, long limitMillis) throws AgentException;
}
