package uimcp.javafx;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import javafx.animation.AnimationTimer;
import javafx.application.Platform;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;
import uimcp.core.UiThread;

/** The JavaFX application thread; no other class submits work to it. */
final class FxThread {
    private static final UiThread THREAD = new UiThread("JavaFX", FxThread::submit, FxThread::blockade);
    private static volatile Thread thread;

    private FxThread() {}

    static <T> T call(long limitMillis, Callable<T> work) throws AgentException {
        return THREAD.call(limitMillis, work);
    }

    /** Start work that may block in a modal dialog; see {@link UiThread#start}. */
    static void start(long limitMillis, Callable<Void> work) throws AgentException {
        THREAD.start(limitMillis, work);
    }

    /** Return when all submitted work has run and two pulses have passed. */
    static void idle(long limitMillis) throws AgentException {
        var done = new CountDownLatch(1);
        submit(() -> Platform.runLater(() -> {
            var timer = new AnimationTimer() {
                private int ticks;

                @Override
                public void handle(long now) {
                    if (++ticks >= 2) {
                        stop();
                        Platform.runLater(done::countDown);
                    }
                }
            };
            timer.start();
            Platform.requestNextPulse();
        }));
        THREAD.await(done, limitMillis);
    }

    /** Run work after what the JavaFX thread does now; called on that thread. */
    static void later(Runnable work) {
        Platform.runLater(work);
    }

    /** A file dialog of the system stops the thread, and nothing in the JVM can see or operate it. */
    private static AgentException blockade() {
        Thread blocked = thread;
        for (StackTraceElement frame : blocked == null ? new StackTraceElement[0] : blocked.getStackTrace()) {
            if (frame.getClassName().startsWith("com.sun.glass.ui.") && frame.getMethodName().contains("show")
                    && frame.getClassName().contains("CommonDialogs")) {
                return AgentException.actionFailed("NATIVE_DIALOG",
                        "A file dialog of the system is open; the program waits until a person closes it");
            }
        }
        return null;
    }

    private static void submit(Runnable work) throws AgentException {
        try {
            Platform.runLater(() -> {
                thread = Thread.currentThread();
                work.run();
            });
        } catch (IllegalStateException notRunning) {
            throw new AgentException(ErrorCode.NO_STAGES, "JavaFX does not run in this program");
        }
    }
}
