package uimcp.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What there is to know about the program and about our own work in it. */
final class Facts {
    private static volatile long longestSliceNanos;
    private static volatile long longestSliceCpuNanos;

    private Facts() {}

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

    static void slice(long nanos, long cpuNanos) {
        longestSliceNanos = Math.max(longestSliceNanos, nanos);
        longestSliceCpuNanos = Math.max(longestSliceCpuNanos, cpuNanos);
    }

    /** The longest time we held the JavaFX thread since the last question, and what of it was work and not waiting. */
    static Map<String, Object> work() {
        var work = Map.<String, Object>of("longestSliceMs", longestSliceNanos / 1e6, "longestSliceCpuMs", longestSliceCpuNanos / 1e6);
        longestSliceNanos = 0;
        longestSliceCpuNanos = 0;
        return work;
    }

    /** Time this thread has worked, where the runtime can tell; else the clock. */
    static long cpuNanos() {
        try {
            return Clock.THREADS.getCurrentThreadCpuTime();
        } catch (LinkageError absent) {
            return System.nanoTime();
        }
    }

    /** Apart, because runtime images may lack the module java.management. */
    private static final class Clock {
        static final java.lang.management.ThreadMXBean THREADS = java.lang.management.ManagementFactory.getThreadMXBean();
    }

    private static String mainClass() {
        String command = System.getProperty("sun.java.command", "");
        String first = command.split(" ")[0];
        int module = first.indexOf('/');
        return first.isEmpty() ? null : first.endsWith(".jar") ? first : first.substring(module + 1);
    }
}
