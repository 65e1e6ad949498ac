package uimcp.mixed;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import uimcp.core.Server;
import uimcp.core.Toolkit;
import uimcp.core.WarmUp;
import uimcp.javafx.JavaFxToolkit;

/** Starts the agent in a JavaFX program, which may hold Swing as well; called by {@code uimcp.boot.Boot} by reflection. */
public final class MixedAgent {
    private MixedAgent() {}

    /** Start listening, and return the consumer for the options of later attaches. */
    public static Consumer<Map<String, String>> start(Map<String, String> options) throws IOException {
        Toolkit toolkit = hasSwing() ? new MixedToolkit() : new JavaFxToolkit();
        var server = new Server(toolkit);
        WarmUp.run(toolkit);
        server.accept(options);
        return server;
    }

    /** Runtime images may lack the module java.desktop. */
    private static boolean hasSwing() {
        return ModuleLayer.boot().findModule("java.desktop").isPresent();
    }
}
