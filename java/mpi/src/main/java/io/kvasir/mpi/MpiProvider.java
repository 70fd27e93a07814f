package io.kvasir.mpi;

import io.kvasir.engine.lockstep.Launch;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.ProcessGroupProvider;
import java.io.IOException;
import java.util.Optional;

/** Opens the processes of mpirun or srun. Thread-safe. */
public final class MpiProvider implements ProcessGroupProvider {

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public MpiProvider() {}

  @Override
  public String name() {
    return "mpi";
  }

  @Override
  public ProcessGroup open(Optional<Launch> launch) throws IOException {
    return MpiProcesses.open(MpiShim.file(System.getenv(), launch), launch);
  }
}
