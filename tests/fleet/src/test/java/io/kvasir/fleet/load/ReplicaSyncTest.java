package io.kvasir.fleet.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.model.RankId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class ReplicaSyncTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 20);
  private static final int TOKENS_PER_BLOCK = 4;

  private static final RankId[] RANKS = {new RankId(-3, 0), new RankId(7, 0), new RankId(7, 1)};

  private final AtomicLong clockNs = new AtomicLong();

  /** A router, its state, and its channel to the others. */
  private final class Replica {
    final ActiveSequences sequences =
        new ActiveSequences(TOKENS_PER_BLOCK, ActiveSequencesOptions.DEFAULT, clockNs::get);
    final ReplicaOutbox outbox;
    final ReplicatedLoads others;
    final List<LoadMessage> inFlight = new ArrayList<>();
    long requests;

    Replica(long routerId) {
      outbox = new ReplicaOutbox(routerId);
      others = new ReplicatedLoads(routerId, sequences, clockNs::get, outbox::offer);
      for (RankId rank : RANKS) {
        sequences.addRank(rank);
      }
    }

    void onFrame(byte[] bytes) {
      List<ReplicaFrame> parts;
      try {
        parts = ReplicaFrame.parts(bytes);
      } catch (IllegalArgumentException e) {
        others.refuse();
        throw e;
      }
      parts.forEach(others::apply);
    }

    void act(SplittableRandom random) {
      if (inFlight.isEmpty() || random.nextInt(3) == 0) {
        SequenceLoad load = load(random);
        RankId rank = RANKS[random.nextInt(RANKS.length)];
        long attempt = sequences.add(requests, rank, load);
        tell(new LoadMessage(requests++, attempt, rank, "", new LoadMessage.Added(load)));
        return;
      }
      LoadMessage placed = inFlight.get(random.nextInt(inFlight.size()));
      if (random.nextBoolean()) {
        sequences.prefillDone(placed.attempt());
        tell(with(placed, new LoadMessage.PrefillDone()));
      } else {
        end(placed);
      }
    }

    void end(LoadMessage placed) {
      inFlight.remove(placed);
      sequences.free(placed.attempt());
      tell(with(placed, new LoadMessage.Freed()));
    }

    private void tell(LoadMessage message) {
      if (message.change() instanceof LoadMessage.Added) {
        inFlight.add(message);
      }
      outbox.offer(message);
    }

    List<String> loads() {
      PredictedLoads loads = new PredictedLoads();
      sequences.loads(loads);
      List<String> lines = new ArrayList<>();
      for (int i = 0; i < loads.size(); i++) {
        lines.add(
            "%s: %d blocks, %d tokens, %d requests"
                .formatted(
                    loads.rank(i),
                    loads.activeBlocks(i),
                    loads.activePrefillTokens(i),
                    loads.activeRequests(i)));
      }
      return lines;
    }
  }

  private static LoadMessage with(LoadMessage placed, LoadMessage.Change change) {
    return new LoadMessage(
        placed.requestId(), placed.attempt(), placed.rank(), placed.loraName(), change);
  }

  private static SequenceLoad load(SplittableRandom random) {
    long[] hashes = new long[random.nextInt(20)];
    long prompt = random.nextInt(5);
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = prompt << 32 | i;
    }
    int tokens = hashes.length * TOKENS_PER_BLOCK + random.nextInt(TOKENS_PER_BLOCK);
    return new SequenceLoad(
        hashes, hashes.length, tokens, random.nextInt(tokens + 1), random.nextInt(3));
  }

  private static byte[] flipped(byte[] frame, SplittableRandom random) {
    byte[] other = frame.clone();
    other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
    return other;
  }

  @Test
  void replicasAgreeThoughCopiesComeLateAndGarbageComes() {
    SplittableRandom random = new SplittableRandom(SEED);
    Replica first = new Replica(1);
    Replica second = new Replica(-1);
    List<byte[]> old = new ArrayList<>();
    for (int step = 0; step < 2_000; step++) {
      Replica actor = random.nextBoolean() ? first : second;
      actor.act(random);
      if (random.nextInt(5) == 0) {
        actor.outbox.drainTo(
            frame -> {
              old.add(frame);
              first.onFrame(frame);
              second.onFrame(frame);
            });
      }
      if (!old.isEmpty() && random.nextInt(5) == 0) {
        byte[] copy = old.get(random.nextInt(old.size()));
        first.onFrame(copy);
        second.onFrame(copy);
        assertThatIllegalArgumentException()
            .as("-Dkvasir.test.seed=%d", SEED)
            .isThrownBy(() -> second.onFrame(flipped(copy, random)));
      }
    }
    first.outbox.drainTo(second::onFrame);
    second.outbox.drainTo(first::onFrame);
    assertThat(first.loads()).as("-Dkvasir.test.seed=%d", SEED).isEqualTo(second.loads());
    assertThat(first.others.stats().echoes()).isPositive();
    assertThat(first.others.stats().copies()).isPositive();
    assertThat(second.others.stats().refused()).isPositive();
    for (Replica replica : List.of(first, second)) {
      List.copyOf(replica.inFlight).forEach(replica::end);
    }
    first.outbox.drainTo(second::onFrame);
    second.outbox.drainTo(first::onFrame);
    assertThat(first.loads()).allMatch(line -> line.endsWith(": 0 blocks, 0 tokens, 0 requests"));
    assertThat(second.loads()).isEqualTo(first.loads());
  }

  @Test
  void whatLostMessagesLeaveBehindGoesWhenItIsStale() {
    SplittableRandom random = new SplittableRandom(SEED);
    Replica first = new Replica(1);
    Replica second = new Replica(2);
    for (int step = 0; step < 2_000; step++) {
      first.act(random);
      first.outbox.drainTo(
          frame -> {
            if (random.nextInt(3) != 0) {
              second.onFrame(frame);
            }
          });
    }
    List.copyOf(first.inFlight).forEach(first::end);
    second.sequences.expireStale();
    clockNs.addAndGet(ActiveSequencesOptions.DEFAULT.staleAfterNs());
    second.sequences.expireStale();
    assertThat(second.loads())
        .as("-Dkvasir.test.seed=%d", SEED)
        .isEqualTo(first.loads())
        .allMatch(line -> line.endsWith(": 0 blocks, 0 tokens, 0 requests"));
    assertThat(second.others.stats().unknown()).isPositive();
  }

  @Test
  void attemptsWhoseEndIsNeverToldAreForgotten() {
    SplittableRandom random = new SplittableRandom(SEED);
    Replica second = new Replica(2);
    for (long attempt = 1; attempt <= 5_000; attempt++) {
      clockNs.addAndGet(ActiveSequencesOptions.DEFAULT.staleAfterNs() / 10);
      LoadMessage message =
          new LoadMessage(attempt, attempt, RANKS[0], "", new LoadMessage.Added(load(random)));
      second.onFrame(new LoadFrame(1, List.of(message)).encode());
    }
    assertThat(second.sequences.stats().requests()).isBetween(1, 12);
    assertThat(second.others.stats().attempts()).isLessThan(1_100);
  }

  @Test
  void aRequestThatHasEndedIsNotBroughtBackByACopy() {
    Replica first = new Replica(1);
    Replica second = new Replica(2);
    SequenceLoad load = new SequenceLoad(new long[] {5, 6}, 2, 9, 9);
    long attempt = first.sequences.add(77, RANKS[0], load);
    LoadMessage added =
        new LoadMessage(77, attempt, RANKS[0], "adapter-a", new LoadMessage.Added(load));
    byte[] placed = new LoadFrame(1, List.of(added)).encode();
    second.onFrame(placed);
    assertThat(second.loads().get(2)).isEqualTo(RANKS[0] + ": 3 blocks, 9 tokens, 1 requests");
    second.onFrame(new LoadFrame(1, List.of(with(added, new LoadMessage.Freed()))).encode());
    second.onFrame(placed);
    assertThat(second.loads().get(2)).isEqualTo(RANKS[0] + ": 0 blocks, 0 tokens, 0 requests");
    assertThat(second.others.stats().copies()).isEqualTo(1);
  }

  @Test
  void aRouterThatIsGoneTakesItsRequestsAlong() {
    SplittableRandom random = new SplittableRandom(SEED);
    Replica first = new Replica(1);
    Replica second = new Replica(2);
    for (int step = 0; step < 50; step++) {
      first.act(random);
    }
    first.outbox.drainTo(second::onFrame);
    assertThat(second.others.removeRouter(1)).isEqualTo(first.inFlight.size());
    assertThat(second.others.removeRouter(1)).isZero();
    assertThat(second.sequences.stats().requests()).isZero();
  }

  @Test
  void framesSayWhatWasPutIn() {
    SequenceLoad load = new SequenceLoad(new long[] {-1, 0, 9}, 2, 300, 20, 40);
    RankId rank = new RankId(-1, 3);
    List<LoadMessage> messages =
        List.of(
            new LoadMessage(Long.MIN_VALUE, 1, rank, "\u00fcml", new LoadMessage.Added(load)),
            new LoadMessage(0, 2, rank, "", new LoadMessage.PrefillDone()),
            new LoadMessage(-1, Long.MAX_VALUE, rank, "", new LoadMessage.Freed()));
    LoadFrame frame = LoadFrame.decode(new LoadFrame(-9, messages).encode());
    assertThat(frame.routerId()).isEqualTo(-9);
    assertThat(frame.messages())
        .usingRecursiveComparison()
        .ignoringFields("change")
        .isEqualTo(messages);
    SequenceLoad read = ((LoadMessage.Added) frame.messages().get(0).change()).load();
    assertThat(read.sequenceHashes()).containsExactly(-1, 0);
    assertThat(read).usingRecursiveComparison().ignoringFields("sequenceHashes").isEqualTo(load);
    assertThat(frame.messages().get(1).change()).isEqualTo(new LoadMessage.PrefillDone());
    assertThat(frame.messages().get(2).change()).isEqualTo(new LoadMessage.Freed());
  }

  @Test
  void statementsAndRequestsSayWhatWasPutIn() {
    LoadStatement part =
        new LoadStatement(
            -9,
            3,
            90,
            new long[] {3, 4, 90},
            new long[] {0, 7, 1L << 20},
            new boolean[] {false, true, true});
    assertThat(LoadStatement.decode(part.encode())).usingRecursiveComparison().isEqualTo(part);
    LoadRequest request = new LoadRequest(5, -9, new long[] {90, 3});
    assertThat(LoadRequest.decode(request.encode())).usingRecursiveComparison().isEqualTo(request);
    for (byte[] frame : List.of(part.encode(), request.encode())) {
      for (int length = 0; length < frame.length; length++) {
        byte[] start = Arrays.copyOf(frame, length);
        Replica second = new Replica(2);
        assertThatIllegalArgumentException().isThrownBy(() -> second.onFrame(start));
      }
    }
  }

  @Test
  void statementsWithNumbersOutOfRangeAreRefused() {
    boolean[] one = {true};
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new LoadStatement(1, 5, 9, new long[] {4}, new long[] {0}, one))
        .withMessageContaining("attempt must be within 5 to 9");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new LoadStatement(1, 5, 9, new long[] {5}, new long[] {-1}, one))
        .withMessageContaining("outputTokens");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new LoadStatement(1, 5, 9, new long[] {5}, new long[] {1L << 40}, one))
        .withMessageContaining("outputTokens must be within 0 to 268435456");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new LoadStatement(1, 5, 4, new long[0], new long[0], new boolean[0]))
        .withMessageContaining("to");
  }

  @Test
  void aFrameHoldsABoundedNumberOfBlocks() {
    ReplicaOutbox outbox = new ReplicaOutbox(1);
    int blocks = ReplicaOutbox.MAX_FRAME_BLOCKS / 3;
    SequenceLoad load = new SequenceLoad(new long[blocks], blocks, 4 * blocks, 0);
    for (long attempt = 1; attempt <= 7; attempt++) {
      outbox.offer(new LoadMessage(attempt, attempt, RANKS[0], "", new LoadMessage.Added(load)));
    }
    List<Integer> sizes = new ArrayList<>();
    assertThat(outbox.drainTo(bytes -> sizes.add(LoadFrame.decode(bytes).messages().size())))
        .isEqualTo(7);
    assertThat(sizes).containsExactly(3, 3, 1);
  }

  /** The lock of a router is free between two parts. */
  @Test
  void aFrameOfManyBlocksIsAppliedInParts() {
    List<LoadMessage> messages = new ArrayList<>();
    int blocks = ReplicaFrame.MAX_PART_BLOCKS / 2;
    for (int i = 1; i <= 20; i++) {
      int more = i == 10 ? 100 * blocks : blocks;
      SequenceLoad load = new SequenceLoad(new long[more], more, more * TOKENS_PER_BLOCK, 0);
      messages.add(new LoadMessage(i, i, RANKS[0], "", new LoadMessage.Added(load)));
    }
    List<ReplicaFrame> parts = ReplicaFrame.parts(new LoadFrame(1, messages).encode());
    assertThat(parts).allSatisfy(part -> assertThat(part).isInstanceOf(LoadFrame.class));
    List<LoadFrame> frames = parts.stream().map(part -> (LoadFrame) part).toList();
    assertThat(frames.stream().map(frame -> frame.messages().size()))
        .containsExactly(2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 2);
    assertThat(frames.stream().flatMap(frame -> frame.messages().stream()))
        .extracting(LoadMessage::attempt)
        .isEqualTo(messages.stream().map(LoadMessage::attempt).toList());
    assertThat(ReplicaFrame.parts(new LoadFrame(1, List.of()).encode())).hasSize(1);
  }

  @Test
  void bytesThatAreNoFrameAreRefused() {
    SplittableRandom random = new SplittableRandom(SEED);
    SequenceLoad load = new SequenceLoad(new long[] {1, 2}, 2, 8, 8);
    LoadMessage added = new LoadMessage(1, 1, RANKS[0], "a", new LoadMessage.Added(load));
    byte[] frame = new LoadFrame(1, List.of(added, with(added, new LoadMessage.Freed()))).encode();
    for (int length = 0; length < frame.length; length++) {
      byte[] part = Arrays.copyOf(frame, length);
      assertThatIllegalArgumentException().isThrownBy(() -> LoadFrame.decode(part));
    }
    for (int i = 0; i < 2_000; i++) {
      byte[] garbage = new byte[random.nextInt(200)];
      random.nextBytes(garbage);
      assertThatThrownBy(() -> LoadFrame.decode(garbage))
          .as("-Dkvasir.test.seed=%d", SEED)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** A frame with a correct checksum can still be invalid. */
  @Test
  void numbersOutOfRangeAreRefusedBehindARightChecksum() {
    SplittableRandom random = new SplittableRandom(SEED);
    SequenceLoad load = new SequenceLoad(new long[] {1, 2}, 2, 8, 8);
    byte[] frame =
        new LoadFrame(1, List.of(new LoadMessage(1, 1, RANKS[0], "a", new LoadMessage.Added(load))))
            .encode();
    int refused = 0;
    for (int i = 0; i < 5_000; i++) {
      byte[] other = flipped(frame, random);
      CRC32C crc = new CRC32C();
      crc.update(other, 0, other.length - 4);
      ByteBuffer.wrap(other)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt(other.length - 4, (int) crc.getValue());
      try {
        LoadFrame.decode(other);
      } catch (IllegalArgumentException e) {
        refused++;
      }
    }
    assertThat(refused).as("-Dkvasir.test.seed=%d", SEED).isPositive();
  }

  @Test
  void theNewestMessageIsDroppedWhenTooManyWait() {
    ReplicaOutbox outbox = new ReplicaOutbox(1, 300);
    for (long attempt = 1; attempt <= 301; attempt++) {
      LoadMessage message =
          new LoadMessage(attempt, attempt, RANKS[0], "", new LoadMessage.Freed());
      assertThat(outbox.offer(message)).isEqualTo(attempt <= 300);
    }
    assertThat(outbox.dropped()).isEqualTo(1);
    List<Integer> sizes = new ArrayList<>();
    List<Long> attempts = new ArrayList<>();
    int sent =
        outbox.drainTo(
            bytes -> {
              LoadFrame frame = LoadFrame.decode(bytes);
              sizes.add(frame.messages().size());
              frame.messages().forEach(message -> attempts.add(message.attempt()));
            });
    assertThat(sent).isEqualTo(300);
    assertThat(sizes).containsExactly(256, 44);
    assertThat(attempts).hasSize(300).isSorted().startsWith(1L).endsWith(300L);
    assertThat(outbox.drainTo(bytes -> {})).isZero();
  }
}
