package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which files and shapes are those of shared pools, and whose they are. */
class SharedPoolFilesTest {

  private static final RankId RANK = new RankId(-1, 3);
  private static final PoolShape SHAPE = new PoolShape(60, 2, 6, 12, 64);
  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("pool");
  }

  private SharedPoolRegion region() throws IOException {
    return SharedPoolRegion.create(file(), SHAPE, RANK, 4096);
  }

  private SharedPoolReader reader() throws IOException {
    return SharedPoolReader.open(file(), Duration.ofSeconds(2), System::nanoTime);
  }

  @Test
  void filesThatAreNoSharedPoolsAreNamedWithTheReason() throws IOException {
    assertThatThrownBy(this::reader).isInstanceOf(IOException.class).hasMessageContaining("pool");
    Files.createFile(
        file(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.write(file(), new byte[] {1, 2, 3});
    assertThatThrownBy(this::reader).hasMessageContaining("truncated: it ends before byte 8");
    Files.write(file(), new byte[8192]);
    assertThatThrownBy(this::reader).hasMessageContaining("not a shared pool");
    assertThatThrownBy(this::region)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot replace an existing file");
    assertThat(Files.readAllBytes(file())).hasSize(8192).containsOnly(0);
    Files.delete(file());
    try (SharedPoolRegion region = region();
        FileChannel channel =
            FileChannel.open(file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer header = ByteBuffer.allocate(64).order(ByteOrder.nativeOrder());
      channel.read(header, 0);
      damaged(
          channel, header, 8, 99, "has version 99 of shared pools; only version 1 is supported");
      damaged(channel, header, 12, 77, "interface version 77");
      damaged(channel, header, 16, -5, "capacityBlocks must be at least 1, not -5");
      damaged(channel, header, 32, 1000, "truncated: 8192 of 36864 bytes");
      damaged(channel, header, 32, 0, "eventCapacity of a shared pool must be 1 to");
      damaged(channel, header, 32, Integer.MAX_VALUE, "eventCapacity of a shared pool must be 1");
      damaged(channel, header, 16, Integer.MAX_VALUE, "capacityBlocks of a shared pool must fit");
      damaged(channel, header, 52, -1, "kvBytesPerBlock must be at least 0");
      channel.truncate(6000);
      assertThatThrownBy(this::reader).hasMessageContaining("truncated: 6000 of 8192 bytes");
      assertThat(region.file()).isEqualTo(file());
    }
  }

  private void damaged(FileChannel file, ByteBuffer header, int at, int value, String reason)
      throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(64).order(ByteOrder.nativeOrder());
    copy.put(0, header, 0, 64).putInt(at, value);
    file.write(copy, 0);
    assertThatThrownBy(this::reader).isInstanceOf(IOException.class).hasMessageContaining(reason);
    file.write(header.clear(), 0);
  }

  @Test
  void aFileHasOneOwnerAndOnePool() throws IOException {
    try (SharedPoolRegion region = region()) {
      assertThatThrownBy(this::region)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("belongs to another pool of this process");
      NativeBlockPool.create(region).close();
      assertThatIllegalStateException()
          .isThrownBy(() -> NativeBlockPool.create(region))
          .withMessageContaining("serve only one pool");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
          .isEqualTo("rw-------");
    }
    region().close();
  }

  @Test
  void shapesThatCannotBeSharedAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SharedPoolRegion.create(file(), new PoolShape(4, 1, 1, 1, 0), RANK, 0))
        .withMessageContaining("eventCapacity of a shared pool must be 1 to");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                SharedPoolRegion.create(
                    file(), new PoolShape(Integer.MAX_VALUE, 1, 1, 1, 1), RANK, 0))
        .withMessageContaining("capacityBlocks of a shared pool");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SharedPoolRegion.create(file(), SHAPE, RANK, -1))
        .withMessageContaining("kvBytesPerBlock");
  }
}
