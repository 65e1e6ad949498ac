package uimcp.boot;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Starts the agent in a JVM, with a class loader below the one that has loaded JavaFX.
 *
 * <p>Apart from this package, the agent's classes are resources of the jar: they must be defined by a loader whose
 * parent is JavaFX's own, which may be invisible from here (module layers, isolated loaders).
 */
public final class Boot {
    /** A class that every program with the toolkit has loaded, and the class of ours that starts the agent beside it. */
    private static final String PLATFORM = "javafx.application.Platform";
    private static final String AGENT = "uimcp.javafx.JavaFxAgent";
    /** The system property that holds the running agent, where a second copy of this class can find it. */
    private static final String RUNNING = "uimcp.agent";
    private static final long POLL_MILLIS = 250;
    private static final long ATTACH_MILLIS = 5000;

    private Boot() {}

    /** Entry point of {@code -javaagent}: waits in the background until the program has loaded JavaFX. */
    public static void premain(String options, Instrumentation jvm) {
        var waiting = new Thread(() -> startBeside(options, jvm, Long.MAX_VALUE), "ui-mcp wait for JavaFX");
        waiting.setDaemon(true);
        waiting.start();
    }

    /** Entry point of an attach. If the agent runs already, it only gets the new options. */
    public static void agentmain(String options, Instrumentation jvm) {
        startBeside(options, jvm, System.currentTimeMillis() + ATTACH_MILLIS);
    }

    /** For programs that carry the agent: put the jar on the class path and call this once JavaFX runs. */
    public static void embed(String options) {
        try {
            start(parse(options), Class.forName(PLATFORM));
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException("JavaFX is not on the class path", absent);
        }
    }

    private static void startBeside(String options, Instrumentation jvm, long deadline) {
        Map<String, String> given = parse(options);
        if (forwarded(given)) {
            return;
        }
        Class<?> platform = awaitPlatform(jvm, deadline);
        if (platform == null) {
            reportFailure(given, "NO_JAVAFX");
        } else {
            start(given, platform);
        }
    }

    /** Return null if JavaFX is not loaded by the deadline. */
    private static Class<?> awaitPlatform(Instrumentation jvm, long deadline) {
        while (true) {
            for (Class<?> loaded : jvm.getAllLoadedClasses()) {
                if (loaded.getName().equals(PLATFORM)) {
                    return loaded;
                }
            }
            if (System.currentTimeMillis() >= deadline) {
                return null;
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException interrupted) {
                return null;
            }
        }
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

    /** Synchronized: a waiting {@code -javaagent} and an attach may find JavaFX at the same moment. */
    @SuppressWarnings("unchecked")
    private static synchronized void start(Map<String, String> options, Class<?> platform) {
        if (forwarded(options)) {
            return;
        }
        try {
            var agent = new AgentLoader(platform.getClassLoader()).loadClass(AGENT);
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

    /** Defines the classes of the agent from resources of the jar; sees what JavaFX sees. */
    private static final class AgentLoader extends ClassLoader {
        AgentLoader(ClassLoader parent) {
            super(parent);
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
