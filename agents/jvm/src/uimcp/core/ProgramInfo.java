package uimcp.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Describes the program that the agent runs in: the {@code app} part of a capture. */
public final class ProgramInfo {
    /** Asked once, when this class is loaded: the first answer takes long. */
    private static final long PID = ProcessHandle.current().pid();

    private ProgramInfo() {}

    public static Map<String, Object> describe(String toolkit, String toolkitVersion) {
        var app = new LinkedHashMap<String, Object>();
        app.put("pid", PID);
        app.put("javaVersion", System.getProperty("java.version"));
        app.put("javafxVersion", toolkit.equals("javafx") ? toolkitVersion : null);
        app.put("mainClass", mainClass());
        app.put("debugFlags", List.of("mcpEnabled"));
        app.put("toolkit", toolkit);
        app.put("toolkitVersion", toolkitVersion);
        app.put("name", mainClass());
        return app;
    }

    /** Read from {@code sun.java.command}, which holds a class, {@code module/class} or a jar, then the arguments. */
    private static String mainClass() {
        String command = System.getProperty("sun.java.command", "");
        String first = command.split(" ")[0];
        int module = first.indexOf('/');
        return first.isEmpty() ? null : first.endsWith(".jar") ? first : first.substring(module + 1);
    }
}
