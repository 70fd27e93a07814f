package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.gateway.observe.LastResort;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntSupplier;

/** Serves until a signal. Stateless. */
final class UntilSignal {

  private UntilSignal() {}

  /**
   * Waits until a signal has stopped a server that runs. A {@link CollectorWatchdog} and a {@link
   * LastResort} end the process if it can serve no more.
   *
   * @param announce announces the server; from then on a signal stops it
   * @param stop stops the server on the signal's thread; supplies how many requests were cut
   */
  static void serve(Console console, Interrupts interrupts, Runnable announce, IntSupplier stop)
      throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    interrupts.endWith(
        () -> {
          console.note("kvasir: stopping after the requests in progress");
          int cut = stop.getAsInt();
          if (cut > 0) {
            console.note("kvasir: " + cut + " requests were cut");
          }
          ended.countDown();
          return ExitCode.DONE;
        });
    CollectorWatchdog.start(console);
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(lastResort(console));
    try {
      announce.run();
      ended.await();
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  /** What ends the process when a thread ends that must live. */
  static LastResort lastResort(Console console) {
    return new LastResort(
        status -> {
          try {
            console.drainErrors();
          } finally {
            Runtime.getRuntime().halt(status);
          }
        });
  }
}
