package io.kvasir.gateway.observe;

import java.util.List;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process when a thread ends that must live: a gateway without its event loops, or without
 * the threads of its sockets, would look healthy and do nothing, whereas a supervisor starts an
 * ended process again. So does an error of the virtual machine in any thread. Other ends of threads
 * are logged.
 *
 * <p>Thread-safe.
 */
public final class LastResort implements Thread.UncaughtExceptionHandler {

  /** The exit status of the process. */
  public static final int EXIT_STATUS = 70;

  private static final Logger LOG = LoggerFactory.getLogger(LastResort.class);

  /** How the names of threads begin that must live: Kvasir's, JeroMQ's, and Vert.x's. */
  private static final List<String> MUST_LIVE = List.of("kvasir-", "iothread", "reaper", "vert.x-");

  private final IntConsumer halt;

  /**
   * Creates the handler.
   *
   * @param halt ends the process with a status, without steps that could need what is missing
   */
  public LastResort(IntConsumer halt) {
    this.halt = halt;
  }

  @Override
  public void uncaughtException(Thread thread, Throwable cause) {
    boolean ends =
        cause instanceof VirtualMachineError
            || MUST_LIVE.stream().anyMatch(thread.getName()::startsWith);
    try {
      if (ends) {
        LOG.error(
            "thread {} has ended, without which nothing works; the process ends with status {}",
            thread.getName(),
            EXIT_STATUS,
            cause);
      } else {
        LOG.error("thread {} has ended", thread.getName(), cause);
      }
    } finally {
      if (ends) {
        halt.accept(EXIT_STATUS);
      }
    }
  }
}
