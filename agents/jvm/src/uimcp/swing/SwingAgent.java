package uimcp.swing;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import uimcp.core.Server;

/** Starts the agent in a Swing program; called by {@code uimcp.boot.Boot} by reflection. */
public final class SwingAgent {
    private SwingAgent() {}

    /** Start listening, and return the consumer for the options of later attaches. */
    public static Consumer<Map<String, String>> start(Map<String, String> options) throws IOException {
        var server = new Server(new SwingToolkit(""));
        server.accept(options);
        return server;
    }
}
