package io.kvasir.cli.terminal;

import java.util.Locale;

/**
 * Shows on a terminal which case of a comparison is played, and how many of its replays are done.
 * Closing it erases it. Thread-safe.
 */
public final class CaseProgress implements AutoCloseable {

  private static final int WIDTH = 30;
  private static final String WIPE = "\r\u001b[K";

  private final Console console;
  private final int cases;
  private final int replays;
  private int current;
  private String name = "";
  private int done;
  private int planned;
  private boolean drawn;

  /**
   * Makes a progress. It is not drawn yet.
   *
   * @param cases number of cases, at least 1
   * @param replays replays of a case that is not saturated; a saturated one has about as many again
   * @param console receives the progress if it is a terminal
   */
  public CaseProgress(int cases, int replays, Console console) {
    this.cases = cases;
    this.replays = replays;
    this.console = console;
  }

  /**
   * The next case begins.
   *
   * @param of its name
   */
  public synchronized void begin(String of) {
    current++;
    name = of;
    done = 0;
    planned = replays;
    draw();
  }

  /** A replay of the case is done. */
  public synchronized void replayed() {
    done++;
    if (done > planned) {
      planned += replays;
    }
    draw();
  }

  private void draw() {
    if (!console.terminal()) {
      return;
    }
    drawn = true;
    int filled = done * WIDTH / planned;
    console
        .err()
        .print(
            String.format(
                Locale.ROOT,
                "%scase %d of %d, %s [%s%s] %d of %d replays",
                WIPE,
                current,
                cases,
                name,
                "#".repeat(filled),
                " ".repeat(WIDTH - filled),
                done,
                planned));
    console.err().flush();
  }

  /** Erases what is shown, so that something else can be written. */
  public synchronized void erase() {
    if (drawn) {
      console.err().print(WIPE);
      console.err().flush();
      drawn = false;
    }
  }

  @Override
  public void close() {
    erase();
  }
}
