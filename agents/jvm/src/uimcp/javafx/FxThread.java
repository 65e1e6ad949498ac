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
    private static final UiThread THREAD = new UiThread("JavaFX", FxThread::submit);

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

    private static void submit(Runnable work) throws AgentException {
        try {
            Platform.runLater(work);
        } catch (IllegalStateException notRunning) {
            throw new AgentException(ErrorCode.NO_STAGES, "JavaFX does not run in this program");
        }
    }
}
