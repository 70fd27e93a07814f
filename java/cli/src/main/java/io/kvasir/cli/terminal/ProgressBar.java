package io.kvasir.cli.terminal;

import io.kvasir.simulator.replay.ReplayProgress;
import java.time.Duration;
import java.util.Locale;

/**
 * Shows the progress of a replay on a terminal, from the first second on. Closing it erases it.
 * Confined to one thread.
 */
public final class ProgressBar implements ReplayProgress, AutoCloseable {

  private static final long LONG_WORK_NS = Duration.ofSeconds(1).toNanos();
  private static final long REDRAW_NS = Duration.ofMillis(100).toNanos();
  private static final int WIDTH = 30;
  private static final int PERCENT = 100;
  private static final long NS_PER_S = 1_000_000_000;
  private static final String WIPE = "\r\u001b[K";

  private final String title;
  private final Console console;
  private long drawAtNs = System.nanoTime() + LONG_WORK_NS;
  private boolean drawn;
  private long lastSettled;
  private long lastArrived;

  /**
   * Makes a bar. It is not drawn yet.
   *
   * @param title text in front of the bar
   * @param console receives the bar if it is a terminal
   */
  public ProgressBar(String title, Console console) {
    this.title = title;
    this.console = console;
  }

  @Override
  public void at(long settled, long arrived, long planned, long virtualNs) {
    lastSettled = settled;
    lastArrived = arrived;
    if (!console.terminal() || System.nanoTime() - drawAtNs < 0) {
      return;
    }
    drawAtNs = System.nanoTime() + REDRAW_NS;
    drawn = true;
    int filled = (int) (settled * WIDTH / planned);
    console
        .err()
        .print(
            String.format(
                Locale.ROOT,
                "%s%s [%s%s] %d %%, %,d of %,d requests, %,d modelled s",
                WIPE,
                title,
                "#".repeat(filled),
                " ".repeat(WIDTH - filled),
                settled * PERCENT / planned,
                settled,
                planned,
                virtualNs / NS_PER_S));
    console.err().flush();
  }

  /** {@return requests answered or rejected, at the last report} */
  public long settled() {
    return lastSettled;
  }

  /** {@return requests that had arrived and were neither answered nor rejected, at that time} */
  public long inFlight() {
    return lastArrived - lastSettled;
  }

  @Override
  public void close() {
    if (drawn) {
      console.err().print(WIPE);
      console.err().flush();
    }
  }
}
