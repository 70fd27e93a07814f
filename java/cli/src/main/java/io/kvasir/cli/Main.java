package io.kvasir.cli;

import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ErrorStream;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.cli.terminal.LabelledErrors;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.cli.terminal.ServerLogs;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The entry point of the {@code kvasir} process. */
public final class Main {

  private static final String VERBOSE = "--verbose";
  private static final int NOTE_MS = 1_000;

  /** How long a server that has stopped may take to close its files, such as one on a slow disk. */
  private static final int CLOSE_MS = 10_000;

  private Main() {}

  /**
   * Runs a command and ends the process with its exit code.
   *
   * @param args the command and its options
   */
  public static void main(String[] args) {
    List<String> words = List.of(args);
    ServerLogs.configure(words, words.contains(VERBOSE));
    LabelledErrors.install(System.getenv());
    Console console =
        new Console(
            System.in,
            new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)),
            ErrorStream.install(),
            Boolean.getBoolean("kvasir.terminal"),
            System.getenv());
    CountDownLatch done = new CountDownLatch(1);
    Interrupts interrupts = new Interrupts();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> endEarly(done, console, interrupts)));
    int exitCode = new CommandRunner(console, Machine.local(), interrupts).run(args);
    done.countDown();
    console.drainErrors();
    System.exit(exitCode);
  }

  /** Ends a command that a signal interrupts: properly if it can be, otherwise as a failure. */
  private static void endEarly(CountDownLatch done, Console console, Interrupts interrupts) {
    if (done.getCount() > 0) {
      boolean expected = interrupts.isExpected();
      if (!expected) {
        noteInterruption(console);
      }
      int exitCode = interrupts.end();
      if (expected) { // it closes its files now
        await(done);
      }
      console.drainErrors();
      Runtime.getRuntime().halt(exitCode);
    }
  }

  private static void await(CountDownLatch done) {
    try {
      boolean unused = done.await(CLOSE_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** On a thread of its own, because standard error may not be read. */
  private static void noteInterruption(Console console) {
    Thread note = new Thread(() -> console.note((console.terminal() ? "\n" : "") + "interrupted"));
    note.setDaemon(true);
    note.start();
    try {
      note.join(NOTE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
