package io.kvasir.benchmarks;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.ConversationAdpRouter;
import io.kvasir.engine.adp.NewConversationPlacement;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Sticky decisions of a {@code conversation} router with a million known conversations, in batches
 * of 64, and the memory per conversation.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(ConversationBenchmark.BATCHES * ConversationBenchmark.REQUESTS)
public class ConversationBenchmark {

  static final int BATCHES = 256;
  static final int REQUESTS = 64;

  /** Known conversations. */
  static final int CONVERSATIONS = 1_000_000;

  private static final int RANKS = 8;
  private static final int[] PROMPT = new int[100];
  private static final List<RankState> IDLE =
      IntStream.range(0, RANKS).mapToObj(rank -> new RankState(rank, 0, 0)).toList();

  private final List<List<Request>> batches = new ArrayList<>();
  private ConversationAdpRouter router;

  /** Creates the state; JMH fills it. */
  public ConversationBenchmark() {}

  /** Binds all conversations and generates later turns of random ones. */
  @Setup
  public void prepare() {
    String[] ids = ids();
    router = remembering(ids);
    SplittableRandom random = new SplittableRandom(2);
    for (int batch = 0; batch < BATCHES; batch++) {
      List<Request> turns = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        // As in production: a known id arrives in a new string.
        String id = new String(ids[random.nextInt(ids.length)].toCharArray());
        turns.add(turn((long) batch * REQUESTS + i, id));
      }
      batches.add(turns);
      if (!allSticky(route(router, turns))) {
        throw new IllegalStateException("a conversation is not bound");
      }
    }
  }

  /** Ids as clients choose them: 36 characters. */
  private static String[] ids() {
    SplittableRandom random = new SplittableRandom(1);
    String[] ids = new String[CONVERSATIONS];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = new UUID(random.nextLong(), random.nextLong()).toString();
    }
    return ids;
  }

  private static ConversationAdpRouter remembering(String[] ids) {
    ConversationAdpRouter router =
        new ConversationAdpRouter(
            RANKS, 2, CONVERSATIONS, NewConversationPlacement.ROUND_ROBIN, null);
    List<Request> batch = new ArrayList<>();
    for (int i = 0; i < ids.length; i++) {
      batch.add(turn(i, ids[i]));
      if (batch.size() == REQUESTS || i == ids.length - 1) {
        route(router, batch);
        batch.clear();
      }
    }
    return router;
  }

  private static Request turn(long id, String conversation) {
    return Request.builder(id, PROMPT).conversationId(conversation).build();
  }

  private static Assignment route(ConversationAdpRouter router, List<Request> requests) {
    return router.route(IDLE, requests, PrefixMatches.NONE, REQUESTS);
  }

  private static boolean allSticky(Assignment assignment) {
    return assignment.decisions().stream().allMatch(each -> each.reason() == AdpReason.STICKY);
  }

  /** Heap per conversation, excluding its id. */
  static double bytesPerConversation() {
    String[] ids = ids();
    long before = usedBytes();
    ConversationAdpRouter router = remembering(ids);
    long after = usedBytes();
    if (!allSticky(route(router, List.of(turn(0, ids[0]))))) {
      throw new IllegalStateException("a conversation is not bound");
    }
    return (double) (after - before) / ids.length;
  }

  private static long usedBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /**
   * Routes one batch after the other.
   *
   * @param results keeps them alive
   */
  @Benchmark
  public void sticky(Blackhole results) {
    for (List<Request> batch : batches) {
      results.consume(route(router, batch));
    }
  }
}
