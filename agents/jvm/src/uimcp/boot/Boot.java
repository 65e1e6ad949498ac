package uimcp.boot;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Starts the agent in a JVM, with a class loader below the one that has loaded the toolkit.
 *
 * <p>Apart from this package, the agent's classes are resources of the jar: they must be defined by a loader whose
 * parent is the toolkit's own, which may be invisible from here (module layers, isolated loaders).
 */
public final class Boot {
    /** Classes that every program with a toolkit has loaded, and those of ours that start the agent beside them. */
    private static final String JAVAFX = "javafx.application.Platform";
    private static final String SWING = "java.awt.Window";
    private static final Map<String, String> AGENTS = Map.of(JAVAFX, "uimcp.mixed.MixedAgent", SWING, "uimcp.swing.SwingAgent");
    /** The system property that holds the running agent, where a second copy of this class can find it. */
    private static final String RUNNING = "uimcp.agent";
    private static final long POLL_MILLIS = 250;
    private static final long ATTACH_MILLIS = 5000;

    private Boot() {}

    /** Entry point of {@code -javaagent}: waits in the background until the program has loaded a toolkit. */
    public static void premain(String options, Instrumentation jvm) {
        var waiting = new Thread(() -> startBeside(options, jvm, Long.MAX_VALUE), "ui-mcp wait for a toolkit");
        waiting.setDaemon(true);
        waiting.start();
    }

    /** Entry point of an attach. If the agent runs already, it only gets the new options. */
    public static void agentmain(String options, Instrumentation jvm) {
        startBeside(options, jvm, System.currentTimeMillis() + ATTACH_MILLIS);
    }

    /** For programs that carry the agent: put the jar on the class path and call this once its toolkit runs. */
    public static void embed(String options) {
        try {
            start(parse(options), Class.forName(JAVAFX));
        } catch (ClassNotFoundException absent) {
            start(parse(options), java.awt.Window.class);
        }
    }

    private static void startBeside(String options, Instrumentation jvm, long deadline) {
        Map<String, String> given = parse(options);
        if (forwarded(given)) {
            return;
        }
        Class<?> platform = awaitToolkit(jvm, deadline);
        if (platform == null) {
            reportFailure(given, "NO_TOOLKIT");
        } else {
            start(given, platform);
        }
    }

    /** Return null if neither JavaFX nor Swing is loaded by the deadline. */
    private static Class<?> awaitToolkit(Instrumentation jvm, long deadline) {
        while (true) {
            Class<?> swing = null;
            for (Class<?> loaded : jvm.getAllLoadedClasses()) {
                if (loaded.getName().equals(JAVAFX)) {
                    return loaded;
                }
                swing = loaded.getName().equals(SWING) ? loaded : swing;
            }
            boolean late = System.currentTimeMillis() >= deadline;
            if (swing != null && (late || showsWindow())) {
                return swing;
            }
            if (late) {
                return null;
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException interrupted) {
                return null;
            }
        }
    }

    /**
     * JavaFX programs may have loaded AWT for its images alone, so only a window says that this is a Swing program.
     * AWT is not asked before it runs: it would start on this thread, and give its own thread our class loader.
     */
    private static boolean showsWindow() {
        if (Thread.getAllStackTraces().keySet().stream().noneMatch(thread -> thread.getName().startsWith("AWT-EventQueue"))) {
            return false;
        }
        for (java.awt.Window window : java.awt.Window.getWindows()) {
            if (window.isShowing()) {
                return true;
            }
        }
        return false;
    }

    /** Pass the options to the running agent; return false if there is none. */
    @SuppressWarnings("unchecked")
    private static boolean forwarded(Map<String, String> options) {
        Object running = System.getProperties().get(RUNNING);
        if (running instanceof Consumer) {
            ((Consumer<Map<String, String>>) running).accept(options);
            return true;
        }
        return false;
    }

    /** Synchronized: a waiting {@code -javaagent} and an attach may find the toolkit at the same moment. */
    @SuppressWarnings("unchecked")
    private static synchronized void start(Map<String, String> options, Class<?> platform) {
        if (forwarded(options)) {
            return;
        }
        try {
            var loader = new AgentLoader(platform.getClassLoader());
            loader.loadAll();
            var agent = loader.loadClass(AGENTS.get(platform.getName()));
            var started = agent.getMethod("start", Map.class).invoke(null, options);
            System.getProperties().put(RUNNING, (Consumer<Map<String, String>>) started);
        } catch (ReflectiveOperationException | LinkageError broken) {
            Throwable cause = broken.getCause() == null ? broken : broken.getCause();
            reportFailure(options, "START_FAILED: " + cause);
        }
    }

    private static Map<String, String> parse(String options) {
        Map<String, String> found = new HashMap<>();
        for (String part : (options == null ? "" : options).split(";")) {
            int at = part.indexOf('=');
            if (at > 0) {
                found.put(part.substring(0, at), part.substring(at + 1));
            }
        }
        return found;
    }

    private static void reportFailure(Map<String, String> options, String reason) {
        String file = options.get("file");
        if (file == null) {
            System.err.println("ui-mcp: " + reason);
            return;
        }
        try {
            Path written = Path.of(file + ".new");
            Files.writeString(written, "{\"error\":\"" + reason.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}");
            Files.move(written, Path.of(file), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException unwritable) {
            System.err.println("ui-mcp: " + reason);
        }
    }

    /** Defines the classes of the agent from resources of the jar; sees what the toolkit sees. */
    private static final class AgentLoader extends ClassLoader {
        AgentLoader(ClassLoader parent) {
            super(parent);
        }

        /** Load and initialize every class now, on this thread: the thread of the toolkit has no time to spare for it. */
        void loadAll() {
            try (InputStream names = Boot.class.getResourceAsStream("/agent/classes")) {
                for (String file : new String(names.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                    load(file.substring(0, file.length() - ".class".length()).replace('/', '.'));
                }
            } catch (IOException unreadable) {
                // Each class is read when it is used.
            }
        }

        private void load(String name) {
            try {
                Class.forName(name, true, this);
            } catch (ClassNotFoundException | LinkageError absent) {
                // It belongs to a toolkit or a module that this program does not have.
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try (InputStream code = Boot.class.getResourceAsStream("/agent/" + name.replace('.', '/') + ".class")) {
                if (code == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = code.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }
}
