package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.cli.terminal.ScreenSize;
import io.kvasir.cli.top.Look;
import io.kvasir.cli.top.Metrics;
import io.kvasir.cli.top.Rates;
import io.kvasir.cli.top.Screen;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir top}: ranks, load and last decisions of a running gateway on a terminal. */
@Command(
    name = "top",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Shows the ranks of a running gateway, their load and hits, and its last decisions on a"
          + " terminal, again and again. Rates are those since the screen before.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 the gateway cannot be reached at the start, 2 wrong usage."
    })
final class TopCommand extends AdminCommand implements Callable<Integer> {

  /** What the launcher sets where standard output is a terminal. */
  private static final String SCREEN = "kvasir.screen";

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final double MS_PER_S = 1e3;
  private static final double LEAST_SECONDS = 0.1;
  private static final double MOST_SECONDS = 3_600;
  private static final String CLEAR = "\u001b[2J";
  private static final String TO_START = "\u001b[H";

  /** Before a line, because after one that fills its row it would erase the last character. */
  private static final String CLEAR_LINE = "\u001b[K";

  private static final String CLEAR_BELOW = "\u001b[J";

  private final Console console;
  private final Machine machine;
  private final Interrupts interrupts;

  private final Declared<Double> intervalSeconds =
      number("--interval-seconds", "1", LEAST_SECONDS, MOST_SECONDS)
          .help(2, "Time between two screens");

  @Option(
      names = "--once",
      order = 3,
      description =
          "Print one screen after one interval, and end, as where standard output is no terminal.")
  private boolean once;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  TopCommand(Console console, Machine machine, Interrupts interrupts) {
    this.console = console;
    this.machine = machine;
    this.interrupts = interrupts;
  }

  @Override
  public Integer call() throws Exception {
    AdminClient admin = admin(null, TIMEOUT);
    long intervalMs = Math.round(MS_PER_S * intervalSeconds.value());
    boolean terminal = Boolean.parseBoolean(machine.java().getProperty(SCREEN));
    Look first = look(admin);
    if (once || !terminal) {
      Thread.sleep(intervalMs);
      Look now = look(admin);
      ScreenSize size = ScreenSize.of(console.environment(), terminal);
      console.print(String.join("\n", lines(size, now, Rates.between(first, now), "")) + "\n");
    } else {
      redraw(admin, first, intervalMs);
    }
    return ExitCode.DONE;
  }

  /** Draws until a signal comes. No mode of the terminal is changed, so none has to be restored. */
  private void redraw(AdminClient admin, Look first, long intervalMs)
      throws Console.OutputException {
    CountDownLatch ended = new CountDownLatch(1);
    Thread self = Thread.currentThread();
    interrupts.endWith(
        () -> {
          ended.countDown();
          self.interrupt(); // it may wait for an answer
          return ExitCode.DONE;
        });
    Look last = first;
    Rates rates = Rates.between(null, first);
    String trouble = "";
    console.print(CLEAR);
    try {
      while (true) {
        draw(ScreenSize.of(console.environment(), true), last, rates, trouble);
        if (ended.await(intervalMs, TimeUnit.MILLISECONDS)) {
          return;
        }
        try {
          Look now = look(admin);
          rates = Rates.between(last, now);
          last = now;
          trouble = "";
        } catch (IOException e) {
          if (ended.getCount() == 0) {
            return; // the signal has cut it short
          }
          long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - last.atNs());
          trouble = "for " + seconds + " s: " + Errors.reason(e);
        }
      }
    } catch (InterruptedException e) {
      return; // by the signal
    }
  }

  private static Look look(AdminClient admin) throws IOException {
    return new Look(
        System.nanoTime(),
        admin.workers(),
        admin.ranks(),
        admin.decisions(),
        Metrics.of(admin.metrics()));
  }

  /** The last row stays free for the cursor. */
  private void draw(ScreenSize size, Look look, Rates rates, String trouble)
      throws Console.OutputException {
    StringBuilder text = new StringBuilder(TO_START);
    ScreenSize above = new ScreenSize(size.columns(), size.rows() - 1);
    for (String line : lines(above, look, rates, trouble)) {
      text.append(CLEAR_LINE).append(line).append('\n');
    }
    console.print(text.append(CLEAR_BELOW).toString());
  }

  private List<String> lines(ScreenSize size, Look look, Rates rates, String trouble) {
    return new Screen(adminUrl().toString(), look, rates, trouble)
        .lines(size.columns(), size.rows());
  }
}
