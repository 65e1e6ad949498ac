package uimcp.mixed;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import uimcp.core.AgentException;
import uimcp.core.RequestFields;
import uimcp.core.Server;
import uimcp.core.Toolkit;
import uimcp.javafx.JavaFxToolkit;

/** Starts the agent in a JavaFX program, which may hold Swing as well; called by {@code uimcp.boot.Boot} by reflection. */
public final class MixedAgent {
    private static final long WARM_UP_MILLIS = 5000;

    private MixedAgent() {}

    /** Start listening, and return the consumer for the options of later attaches. */
    public static Consumer<Map<String, String>> start(Map<String, String> options) throws IOException {
        Toolkit toolkit = hasSwing() ? new MixedToolkit() : new JavaFxToolkit();
        var server = new Server(toolkit);
        var warming = new Thread(() -> warmUp(toolkit), "ui-mcp warm-up");
        warming.setDaemon(true);
        warming.start();
        server.accept(options);
        return server;
    }

    /** Runtime images may lack the module java.desktop. */
    private static boolean hasSwing() {
        return ModuleLayer.boot().findModule("java.desktop").isPresent();
    }

    /** Read the UI once, a slice at a time, so that the first real capture finds compiled code. */
    private static void warmUp(Toolkit toolkit) {
        var request = new RequestFields(Map.of("stage", "all", "popups", true, "depth", 6.0, "sections",
                List.of("bounds", "localToScreen", "virtualization", "accessibility", "properties")));
        try {
            toolkit.capture(request, WARM_UP_MILLIS);
        } catch (AgentException early) {
            // No window is open yet; the first real capture will be a little slower.
        }
    }
}
