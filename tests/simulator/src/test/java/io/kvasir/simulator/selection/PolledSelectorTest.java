package io.kvasir.simulator.selection;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolledSelectorTest {

  private static final int BLOCK = 16;
  private static final long INTERVAL_NS = 100;

  private static HashedRequest request(long id, int tokens) {
    Request request = Request.builder(id, new int[tokens]).build();
    return new HashedRequest(
        request,
        NativeBlockHasher.of(HashFormat.KVASIR, BLOCK).hash(request.tokens(), request.scope()));
  }

  private static InstanceSelector selector(int instances) {
    return new PolledSelector(
        instances,
        BLOCK,
        InstanceIndex.empty(HashFormat.KVASIR, BLOCK),
        new PolledLoads(instances, INTERVAL_NS, 0));
  }

  private static void hold(InstanceSelector selector, int instance, HashedRequest request, int n) {
    long[] handles = Arrays.copyOf(request.hashes().sequence(), n);
    long[] locals = Arrays.copyOf(request.hashes().local(), n);
    selector.onEvents(instance, List.of(BlockEvent.Stored.root(handles, locals)), 0);
  }

  @Test
  void theOverlapOutweighsActiveBlocksAndWaitingRequestsTogether() {
    try (InstanceSelector selector = selector(3)) {
      HashedRequest asked = request(1, 4 * BLOCK);
      hold(selector, 2, asked, 4);
      selector.onLoad(2, new InstanceLoad(90, 100, 5), 1);
      assertThat(selector.select(asked, 100)).as("2 - 0.9 - 1 > 0").isEqualTo(2);
    }
  }

  @Test
  void lessOverlapDoesNot() {
    try (InstanceSelector selector = selector(2)) {
      HashedRequest asked = request(1, 4 * BLOCK);
      hold(selector, 1, asked, 3);
      selector.onLoad(1, new InstanceLoad(60, 100, 5), 1);
      assertThat(selector.select(asked, 100)).as("1.5 - 0.6 - 1 < 0").isEqualTo(0);
    }
  }

  @Test
  void untilThePollItSeesWhatItPlacedAndNotWhatRuns() {
    try (InstanceSelector selector = selector(2)) {
      selector.onLoad(1, new InstanceLoad(99, 100, 0), 1);
      int first = selector.select(request(1, 4 * BLOCK), 50);
      assertThat(selector.select(request(2, 4 * BLOCK), 60)).isEqualTo(1 - first);
      assertThat(selector.select(request(3, 4 * BLOCK), 100)).isEqualTo(0);
    }
  }

  @Test
  void equalsAreChosenByTheRequestsId() {
    try (InstanceSelector selector = selector(8);
        InstanceSelector again = selector(8)) {
      for (int id = 0; id < 20; id++) {
        HashedRequest asked = request(id, BLOCK);
        long nowNs = id * INTERVAL_NS;
        assertThat(selector.select(asked, nowNs)).isEqualTo(again.select(asked, nowNs));
      }
    }
  }
}
