package io.kvasir.cli.terminal;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;

/** What happens when a signal ends the process while a command runs. Thread-safe. */
public final class Interrupts {

  private final AtomicReference<IntSupplier> action = new AtomicReference<>();

  /** Creates interrupts that end the process as a failure. */
  public Interrupts() {}

  /**
   * Sets what ends the command properly.
   *
   * @param ending ends the command and supplies the exit code
   */
  public void endWith(IntSupplier ending) {
    action.set(ending);
  }

  /** {@return whether the command can be ended properly} */
  public boolean isExpected() {
    return action.get() != null;
  }

  /** {@return the exit code, after the command was ended; a failure if it cannot be} */
  public int end() {
    IntSupplier ending = action.get();
    return ending == null ? ExitCode.FAILED : ending.getAsInt();
  }
}
