package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.gateway.events.EventPump;
import io.kvasir.gateway.events.FeedState;
import io.kvasir.gateway.verify.SentBytes;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** What is known of the blocks of a worker whose events are followed. */
class FollowedRanksTest {

  private static final int BLOCK = 16;
  private static final byte[] EMPTY_BATCH = {(byte) 0x93, 0, (byte) 0x90, 0};

  /** Holds nothing, and counts questions that wait for changes. */
  private static final class CountingIndex implements PrefixIndex {
    final AtomicInteger questions = new AtomicInteger();

    @Override
    public ChangeStatus apply(RankId rank, BlockEvent event) {
      return ChangeStatus.APPLIED;
    }

    @Override
    public void removeRank(RankId rank) {}

    @Override
    public void setVisible(RankId rank, boolean visible) {}

    @Override
    public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
      matches.clear();
    }

    @Override
    public long handles(RankId rank) {
      questions.incrementAndGet();
      return 0;
    }

    @Override
    public IndexStats stats() {
      return new IndexStats(0, 0, 0, 0, 0, 0);
    }

    @Override
    public void close() {}
  }

  private static final class NoUpstream implements Upstream {
    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
      throw new AssertionError("nothing is sent");
    }

    @Override
    public void close() {}
  }

  private static final class NoLoop implements EventLoop {
    @Override
    public void execute(Runnable task) {
      throw new AssertionError("nothing is polled");
    }

    @Override
    public Timer after(long delayMs, Runnable task) {
      throw new AssertionError("nothing is polled");
    }
  }

  private static void publish(ZMQ.Socket socket, long number) {
    socket.send("", ZMQ.SNDMORE);
    socket.send(ByteBuffer.allocate(Long.BYTES).putLong(number).array(), ZMQ.SNDMORE);
    socket.send(EMPTY_BATCH);
  }

  @Test
  void blocksAreKnownFromTheEnginesFirstBatchOn() {
    CountingIndex index = new CountingIndex();
    try (ZContext context = new ZContext();
        EventPump pump = new EventPump();
        FollowedRanks followed =
            new FollowedRanks(pump, index, null, BLOCK, new NoLoop(), new SentBytes(1 << 20))) {
      ZMQ.Socket socket = context.createSocket(SocketType.XPUB);
      int port = socket.bindToRandomPort("tcp://127.0.0.1");
      WorkerSpec spec =
          WorkerSpec.parse("http://127.0.0.1:1,ranks=1,events=tcp://127.0.0.1:" + port);
      FleetWorker worker = new FleetWorker(3, "w", spec, new NoUpstream(), null, new Breaker(1, 1));
      assertThat(followed.isComplete(worker)).as("not followed").isFalse();
      followed.add(worker);
      assertThat(followed.isComplete(worker)).as("nothing has arrived").isFalse();
      assertThat(socket.recv()).as("a subscription").isNotNull();
      publish(socket, 5);
      Await.until(
          "a live stream", () -> followed.report(worker, 0).feed().state() == FeedState.LIVE);
      int before = index.questions.get();
      assertThat(followed.isComplete(worker)).as("from batch 5 on").isFalse();
      publish(socket, 0);
      Await.until("a restart", () -> followed.isComplete(worker));
      assertThat(index.questions).as("no question waits for changes").hasValue(before);
    }
  }
}
