package uimcp.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/** Does work on the JavaFX thread for a few milliseconds at a time, and knows how long each time was. */
final class Slices {
    /** Half of the eight milliseconds we allow ourselves: a pause of the collector may still come on top. */
    private static final long NANOS = 4_000_000;
    private static final int KEPT = 4096;

    private static final long[] clocks = new long[KEPT];
    private static final long[] works = new long[KEPT];
    private static int count;

    private Slices() {}

    /** Call a step until it says that nothing is left or the time is up; say whether there is more. */
    static boolean more(BooleanSupplier step) {
        long began = System.nanoTime();
        long worked = cpuNanos();
        boolean more = true;
        while (more && System.nanoTime() - began < NANOS) {
            more = step.getAsBoolean();
        }
        note(System.nanoTime() - began, cpuNanos() - worked);
        return more;
    }

    /** Do something that cannot be cut into steps. */
    static <T> T whole(Callable<T> work) throws Exception {
        long began = System.nanoTime();
        long worked = cpuNanos();
        try {
            return work.call();
        } finally {
            note(System.nanoTime() - began, cpuNanos() - worked);
        }
    }

    /** The slices since the last question: by the clock, and what of it was work and not waiting; milliseconds. */
    static synchronized Map<String, Object> drain() {
        int kept = Math.min(count, KEPT);
        var drained = Map.<String, Object>of("clockMs", millis(clocks, kept), "workMs", millis(works, kept));
        count = 0;
        return drained;
    }

    private static synchronized void note(long clock, long work) {
        clocks[count % KEPT] = clock;
        works[count % KEPT] = work;
        count++;
    }

    private static List<Double> millis(long[] nanos, int kept) {
        var found = new ArrayList<Double>();
        Arrays.stream(nanos, 0, kept).forEach(nano -> found.add(nano / 1e6));
        return found;
    }

    /** Time this thread has worked, where the runtime can tell; else the clock. */
    private static long cpuNanos() {
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
}
