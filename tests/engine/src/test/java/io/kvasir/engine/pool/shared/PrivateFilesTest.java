package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.pool.PoolChurn;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What other users may put in the place of a shared pool's files is refused by name. */
@Tag("process")
class PrivateFilesTest {

  private static final PoolShape SHAPE = new PoolShape(60, 2, 6, 12, 64);
  private static final RankId RANK = new RankId(1, 0);
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final int STRANGER = 65534;

  /** Something that is not a regular file of this user alone. */
  private enum Obstacle {
    FIFO("is a FIFO and not a regular file") {
      @Override
      void put(Path path) throws IOException {
        run("mkfifo", "-m", "600", path.toString());
      }
    },
    FOLDER("is a folder and not a regular file") {
      @Override
      void put(Path path) throws IOException {
        Files.createDirectory(path);
      }
    },
    SYMBOLIC_LINK("is a symbolic link and not a regular file") {
      @Override
      void put(Path path) throws IOException {
        Path target = path.resolveSibling("target");
        PrivateFiles.create(target).close();
        Files.createSymbolicLink(path, target);
      }
    },
    LINK_TO_NOTHING("is a symbolic link and not a regular file") {
      @Override
      void put(Path path) throws IOException {
        Files.createSymbolicLink(path, path.resolveSibling("nothing"));
      }
    },
    DEVICE("is a device and not a regular file") {
      @Override
      void put(Path path) throws IOException {
        requireRoot();
        run("mknod", "-m", "600", path.toString(), "c", "1", "5");
      }
    },
    OPEN_TO_OTHERS("is open to other users: its mode is 644 and must end in 00") {
      @Override
      void put(Path path) throws IOException {
        PrivateFiles.create(path).close();
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
      }
    },
    OF_A_STRANGER("belongs to user 65534 and not to user ") {
      @Override
      void put(Path path) throws IOException {
        requireRoot();
        PrivateFiles.create(path).close();
        Files.setAttribute(path, "unix:uid", STRANGER);
      }
    };

    final String reason;

    Obstacle(String reason) {
      this.reason = reason;
    }

    abstract void put(Path path) throws IOException;
  }

  private final AtomicLong clock = new AtomicLong();
  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("pool");
  }

  private SharedPoolRegion region() throws IOException {
    return SharedPoolRegion.create(file(), SHAPE, RANK, 0);
  }

  private SharedPoolReader reader() throws IOException {
    return SharedPoolReader.open(file(), PATIENCE, clock::get);
  }

  private static void run(String... command) throws IOException {
    assertThat(exitValue(command)).as(String.join(" ", command)).isZero();
  }

  private static int exitValue(String... command) throws IOException {
    try (ChildProcess process = ChildProcess.start(command[0], new ProcessBuilder(command))) {
      return process.exitCode();
    }
  }

  private static void requireRoot() throws IOException {
    Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    assumeTrue(user.equals(0), "needs root, to make devices and files of another user");
  }

  private interface Call {
    AutoCloseable run() throws Exception;
  }

  /** The call may not succeed and not hang. */
  private static void assertRefused(Call call, String path, String reason) {
    Throwable thrown = Await.call("a refusal", () -> catchThrowable(() -> call.run().close()));
    assertThat(thrown).isInstanceOf(IOException.class).hasMessageContaining(path + " " + reason);
  }

  @ParameterizedTest
  @EnumSource
  void inThePlaceOfTheFile(Obstacle obstacle) throws IOException {
    obstacle.put(file());
    assertRefused(this::reader, file().toString(), obstacle.reason);
    assertRefused(this::region, file().toString(), obstacle.reason);
    assertThat(Files.exists(file(), LinkOption.NOFOLLOW_LINKS)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void inThePlaceOfAFileNextToIt(Obstacle obstacle) throws IOException {
    for (String suffix : new String[] {".lock", ".snapshot", ".new"}) {
      Path path = folder.resolve("pool" + suffix);
      Files.deleteIfExists(path);
      Files.deleteIfExists(folder.resolve("target"));
      obstacle.put(path);
      assertRefused(this::region, path.toString(), obstacle.reason);
      Files.delete(path);
    }
    region().close();
  }

  /** The owner answers with a snapshot in vain; both go on. */
  @ParameterizedTest
  @EnumSource
  void inThePlaceOfASnapshot(Obstacle obstacle) throws IOException {
    Path snapshot = folder.resolve("pool.snapshot");
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region)) {
      PoolChurn churn = new PoolChurn(pool, 1);
      while (region.nextEvent() < 3L * SHAPE.eventCapacity()) {
        churn.comeOrGo();
      }
      try (SharedPoolReader reader = reader()) {
        assertThat(reader.poll()).isFalse();
        pool.serveSnapshots();
        Files.delete(snapshot);
        obstacle.put(snapshot);
        boolean inSync = Await.call("a poll", reader::poll);
        assertThat(inSync).isFalse();
        assertThat(reader.failedSnapshots()).isOne();
        Files.delete(snapshot);
        clock.addAndGet(PATIENCE.toNanos());
        reader.poll();
        pool.serveSnapshots();
        assertThat(reader.poll()).isTrue();
      }
    }
  }

  @Test
  void theDefaultFolderBelongsToThisUserAlone() throws IOException {
    Path runtime = Files.createDirectory(folder.resolve("runtime"));
    Path created = SharedPoolFolder.create(runtime.toString(), folder);
    assertThat(created).isEqualTo(runtime.resolve("kvasir"));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(created)))
        .isEqualTo("rwx------");
    assertThat(SharedPoolFolder.create(runtime.toString(), folder)).isEqualTo(created);

    Path inMemory = folder.resolve("kvasir-" + Files.getAttribute(folder, "unix:uid"));
    for (String unusable : new String[] {null, "", "runtime", folder.resolve("none").toString()}) {
      assertThat(SharedPoolFolder.create(unusable, folder)).isEqualTo(inMemory);
    }
    Files.delete(inMemory);
    Files.setPosixFilePermissions(created, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertRefusedFolder(runtime, created, "must have mode 0700, not 0777");
    Files.delete(created);
    Files.createSymbolicLink(created, runtime);
    assertRefusedFolder(runtime, created, "must be a folder and no symbolic link");
    Files.delete(created);
    PrivateFiles.create(created).close();
    assertRefusedFolder(runtime, created, "must be a folder and no symbolic link");
  }

  @Test
  void theDefaultFolderIsNotOneOfAStranger() throws IOException {
    requireRoot();
    Path runtime = Files.createDirectory(folder.resolve("runtime"));
    Files.createDirectory(folder.resolve("kvasir-0"));
    Files.setAttribute(folder.resolve("kvasir-0"), "unix:uid", STRANGER);
    assertRefusedFolder(null, folder.resolve("kvasir-0"), "belongs to user 65534, not 0");
    Files.delete(folder.resolve("kvasir-0"));
    Files.setAttribute(runtime, "unix:uid", STRANGER);
    assertThat(SharedPoolFolder.create(runtime.toString(), folder))
        .as("another user's runtime folder is not used")
        .isEqualTo(folder.resolve("kvasir-0"));
  }

  private void assertRefusedFolder(Path runtime, Path created, String reason) {
    assertThatThrownBy(
            () -> SharedPoolFolder.create(runtime == null ? null : runtime.toString(), folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(created + " " + reason);
  }

  /** A process of another user can neither truncate a region nor read it. */
  @Test
  void aStrangersProcessHasNoAccess() throws IOException {
    requireRoot();
    assumeTrue(Files.exists(Path.of("/usr/bin/setpriv")), "needs setpriv, to be another user");
    Files.setAttribute(folder, "unix:mode", 01777); // like /dev/shm
    Path pools = SharedPoolFolder.create(null, folder);
    Path file = pools.resolve("pool");
    try (SharedPoolRegion region = SharedPoolRegion.create(file, SHAPE, RANK, 0);
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolReader reader = SharedPoolReader.open(file, PATIENCE, clock::get)) {
      for (String attempt : new String[] {": > " + file, ": < " + file, "ls " + pools + "/"}) {
        assertThat(asStranger(attempt)).as(attempt).isNotZero();
      }
      assertThat(asStranger("mkfifo -m 666 " + folder.resolve("fifo"))).isZero();
      assertThat(reader.poll()).isTrue();
      assertThat(reader.occupancy()).isEqualTo(pool.occupancy());
    }
    Path fifo = folder.resolve("fifo");
    assertRefused(
        () -> SharedPoolReader.open(fifo, PATIENCE, clock::get), fifo.toString(), "is a FIFO");
  }

  private static int asStranger(String shell) throws IOException {
    return exitValue(
        "setpriv",
        "--reuid=" + STRANGER,
        "--regid=" + STRANGER,
        "--clear-groups",
        "sh",
        "-c",
        "exec 2>/dev/null; " + shell);
  }

  @Test
  void aPrivateFileIsOpenedAsItIs() throws IOException {
    PrivateFiles.create(file()).close();
    Files.write(file(), new byte[] {1, 2, 3});
    try (FileChannel channel = PrivateFiles.open(file(), StandardOpenOption.READ)) {
      assertThat(channel.size()).isEqualTo(3);
    }
    PrivateFiles.delete(file());
    assertThat(file()).doesNotExist();
    PrivateFiles.delete(file());
  }
}
