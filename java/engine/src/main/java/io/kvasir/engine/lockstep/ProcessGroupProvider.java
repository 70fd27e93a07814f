package io.kvasir.engine.lockstep;

import java.io.IOException;
import java.util.Optional;

/**
 * Opens the processes of a launcher over a network that is not part of this library, such as MPI.
 * Found by {@link java.util.ServiceLoader}.
 */
public interface ProcessGroupProvider {

  /** {@return the network's name, in lower case} */
  String name();

  /**
   * Opens the processes. Once in a process.
   *
   * @param launch what the launcher says about this process; empty if no launcher is known
   * @return the processes
   * @throws IOException if the network cannot be used; the message says what is missing
   */
  ProcessGroup open(Optional<Launch> launch) throws IOException;
}
