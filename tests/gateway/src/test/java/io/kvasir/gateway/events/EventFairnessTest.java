package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

/**
 * A rank publishes thousands of large batches at once. Meanwhile another one publishes small ones,
 * each when the one before has been applied. The test counts how many of the large ones are applied
 * from one small one to the next; delays are printed.
 */
class EventFairnessTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 20261122);
  private static final int FLOOD = 2_000;

  /** A quarter of the flood: many times what one round trip takes, even on a busy machine. */
  private static final int LIMIT = FLOOD / 4;

  /** Tries of the negative control. */
  private static final int TRIES = 50;

  @Test
  void aFloodDelaysOtherRanksLittle() {
    try (Flood flood = new Flood();
        EventPump pump = new EventPump()) {
      flood.publish(pump);
      System.out.printf(
          "a batch beside a flood, sent to applied: %s; at most %d of %d batches in between%n",
          flood.lightDelays.sinceSent, flood.mostBetween, FLOOD);
      assertThat(flood.mostBetween).as("seed %d", SEED).isLessThan(LIMIT);
    }
  }

  /**
   * The negative control: a turn that does not end. It ends all the same when the network has not
   * brought the next batch yet, so one of several tries must show the difference.
   */
  @Test
  void withoutTurnsAFloodGoesFirst() {
    long most = 0;
    for (int i = 0; i < TRIES && most < LIMIT; i++) {
      try (Flood flood = new Flood();
          EventPump pump = new EventPump(TimeUnit.HOURS.toNanos(1))) {
        flood.publish(pump);
        most = flood.mostBetween;
      }
    }
    assertThat(most).as("seed %d", SEED).isGreaterThanOrEqualTo(LIMIT);
  }

  private static BatchSink timed(
      FleetEvents events, SoakPublisher publisher, TimedSink.Delays delays) {
    return new TimedSink(
        events.sink(publisher.spec().rank(), null, AppliedListener.NONE),
        publisher::sentNs,
        delays);
  }

  /** The two publishers, and what the light rank saw. */
  private static final class Flood implements AutoCloseable {

    private final ZContext context = new ZContext();
    private final NativePrefixIndex index =
        new NativePrefixIndex(HashFormat.KVASIR, SoakFrames.TOKENS_PER_BLOCK, 1 << 26);
    private final SoakPublisher flood = new SoakPublisher(context, new RankId(1, 0), SEED);
    private final SoakPublisher light = new SoakPublisher(context, new RankId(1, 1), SEED + 1);
    private final TimedSink.Delays floodDelays = new TimedSink.Delays();
    private final TimedSink.Delays lightDelays = new TimedSink.Delays();

    /** Written by the pump's thread. */
    private volatile long floodAtLast;

    private volatile long mostBetween;

    private void publish(EventPump pump) {
      FleetEvents events = new FleetEvents(pump, index, SoakFrames.TOKENS_PER_BLOCK);
      pump.add(flood.spec(), timed(events, flood, floodDelays));
      pump.add(light.spec(), new AnsweredSink(timed(events, light, lightDelays)));
      flood.awaitSubscriber();
      light.awaitSubscriber();
      CountDownLatch published = new CountDownLatch(1);
      pump.execute(() -> Await.opened("the flood", published));
      pump.execute(light::publishBatch);
      for (int i = 0; i < FLOOD; i++) {
        flood.publishBurst();
      }
      published.countDown();
      Await.until("all batches", () -> floodDelays.batches == FLOOD && floodAtLast == FLOOD);
      assertThat(events.stats().gaps()).isZero();
      assertThat(index.handles(flood.spec().rank())).isEqualTo(flood.blocks());
    }

    @Override
    public void close() {
      flood.close();
      light.close();
      context.close();
      index.close();
    }

    /** Publishes the light rank's next batch after each until the flood is over. */
    private final class AnsweredSink extends ForwardingSink {

      AnsweredSink(BatchSink sink) {
        super(sink);
      }

      @Override
      public boolean onBatch(long number, byte[] payload, boolean last) {
        boolean taken = super.onBatch(number, payload, last);
        long applied = floodDelays.batches;
        mostBetween = Math.max(mostBetween, applied - floodAtLast);
        floodAtLast = applied;
        if (applied < FLOOD) {
          light.publishBatch();
        }
        return taken;
      }
    }
  }
}
