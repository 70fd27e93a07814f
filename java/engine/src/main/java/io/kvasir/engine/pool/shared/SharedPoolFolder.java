package io.kvasir.engine.pool.shared;

import io.kvasir.internal.nativelib.FileLibrary;
import io.kvasir.internal.nativelib.PrivateFolder;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The default folder of shared pools: a folder of this user alone in an in-memory file system.
 *
 * <p>Stateless.
 */
final class SharedPoolFolder {

  /** A folder in which every user may create entries, but not remove those of others. */
  private static final Path MEMORY = Path.of("/dev/shm");

  private SharedPoolFolder() {}

  /** Creates the folder if missing, and checks it. */
  static Path create() throws IOException {
    return create(System.getenv("XDG_RUNTIME_DIR"), MEMORY);
  }

  static Path create(String runtimeFolder, Path memory) throws IOException {
    Path folder =
        isUsable(runtimeFolder)
            ? Path.of(runtimeFolder, "kvasir")
            : memory.resolve("kvasir-" + FileLibrary.kvasir_user());
    return PrivateFolder.require(folder);
  }

  /** False also for the folder of another user, whose environment {@code su} may have kept. */
  private static boolean isUsable(String runtimeFolder) {
    return runtimeFolder != null
        && runtimeFolder.startsWith("/")
        && PrivateFiles.isOwnFolder(Path.of(runtimeFolder));
  }
}
