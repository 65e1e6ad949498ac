package uimcp.core;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import uimcp.core.Contract.ErrorCode;

/** Runs work on a toolkit's UI thread; every wait has a limit. */
public final class UiThread {
    /** Queues work for the UI thread and returns at once. */
    public interface Submitter {
        void submit(Runnable work) throws AgentException;
    }

    private final String toolkit;
    private final Submitter submitter;

    /** {@code toolkit} names the thread in error messages. */
    public UiThread(String toolkit, Submitter submitter) {
        this.toolkit = toolkit;
        this.submitter = submitter;
    }

    /** Run work and return its result; work that has not begun within the limit is cancelled. */
    public <T> T call(long limitMillis, Callable<T> work) throws AgentException {
        var task = new FutureTask<>(work);
        submitter.submit(task);
        try {
            return task.get(limitMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            task.cancel(false);
            throw new AgentException(ErrorCode.TIMEOUT,
                    "The " + toolkit + " thread did not answer within " + limitMillis + " ms");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AgentException(ErrorCode.INTERNAL, "interrupted");
        } catch (ExecutionException failed) {
            throw translated(failed.getCause());
        }
    }

    /**
     * Start work that may block for long, such as a click that opens a modal dialog, and wait until it has ended or a
     * later task has run: inside the dialog's own event loop the later task still runs.
     */
    public void start(long limitMillis, Callable<Void> work) throws AgentException {
        var task = new FutureTask<>(work);
        var started = new CountDownLatch(1);
        submitter.submit(() -> {
            try {
                task.run();
            } finally {
                started.countDown();
            }
        });
        submitter.submit(started::countDown);
        await(started, limitMillis);
        if (task.isDone()) {
            try {
                task.get();
            } catch (InterruptedException | ExecutionException failed) {
                throw translated(failed.getCause());
            }
        }
    }

    /** Wait for a latch that a task on the UI thread counts down. */
    public void await(CountDownLatch latch, long limitMillis) throws AgentException {
        try {
            if (!latch.await(limitMillis, TimeUnit.MILLISECONDS)) {
                throw new AgentException(ErrorCode.TIMEOUT,
                        "The " + toolkit + " thread was busy for more than " + limitMillis + " ms");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static AgentException translated(Throwable cause) {
        if (cause instanceof AgentException) {
            return (AgentException) cause;
        }
        return new AgentException(ErrorCode.INTERNAL, String.valueOf(cause));
    }
}
