package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ReuseDistancesTest {

  private static final int BLOCK = 4;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Served(Request request, long[] hashes) {}

  private static Served request(long id, List<Long> blocks) {
    long[] hashes = blocks.stream().mapToLong(Long::longValue).toArray();
    return new Served(Request.builder(id, new int[hashes.length * BLOCK + 1]).build(), hashes);
  }

  @Test
  void aPoolMustHoldTheBlocksUsedSinceTheLastUse() {
    ReuseDistances distances = new ReuseDistances(BLOCK);
    for (Served served :
        List.of(
            request(1, List.of(1L, 2L)), request(2, List.of(9L)), request(3, List.of(1L, 2L)))) {
      distances.serve(served.request(), served.hashes(), 0);
    }
    // Block 1 was used before block 9, and block 2 before block 1.
    assertThat(distances.curve().points())
        .containsExactly(
            new ReuseCurve.Point(BLOCK, 0),
            new ReuseCurve.Point(2 * BLOCK, 4.0 / 23),
            new ReuseCurve.Point(3 * BLOCK, 8.0 / 23));
  }

  /** Keeps the blocks in a list by their last use, the latest first. */
  private static double hitRate(List<Served> requests, int blocks) {
    List<Long> stack = new ArrayList<>();
    long hits = 0;
    long tokens = 0;
    for (Served served : requests) {
      tokens += served.request().promptTokens();
      int deepest = 0;
      for (long hash : served.hashes()) {
        int position = stack.indexOf(hash) + 1;
        deepest = Math.max(deepest + 1, position);
        if (position == 0 || deepest > blocks) {
          break;
        }
        hits++;
      }
      for (int block = served.hashes().length - 1; block >= 0; block--) {
        stack.remove(served.hashes()[block]);
        stack.add(0, served.hashes()[block]);
      }
    }
    return (double) hits * BLOCK / tokens;
  }

  @Test
  void theCurveIsThatOfALeastRecentlyUsedList() {
    SplittableRandom random = new SplittableRandom(17);
    List<Served> requests = new ArrayList<>();
    ReuseDistances distances = new ReuseDistances(BLOCK);
    for (int id = 0; id < 1_500; id++) {
      long family = random.nextInt(40);
      List<Long> blocks = new ArrayList<>();
      for (int depth = 0; depth < 1 + random.nextInt(12); depth++) {
        blocks.add(family * 1_000_000 + (depth < 3 ? depth : depth * 1_000 + random.nextInt(3)));
      }
      Served served = request(id, blocks);
      requests.add(served);
      distances.serve(served.request(), served.hashes(), 0);
    }
    List<ReuseCurve.Point> points = distances.curve().points();
    assertThat(points).hasSizeGreaterThan(30);
    for (ReuseCurve.Point point : points) {
      assertThat(point.hitRate()).isEqualTo(hitRate(requests, (int) (point.tokens() / BLOCK)));
    }
  }

  @Test
  void blocksOfAnswersComeWithTheBlocksBeforeThem() {
    ReuseDistances distances = new ReuseDistances(BLOCK);
    Served first = request(1, List.of(1L, 2L));
    Served second = request(2, List.of(1L, 2L, 3L, 4L));
    distances.serve(first.request(), first.hashes(), 0);
    distances.serve(second.request(), second.hashes(), 3 * BLOCK);
    assertThat(distances.curve().points())
        .contains(new ReuseCurve.Point(3 * BLOCK, 12.0 / 26))
        .contains(new ReuseCurve.Point(4 * BLOCK, 12.0 / 26));
  }
}
