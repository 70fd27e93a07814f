package io.kvasir.mpi;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.Launch;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.internal.nativelib.MpiLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes that mpirun or srun has started. MPI is fail-stop: a process that ends before all
 * have agreed to end takes the others with it, and no exit code is 0 then.
 *
 * <p>Confined to one thread. One per process.
 */
public final class MpiProcesses implements ProcessGroup {

  private static final Logger LOG = LoggerFactory.getLogger(MpiProcesses.class);
  private static final int TEXT_BYTES = 1 << 12;
  private static final int FAILED = 1;

  /** How long processes wait for each other at the end. */
  private static final Duration END_TIMEOUT = Duration.ofSeconds(60);

  private final int rank;
  private final int size;
  private final int localRank;
  private final MpiFrames frames;

  /** Whether the processes no longer agree. */
  private volatile boolean broken;

  private volatile boolean ended;

  private MpiProcesses(int rank, int size, int localRank) {
    this.rank = rank;
    this.size = size;
    this.localRank = localRank;
    this.frames = new MpiFrames(rank, size);
  }

  /**
   * Initialises MPI.
   *
   * @param shim the compiled shim
   * @param launch what the launcher says
   * @return the processes
   * @throws IOException if MPI fails, or finds other processes than the launcher has started: then
   *     they belong to different MPI libraries
   */
  static MpiProcesses open(Path shim, Optional<Launch> launch) throws IOException {
    byte[] problem = new byte[TEXT_BYTES];
    byte[] path = Arrays.copyOf(shim.toString().getBytes(UTF_8), shim.toString().length() + 1);
    if (!MpiLibrary.kvasir_mpi_load(path, problem, problem.length)) {
      throw new IOException("the MPI shim cannot be loaded: " + text(problem));
    }
    int[] facts = new int[4];
    if (MpiLibrary.kvasir_mpi_start(facts, problem, problem.length) != MpiLibrary.DONE) {
      throw new IOException("MPI does not start: " + text(problem));
    }
    MpiProcesses processes = new MpiProcesses(facts[0], facts[1], facts[2]);
    Runtime.getRuntime().addShutdownHook(new Thread(processes::endAll, "kvasir-mpi-end"));
    processes.requireLaunched(launch);
    LOG.info(
        "process {} of {} is {}, {}", facts[0], facts[1], ProcessHandle.current().pid(), library());
    return processes;
  }

  private static String library() {
    byte[] text = new byte[TEXT_BYTES];
    MpiLibrary.kvasir_mpi_library(text, text.length);
    return text(text);
  }

  static String text(byte[] bytes) {
    int end = 0;
    while (end < bytes.length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, 0, end, UTF_8);
  }

  private void requireLaunched(Optional<Launch> launch) throws IOException {
    if (launch.isPresent() && launch.get().size() != size) {
      throw new IOException(
          launch.get().launcher()
              + " has started "
              + launch.get().size()
              + " processes, but "
              + library()
              + " finds "
              + size
              + ": the launcher belongs to another MPI library; set "
              + MpiShim.COMPILER
              + " to its mpicc");
    }
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int rank() {
    return rank;
  }

  /** {@return the index of this process among those of its node} */
  @Override
  public int localRank() {
    return localRank;
  }

  @Override
  public RankCollective form(GroupSettings settings) {
    if (settings.members().size() != size) {
      throw new LockstepException(
          "the group has "
              + settings.members().size()
              + " members, but MPI has "
              + size
              + " processes");
    }
    return MpiCollective.form(this, settings);
  }

  /** Notes that nothing can be gathered any more; the process must end. */
  void markBroken() {
    broken = true;
  }

  boolean isBroken() {
    return broken;
  }

  MpiFrames frames() {
    return frames;
  }

  /** What an error of MPI means. */
  static String explain(int result) {
    byte[] text = new byte[TEXT_BYTES];
    MpiLibrary.kvasir_mpi_explain(result, text, text.length);
    return text(text);
  }

  /**
   * Waits until all processes give the same mark. If one does not, nothing can be gathered any
   * more.
   */
  void agree(int mark, Duration timeout) {
    if (broken) {
      return;
    }
    broken = frames.mark(mark, timeout) != MpiLibrary.DONE;
    for (int member = 0; member < size && !broken; member++) {
      if (frames.length(member) != mark) {
        broken = true;
        LOG.warn("process {} leaves while process {} does not", rank, member);
      }
    }
  }

  /**
   * Ends MPI if all processes do so. Otherwise leaves it to the end of this process, which ends the
   * others too.
   *
   * @throws LockstepException if the processes did not all come to their end
   */
  @Override
  public void close() {
    if (ended) {
      return;
    }
    agree(MpiFrames.ENDS, END_TIMEOUT);
    if (broken) {
      throw new LockstepException(
          "MPI ends all processes, because not all of them have come to their end");
    }
    ended = true;
    MpiLibrary.kvasir_mpi_finish();
  }

  /** In a shutdown hook: this process ends, and so must the others. */
  private void endAll() {
    if (!ended) {
      MpiLibrary.kvasir_mpi_abort(FAILED);
    }
  }
}
