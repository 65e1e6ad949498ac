package uimcp.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What there is to know about the program. */
final class ProgramInfo {
    private ProgramInfo() {}

    static Map<String, Object> app() {
        var app = new LinkedHashMap<String, Object>();
        app.put("pid", ProcessHandle.current().pid());
        app.put("javaVersion", System.getProperty("java.version"));
        app.put("javafxVersion", System.getProperty("javafx.runtime.version"));
        app.put("mainClass", mainClass());
        app.put("debugFlags", List.of("mcpEnabled"));
        app.put("toolkit", "javafx");
        app.put("toolkitVersion", System.getProperty("javafx.runtime.version"));
        app.put("name", mainClass());
        return app;
    }

    private static String mainClass() {
        String command = System.getProperty("sun.java.command", "");
        String first = command.split(" ")[0];
        int module = first.indexOf('/');
        return first.isEmpty() ? null : first.endsWith(".jar") ? first : first.substring(module + 1);
    }
}
