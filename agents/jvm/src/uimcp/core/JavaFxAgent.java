package uimcp.core;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Starts the agent beside JavaFX. */
public final class JavaFxAgent {
    private JavaFxAgent() {}

    /** Start listening; the answer takes the options of later attaches. */
    public static Consumer<Map<String, String>> start(Map<String, String> options) throws IOException {
        var server = new Server();
        var warming = new Thread(() -> warm(server.refs()), "ui-mcp warm-up");
        warming.setDaemon(true);
        warming.start();
        server.accept(options);
        return server;
    }

    /** Read the UI once, a little at a time, so that the first real look finds warm code. */
    private static void warm(Refs refs) {
        Map<String, Object> ask = Map.of("stage", "all", "popups", true, "depth", 6.0, "sections",
                List.of("bounds", "localToScreen", "virtualization", "accessibility", "properties"));
        try {
            Snapshot.take(refs, ask, 5000);
        } catch (AgentException early) {
            // Nothing shows yet; the first real look will be a little slower.
        }
    }
}
