package uimcp.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/** Does work on the UI thread for a few milliseconds at a time, and records how long each slice took. */
public final class Slices {
    /** Half of the eight milliseconds that a slice may take: a garbage collection may come on top. */
    private static final long NANOS = 4_000_000;
    private static final int MAX_KEPT = 4096;

    private static final long[] clockTimes = new long[MAX_KEPT];
    private static final long[] cpuTimes = new long[MAX_KEPT];
    private static int count;

    private Slices() {}

    /** Call a step until it returns false or the time is up; return what it returned last. */
    public static boolean more(BooleanSupplier step) {
        long began = System.nanoTime();
        boolean more = true;
        while (more && System.nanoTime() - began < NANOS) {
            more = step.getAsBoolean();
        }
        return more;
    }

    /** Do one slice of work, and record how long it took. */
    static <T> T measured(Callable<T> work) throws Exception {
        long began = System.nanoTime();
        long cpuBegan = cpuNanos();
        try {
            return work.call();
        } finally {
            add(System.nanoTime() - began, cpuNanos() - cpuBegan);
        }
    }

    /** Return the slices since the last call, in milliseconds: by the clock, and the processor time within. */
    static synchronized Map<String, Object> drain() {
        int kept = Math.min(count, MAX_KEPT);
        var drained = Map.<String, Object>of("clockMs", millis(clockTimes, kept), "workMs", millis(cpuTimes, kept));
        count = 0;
        return drained;
    }

    private static synchronized void add(long clock, long cpu) {
        clockTimes[count % MAX_KEPT] = clock;
        cpuTimes[count % MAX_KEPT] = cpu;
        count++;
    }

    private static List<Double> millis(long[] nanos, int kept) {
        var found = new ArrayList<Double>();
        Arrays.stream(nanos, 0, kept).forEach(nano -> found.add(nano / 1e6));
        return found;
    }

    /** Processor time of this thread; the clock where the runtime does not measure it. */
    private static long cpuNanos() {
        try {
            return Clock.THREADS.getCurrentThreadCpuTime();
        } catch (LinkageError absent) {
            return System.nanoTime();
        }
    }

    /** A class of its own, because runtime images may lack the module java.management. */
    private static final class Clock {
        static final java.lang.management.ThreadMXBean THREADS = java.lang.management.ManagementFactory.getThreadMXBean();
    }
}
