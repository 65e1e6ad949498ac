import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import javafx.application.Platform;

/** The demo beside a control: idle turns of the same length on the same thread, to tell our work from the machine's pauses. */
public final class Control {
    private static final long NANOS = 4_000_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Control() {}

    public static void main(String[] arguments) {
        var watching = new Thread(() -> watch(arguments[0]), "control");
        watching.setDaemon(true);
        watching.start();
        Demo.main(new String[0]);
    }

    private static void watch(String file) {
        try (var out = new PrintWriter(file)) {
            while (true) {
                Thread.sleep(40);
                var done = new CountDownLatch(1);
                try {
                    Platform.runLater(() -> spin(out, done));
                    done.await();
                } catch (IllegalStateException early) {
                    continue;
                }
            }
        } catch (Exception ended) {
            throw new IllegalStateException(ended);
        }
    }

    private static void spin(PrintWriter out, CountDownLatch done) {
        long began = System.nanoTime();
        long worked = THREADS.getCurrentThreadCpuTime();
        while (System.nanoTime() - began < NANOS) {
            Thread.onSpinWait();
        }
        long clock = System.nanoTime() - began;
        long work = THREADS.getCurrentThreadCpuTime() - worked;
        out.println(System.currentTimeMillis() + " " + clock / 1e6 + " " + work / 1e6);
        out.flush();
        done.countDown();
    }
}
