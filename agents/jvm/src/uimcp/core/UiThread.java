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

    /** Says why the UI thread will not answer soon, or returns null. */
    public interface Blockade {
        AgentException reason();
    }

    private static final long POLL_MILLIS = 200;

    private final String toolkit;
    private final Submitter submitter;
    private final Blockade blockade;

    /** {@code toolkit} names the thread in error messages. */
    public UiThread(String toolkit, Submitter submitter, Blockade blockade) {
        this.toolkit = toolkit;
        this.submitter = submitter;
        this.blockade = blockade;
    }

    /** Run work and return its result; work that has not begun within the limit is cancelled. */
    public <T> T call(long limitMillis, Callable<T> work) throws AgentException {
        var task = new FutureTask<>(() -> Slices.measured(work));
        submitter.submit(task);
        try {
            for (long left = limitMillis; ; left -= POLL_MILLIS) {
                try {
                    return task.get(Math.min(left, POLL_MILLIS), TimeUnit.MILLISECONDS);
                } catch (TimeoutException late) {
                    if (left <= POLL_MILLIS) {
                        task.cancel(false);
                        throw late(limitMillis);
                    }
                    requireUnblocked();
                }
            }
        } catch (AgentException blocked) {
            task.cancel(false);
            throw blocked;
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
            for (long left = limitMillis; !latch.await(Math.min(left, POLL_MILLIS), TimeUnit.MILLISECONDS); left -= POLL_MILLIS) {
                if (left <= POLL_MILLIS) {
                    throw late(limitMillis);
                }
                requireUnblocked();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void requireUnblocked() throws AgentException {
        AgentException reason = blockade.reason();
        if (reason != null) {
            throw reason;
        }
    }

    private AgentException late(long limitMillis) {
        return new AgentException(ErrorCode.TIMEOUT, "The " + toolkit + " thread did not answer within " + limitMillis + " ms");
    }

    /** The trace goes where the program's own errors go; the caller gets the kind of error only. */
    private static AgentException translated(Throwable cause) {
        if (cause instanceof AgentException) {
            return (AgentException) cause;
        }
        cause.printStackTrace();
        return new AgentException(ErrorCode.INTERNAL, "The program failed at this: " + cause.getClass().getSimpleName());
    }
}
