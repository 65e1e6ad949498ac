package uimcp.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads the UI before the first caller does, so that no slice of a real capture pays for code that runs for the first time. */
public final class WarmUp {
    /** An attach waits for it no longer than this: the program may be busy. */
    private static final long ATTACH_MILLIS = 1000;
    private static final long LIMIT_MILLIS = 5000;
    private static final List<String> SECTIONS = List.of("bounds", "localToScreen", "virtualization", "accessibility", "properties");

    private WarmUp() {}

    public static void run(Toolkit toolkit) {
        var reading = new Thread(() -> read(toolkit), "ui-mcp warm-up");
        reading.setDaemon(true);
        reading.start();
        try {
            reading.join(ATTACH_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Each capture asks for one section more than the one before, and the last goes deeper than the roots. */
    private static void read(Toolkit toolkit) {
        try {
            for (int count = 0; count <= SECTIONS.size(); count++) {
                toolkit.capture(request(new ArrayList<>(SECTIONS.subList(0, count)), 0), LIMIT_MILLIS);
            }
            toolkit.capture(request(SECTIONS, 6), LIMIT_MILLIS);
        } catch (AgentException early) {
            // No window is open yet; the first real capture will be a little slower.
        }
    }

    private static RequestFields request(List<String> sections, double depth) {
        return new RequestFields(Map.of("stage", "all", "popups", true, "depth", depth, "sections", sections));
    }
}
