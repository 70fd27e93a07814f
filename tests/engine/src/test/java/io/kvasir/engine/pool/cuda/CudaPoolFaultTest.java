package io.kvasir.engine.pool.cuda;

import static io.kvasir.engine.pool.cuda.CudaBlockPoolInPhasesTest.NO_BLOCKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.engine.device.ShimCall;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.engine.pool.RandomPoolRun;
import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.TestHash;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pool on a device that refuses a call, or is lost at it, whichever call that is. */
class CudaPoolFaultTest {

  private static final int OUT_OF_MEMORY = 2;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final long BYTES = 1 << 20;
  private static final PoolShape SHAPE = new PoolShape(6, 2, 3, 6, 40);
  private static final int LITTLE_STAGING = 64;
  private static final int STEPS = 11;

  /** Limits of blocks of one launch: every submission is, and none is. */
  private static final int[] ONE_LAUNCH_BLOCKS = {Integer.MAX_VALUE, NO_BLOCKS};

  private static final long SEED = firstThatEvicts();

  /** Calls that give something back, which no driver refuses for want of memory. */
  private static final Set<ShimCall> GIVING_BACK =
      EnumSet.of(ShimCall.FREE, ShimCall.FREE_PINNED, ShimCall.CLOSE_STREAM, ShimCall.CLOSE_EVENT);

  private static final Set<ShimCall> TAKING_MEMORY =
      EnumSet.of(ShimCall.ALLOCATE, ShimCall.ALLOCATE_PINNED);

  /** What became of a history. */
  private enum End {
    NOT_CREATED,
    UNHARMED,
    REFUSED_AND_ASKED_AGAIN,
    LOST
  }

  private static long firstThatEvicts() {
    for (long seed = 1; ; seed++) {
      try (ShimDevice device = ShimDevice.of(BYTES)) {
        int[] evicted = new int[1];
        run(device, seed, NO_BLOCKS, evicted);
        if (evicted[0] > 0) {
          return seed;
        }
      }
    }
  }

  @Test
  void theHistoryTouchesEverything() {
    try (ShimDevice device = ShimDevice.of(BYTES)) {
      int[] evicted = new int[1];
      assertThat(run(device, SEED, NO_BLOCKS, evicted)).isEqualTo(End.UNHARMED);
      assertThat(evicted[0]).isPositive();
      assertThat(device.count(ShimCall.ALLOCATE)).as("staging must grow").isGreaterThan(3);
      assertThat(device.count(ShimCall.COPY)).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whereACallIsRefusedThePoolIsUnchangedOrLost(ShimCall call) {
    if (GIVING_BACK.contains(call)) {
      return;
    }
    Map<End, Integer> ends = failEach(call, OUT_OF_MEMORY);
    if (TAKING_MEMORY.contains(call)) {
      assertThat(ends).containsKeys(End.NOT_CREATED, End.REFUSED_AND_ASKED_AGAIN);
      assertThat(ends).doesNotContainKey(End.LOST);
    } else {
      assertThat(ends).doesNotContainKey(End.REFUSED_AND_ASKED_AGAIN);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whereADeviceIsLostThePoolSaysSoFromThenOn(ShimCall call) {
    assertThat(failEach(call, ILLEGAL_ADDRESS)).doesNotContainKey(End.REFUSED_AND_ASKED_AGAIN);
  }

  /** Runs the history once for each call of a kind that it makes, which fails. */
  private Map<End, Integer> failEach(ShimCall call, int code) {
    Map<End, Integer> ends = new EnumMap<>(End.class);
    for (int oneLaunchBlocks : ONE_LAUNCH_BLOCKS) {
      failEach(call, code, oneLaunchBlocks, ends);
    }
    return ends;
  }

  private static void failEach(
      ShimCall call, int code, int oneLaunchBlocks, Map<End, Integer> ends) {
    int calls;
    try (ShimDevice device = ShimDevice.of(BYTES)) {
      run(device, SEED, oneLaunchBlocks, new int[1]);
      calls = device.count(call);
    }
    for (int nth = 1; nth <= calls; nth++) {
      try (ShimDevice device = ShimDevice.of(BYTES)) {
        device.failAt(call, nth, code);
        ends.merge(run(device, SEED, oneLaunchBlocks, new int[1]), 1, Integer::sum);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("code %d at %s call %d".formatted(code, call, nth), e);
      }
    }
  }

  /** A random history compared with the naive pool's, from creation to close. */
  private static End run(ShimDevice device, long seed, int oneLaunchBlocks, int[] evicted) {
    CudaBlockPool pool;
    try {
      pool =
          CudaBlockPool.of(PoolOnDevice.create(device, SHAPE, 16, LITTLE_STAGING, oneLaunchBlocks));
    } catch (RetryableDeviceException | FatalDeviceException e) {
      return End.NOT_CREATED;
    }
    PatientPool patient = new PatientPool(pool);
    try {
      new RandomPoolRun(patient, TestHash.STRONG, seed).run(STEPS, 100);
      evicted[0] = (int) pool.occupancy().evictedBlocks();
    } catch (AssertionError e) {
      if (e.getCause() instanceof FatalDeviceException) {
        assertLost(pool);
        return End.LOST;
      }
      throw e;
    } finally {
      pool.close();
      pool.close();
    }
    return patient.refusals == 0 ? End.UNHARMED : End.REFUSED_AND_ASKED_AGAIN;
  }

  private static void assertLost(CudaBlockPool pool) {
    List<Runnable> calls =
        List.of(
            () -> pool.probe(new ProbeBatch(), new int[1], 0),
            () -> pool.lease(new LeaseBatch()),
            () -> pool.extend(new ExtendBatch()),
            () -> pool.commit(new CommitBatch()),
            () -> pool.release(new int[0], 0),
            pool::clear,
            pool::submit,
            pool::complete,
            () -> pool.drainEvents((eventId, event) -> {}),
            pool::occupancy,
            () -> pool.blockTable(0, new int[6]),
            pool::deviceBlocks);
    calls.forEach(
        call -> assertThatThrownBy(call::run).isExactlyInstanceOf(FatalDeviceException.class));
  }

  @Test
  void tooLittleMemoryForAPoolIsToldWithBothNumbersAndTakesNothing() {
    long needed;
    try (ShimDevice device = ShimDevice.of(BYTES)) {
      try (CudaBlockPool pool =
          CudaBlockPool.of(PoolOnDevice.create(device, SHAPE, 1000, LITTLE_STAGING, NO_BLOCKS))) {
        needed = BYTES - device.freeBytes() - LITTLE_STAGING;
        assertThat(pool.deviceBlocks().kvBytesPerBlock()).isEqualTo(1000);
      }
    }
    try (ShimDevice device = ShimDevice.of(needed - 1)) {
      assertThatThrownBy(() -> CudaBlockPool.create(device, SHAPE, 1000))
          .isExactlyInstanceOf(DeviceOutOfMemoryException.class)
          .hasMessageContaining(needed + " bytes were wanted, " + (needed - 1) + " are free");
      assertThat(device.freeBytes()).isEqualTo(needed - 1);
    }
  }

  @Test
  void anEmptyLeaseAsksNothingOfTheDevice() {
    try (ShimDevice device = ShimDevice.of(1 << 22);
        CudaBlockPool pool = CudaBlockPool.create(device, PoolScenario.shape(8, 4, 0), 0)) {
      int waits = device.count(ShimCall.SYNCHRONIZE);
      pool.lease(new LeaseBatch());
      assertThat(device.count(ShimCall.SYNCHRONIZE)).isEqualTo(waits);
    }
  }

  @Test
  void sizesThatNoDeviceHasAreRefusedBeforeAnythingIsTaken() {
    try (ShimDevice device = ShimDevice.of(BYTES)) {
      PoolShape many = new PoolShape(Integer.MAX_VALUE, 1, 1, 1, 0);
      assertThatThrownBy(() -> CudaBlockPool.create(device, many, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("2^30");
      for (long bytes : new long[] {-1, Long.MAX_VALUE}) {
        assertThatThrownBy(() -> CudaBlockPool.create(device, SHAPE, bytes))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("kvBytesPerBlock must be within 0 to");
      }
      assertThat(device.count(ShimCall.ALLOCATE)).isZero();
      PoolShape large = new PoolShape(1 << 28, 1, 1 << 8, 1 << 28, 0);
      KvShape kv = new KvShape(1 << 30);
      assertThat(RankPools.blocksThatFit(List.of(device), 1, large, kv, 1)).isZero();
      assertThat(RankPools.blocksThatFit(List.of(device), 1, large, KvShape.NONE, 1)).isPositive();
    }
  }

  @Test
  void aLostDeviceLeavesNothingOfTheOthersBehind() {
    for (ShimCall call : ShimCall.values()) {
      try (ShimDevice lost = ShimDevice.of(1 << 24);
          ShimDevice healthy = ShimDevice.of(1 << 24)) {
        RankPools pools = RankPools.onDevices(List.of(lost, healthy), 4, SHAPE, KvShape.NONE);
        lost.failAt(call, 1, ILLEGAL_ADDRESS);
        assertThatCode(pools::close).doesNotThrowAnyException();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void instancesAreMadeWholeOrNotAtAll(ShimCall call) {
    int[] refusals = {OUT_OF_MEMORY, ILLEGAL_ADDRESS};
    int[] losses = {ILLEGAL_ADDRESS};
    for (int code : GIVING_BACK.contains(call) ? losses : refusals) {
      boolean made = false;
      for (int nth = 1; !made; nth++) {
        try (ShimDevice faulty = ShimDevice.of(1 << 24);
            ShimDevice healthy = ShimDevice.of(1 << 24)) {
          faulty.failAt(call, nth, code);
          RankPools pools = null;
          try {
            pools = RankPools.onDevices(List.of(healthy, faulty), 2, SHAPE, KvShape.NONE);
          } catch (RetryableDeviceException | FatalDeviceException e) {
            continue;
          }
          made = faulty.count(call) < nth;
          pools.close();
        }
      }
    }
  }
}
