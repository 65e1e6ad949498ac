package uimcp.swing;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import uimcp.core.Server;
import uimcp.core.WarmUp;

/** Starts the agent in a Swing program; called by {@code uimcp.boot.Boot} by reflection. */
public final class SwingAgent {
    private SwingAgent() {}

    /** Start listening, and return the consumer for the options of later attaches. */
    public static Consumer<Map<String, String>> start(Map<String, String> options) throws IOException {
        var toolkit = new SwingToolkit("");
        var server = new Server(toolkit);
        WarmUp.run(toolkit);
        server.accept(options);
        return server;
    }
}
