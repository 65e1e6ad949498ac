package uimcp.javafx;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;
import uimcp.core.Server;

/** Starts the agent in a JavaFX program; called by {@code uimcp.boot.Boot} by reflection. */
public final class JavaFxAgent {
    private static final long WARM_UP_MILLIS = 5000;

    private JavaFxAgent() {}

    /** Start listening, and return the consumer for the options of later attaches. */
    public static Consumer<Map<String, String>> start(Map<String, String> options) throws IOException {
        var toolkit = new JavaFxToolkit();
        var server = new Server(toolkit);
        var warming = new Thread(() -> warmUp(toolkit), "ui-mcp warm-up");
        warming.setDaemon(true);
        warming.start();
        server.accept(options);
        return server;
    }

    /** Read the UI once, a slice at a time, so that the first real capture finds compiled code. */
    private static void warmUp(JavaFxToolkit toolkit) {
        var request = new RequestFields(Map.of("stage", "all", "popups", true, "depth", 6.0, "sections",
                List.of("bounds", "localToScreen", "virtualization", "accessibility", "properties")));
        try {
            toolkit.capture(request, WARM_UP_MILLIS);
        } catch (AgentException early) {
            // No window is open yet; the first real capture will be a little slower.
        }
    }
}
