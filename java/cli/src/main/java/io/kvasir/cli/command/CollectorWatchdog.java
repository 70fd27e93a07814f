package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a server whose process does little but collect garbage: it answers too late for any client
 * and any probe, and a supervisor that restarts it helps more.
 *
 * <p>Not thread-safe, except {@link #start}.
 */
final class CollectorWatchdog {

  /** The percentage of a window that collections may take; 0 switches the watchdog off. */
  static final String LIMIT_PROPERTY = "kvasir.gc.time.limit";

  static final int DEFAULT_LIMIT = 90;
  static final int WINDOW_SECONDS = 30;

  private static final int CHECK_MS = 1_000;
  private static final long NS_PER_MS = 1_000_000;
  private static final long WINDOW_NS = 1_000 * WINDOW_SECONDS * NS_PER_MS;

  private final LongSupplier clockNs;
  private final LongSupplier collectionMs;
  private final int limitPercent;
  private final Consumer<String> onExceeded;

  /** Those of the window, oldest first. */
  private final Deque<Sample> samples = new ArrayDeque<>();

  /** The last one from before the window; null in the first window. */
  private @Nullable Sample oldest;

  /** The time that all collections have taken, at a time. */
  private record Sample(long atNs, long collectionMs) {}

  /**
   * Begins without samples.
   *
   * @param clockNs the clock, in nanoseconds
   * @param collectionMs time that collections have taken since the start, in milliseconds
   * @param limitPercent the most of a window that they may take, 1 to 100
   * @param onExceeded receives a message when they take more
   */
  CollectorWatchdog(
      LongSupplier clockNs,
      LongSupplier collectionMs,
      int limitPercent,
      Consumer<String> onExceeded) {
    this.clockNs = clockNs;
    this.collectionMs = collectionMs;
    this.limitPercent = limitPercent;
    this.onExceeded = onExceeded;
  }

  /**
   * Starts a thread that ends the process, with a message, when the limit is exceeded.
   *
   * @param console receives the message
   */
  static void start(Console console) {
    int limit = Integer.getInteger(LIMIT_PROPERTY, DEFAULT_LIMIT);
    if (limit <= 0) {
      return;
    }
    CollectorWatchdog watchdog =
        new CollectorWatchdog(
            System::nanoTime,
            CollectorWatchdog::totalCollectionMs,
            limit,
            message -> {
              console.note(message);
              console.drainErrors();
              Runtime.getRuntime().halt(ExitCode.FAILED);
            });
    Thread thread = new Thread(watchdog::watch, "kvasir-collector-watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    try {
      while (true) {
        check();
        Thread.sleep(CHECK_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Takes a sample and compares it with the one from a window before. */
  void check() {
    Sample now = new Sample(clockNs.getAsLong(), collectionMs.getAsLong());
    samples.addLast(now);
    while (isOld(now, samples.getFirst())) {
      oldest = samples.removeFirst();
    }
    Sample before = oldest;
    if (before == null) {
      return;
    }
    long wallMs = (now.atNs - before.atNs) / NS_PER_MS;
    long percent = 100 * (now.collectionMs - before.collectionMs) / wallMs;
    if (percent > limitPercent) {
      onExceeded.accept(
          "kvasir: ends, because collecting garbage took "
              + percent
              + " % of the last "
              + wallMs / 1_000
              + " seconds (limit "
              + limitPercent
              + " %, -D"
              + LIMIT_PROPERTY
              + "); a larger heap (-Xmx in KVASIR_JAVA_OPTIONS) or a smaller --body-budget-mb helps");
    }
  }

  private static boolean isOld(Sample now, Sample sample) {
    return now.atNs - sample.atNs >= WINDOW_NS;
  }

  /** Time in which collectors have stopped the process. Concurrent ones do not count. */
  private static long totalCollectionMs() {
    long sum = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      boolean concurrent =
          collector.getName().contains("Concurrent") || collector.getName().contains("Cycles");
      sum += concurrent ? 0 : Math.max(0, collector.getCollectionTime());
    }
    return sum;
  }
}
