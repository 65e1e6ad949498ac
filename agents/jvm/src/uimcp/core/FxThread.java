package uimcp.core;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javafx.animation.AnimationTimer;
import javafx.application.Platform;

/** The only crossing to the JavaFX application thread; every wait has a limit. */
final class FxThread {
    private FxThread() {}

    static <T> T call(long limitMillis, Callable<T> work) throws AgentException {
        var task = new FutureTask<>(work);
        submit(task);
        try {
            return task.get(limitMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            task.cancel(false);
            throw new AgentException("MCP_UI_TIMEOUT", "The JavaFX thread did not answer within " + limitMillis + " ms");
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new AgentException("MCP_UI_INTERNAL", "interrupted");
        } catch (ExecutionException failed) {
            throw translated(failed.getCause());
        }
    }

    /**
     * Start work that may block for long, such as a click that opens a modal dialog, and wait until it has ended or a
     * later task has run: inside the dialog's own event loop the later task still runs.
     */
    static void act(long limitMillis, Callable<Void> work) throws AgentException {
        var task = new FutureTask<>(work);
        var settled = new CountDownLatch(1);
        submit(() -> {
            try {
                task.run();
            } finally {
                settled.countDown();
            }
        });
        submit(settled::countDown);
        await(settled, limitMillis);
        if (task.isDone()) {
            try {
                task.get();
            } catch (InterruptedException | ExecutionException failed) {
                throw translated(failed.getCause());
            }
        }
    }

    /** Return when all we submitted has run and two pulses have passed. */
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
        await(done, limitMillis);
    }

    private static void await(CountDownLatch latch, long limitMillis) throws AgentException {
        try {
            if (!latch.await(limitMillis, TimeUnit.MILLISECONDS)) {
                throw new AgentException("MCP_UI_TIMEOUT", "The JavaFX thread was busy for more than " + limitMillis + " ms");
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static void submit(Runnable work) throws AgentException {
        try {
            Platform.runLater(work);
        } catch (IllegalStateException gone) {
            throw new AgentException("MCP_UI_NO_STAGES", "JavaFX does not run in this program");
        }
    }

    private static AgentException translated(Throwable cause) {
        if (cause instanceof AgentException) {
            return (AgentException) cause;
        }
        return new AgentException("MCP_UI_INTERNAL", String.valueOf(cause));
    }
}
