package uimcp.swing;

import java.awt.EventQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import uimcp.core.AgentException;
import uimcp.core.Contract.ErrorCode;
import uimcp.core.UiThread;

/** The event dispatch thread; no other class submits work to it. */
final class SwingThread {
    private static final UiThread THREAD = new UiThread("Swing", SwingThread::submit, () -> null);
    private static final int ROUNDS = 3;
    private static volatile boolean seenRunning;

    private SwingThread() {}

    static <T> T call(long limitMillis, Callable<T> work) throws AgentException {
        return THREAD.call(limitMillis, work);
    }

    /** Start work that may block in a modal dialog; see {@link UiThread#start}. */
    static void start(long limitMillis, Callable<Void> work) throws AgentException {
        THREAD.start(limitMillis, work);
    }

    /** Return whether the program uses AWT; asking AWT itself would start it. */
    static boolean runs() {
        return seenRunning = seenRunning || Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().startsWith("AWT-EventQueue"));
    }

    /** Return when the queue has been worked off some times over: handlers queue further work, and painting. */
    static void idle(long limitMillis) throws AgentException {
        var done = new CountDownLatch(1);
        requireRunning();
        later(ROUNDS, done);
        THREAD.await(done, limitMillis);
    }

    private static void later(int rounds, CountDownLatch done) {
        EventQueue.invokeLater(() -> {
            if (rounds == 0) {
                done.countDown();
            } else {
                later(rounds - 1, done);
            }
        });
    }

    private static void submit(Runnable work) throws AgentException {
        requireRunning();
        EventQueue.invokeLater(work);
    }

    private static void requireRunning() throws AgentException {
        if (!runs()) {
            throw new AgentException(ErrorCode.NO_STAGES, "Swing does not run in this program yet");
        }
    }
}
