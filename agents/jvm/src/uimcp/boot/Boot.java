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
 * Enters a JVM and starts the core beside JavaFX, wherever the application has loaded it.
 *
 * <p>The core's classes are resources, not classes of this jar: they must be defined by a loader whose parent is
 * JavaFX's own, which may be invisible from here (module layers, isolated loaders).
 */
public final class Boot {
    private static final String RUNNING = "uimcp.agent";
    private static final long POLL_MILLIS = 250;
    private static final long ATTACH_MILLIS = 5000;

    private Boot() {}

    /** Started with {@code -javaagent}: JavaFX is not there yet, so wait for it in the background. */
    public static void premain(String options, Instrumentation jvm) {
        var waiting = new Thread(() -> enter(options, jvm, Long.MAX_VALUE), "ui-mcp wait for JavaFX");
        waiting.setDaemon(true);
        waiting.start();
    }

    /** Loaded into a running JVM; loading it again only tells the running agent where to write its address. */
    public static void agentmain(String options, Instrumentation jvm) {
        enter(options, jvm, System.currentTimeMillis() + ATTACH_MILLIS);
    }

    /** For applications that want to be seen: put the jar on the class path and call this once JavaFX runs. */
    public static void embed(String options) {
        try {
            start(read(options), Class.forName("javafx.application.Platform"));
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException("JavaFX is not on the class path", absent);
        }
    }

    private static void enter(String options, Instrumentation jvm, long deadline) {
        Map<String, String> given = read(options);
        if (told(given)) {
            return;
        }
        Class<?> platform = find(jvm, deadline);
        if (platform == null) {
            refuse(given, "NO_JAVAFX");
        } else {
            start(given, platform);
        }
    }

    private static Class<?> find(Instrumentation jvm, long deadline) {
        while (true) {
            for (Class<?> loaded : jvm.getAllLoadedClasses()) {
                if (loaded.getName().equals("javafx.application.Platform")) {
                    return loaded;
                }
            }
            if (System.currentTimeMillis() >= deadline) {
                return null;
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException ended) {
                return null;
            }
        }
    }

    /** Tell the running agent; false if there is none. */
    @SuppressWarnings("unchecked")
    private static boolean told(Map<String, String> options) {
        Object running = System.getProperties().get(RUNNING);
        if (running instanceof Consumer) {
            ((Consumer<Map<String, String>>) running).accept(options);
            return true;
        }
        return false;
    }

    /** One at a time: the one that waits for JavaFX since the start and one loaded just now find it together. */
    @SuppressWarnings("unchecked")
    private static synchronized void start(Map<String, String> options, Class<?> platform) {
        if (told(options)) {
            return;
        }
        try {
            var core = new CoreLoader(platform.getClassLoader()).loadClass("uimcp.core.JavaFxAgent");
            var started = core.getMethod("start", Map.class).invoke(null, options);
            System.getProperties().put(RUNNING, (Consumer<Map<String, String>>) started);
        } catch (ReflectiveOperationException | LinkageError broken) {
            Throwable cause = broken.getCause() == null ? broken : broken.getCause();
            refuse(options, "START_FAILED: " + cause);
        }
    }

    private static Map<String, String> read(String options) {
        Map<String, String> found = new HashMap<>();
        for (String part : (options == null ? "" : options).split(";")) {
            int at = part.indexOf('=');
            if (at > 0) {
                found.put(part.substring(0, at), part.substring(at + 1));
            }
        }
        return found;
    }

    private static void refuse(Map<String, String> options, String reason) {
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

    /** Defines the core's classes from the jar's resources, seeing what JavaFX sees. */
    private static final class CoreLoader extends ClassLoader {
        CoreLoader(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try (InputStream code = Boot.class.getResourceAsStream("/core/" + name.replace('.', '/') + ".class")) {
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
