package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.trtllm.ServeReason;
import io.kvasir.fleet.router.trtllm.ServeRouterKind;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RoutedServeLayerTest {

  private static final int BLOCK = 16;
  private static final NativeBlockHasher HASHER =
      NativeBlockHasher.of(ServeSettings.BLOCK_NAMES, BLOCK);

  private long nextId;

  private Request.Builder request(int content, int length) {
    int[] tokens = new int[length];
    TokenExpansion.fill(content, tokens, 0, length);
    return Request.builder(nextId++, tokens);
  }

  private static HashedRequest hashed(Request request) {
    return new HashedRequest(request, HASHER.hash(request.tokens(), request.scope()));
  }

  private static RoutedServeLayer layer(ServeRouterKind router, long delayNs) {
    ReplaySettings each =
        new ReplaySettings(
            1,
            1_024,
            BLOCK,
            HashFormat.TRTLLM_V1,
            AdpRouterKind.DEFAULT,
            AttentionDpConfig.DEFAULT,
            ExecutorOptions.DEFAULT,
            WaitingQueuePolicy.FCFS,
            StepTiming.DEFAULT);
    return new RoutedServeLayer(new ServeSettings(3, router, Map.of(), delayNs), each);
  }

  private static int instance(RoutedServeLayer layer, HashedRequest request, long nowNs) {
    int instance = layer.serve(request, nowNs).instance();
    layer.onEnded(request.request(), false, nowNs); // nothing is learned from it
    return instance;
  }

  @Test
  void poolsNameFullBlocksAsTheServeRouterDoes() {
    for (CacheScope scope :
        List.of(CacheScope.NONE, CacheScope.NONE.withLora(3).withSalt("tenant"))) {
      int[] tokens = request(1, 5 * BLOCK + 3).build().tokens();
      BlockHashes named = HASHER.hash(tokens, scope);
      long[] keys = TrtllmHash.V1_BLOCK_KEY.keys(tokens, BLOCK, scope);
      assertThat(named.sequence()).hasSize(5);
      assertThat(keys).startsWith(named.sequence());
    }
  }

  @Test
  void eventsCountFromTheirMomentAndTheDelayOn() {
    RoutedServeLayer layer = layer(ServeRouterKind.KV_CACHE_AWARE, 50);
    HashedRequest asked = hashed(request(1, 5 * BLOCK + 1).build());
    long[] blocks = asked.hashes().sequence();
    layer.onBlocks(2, List.of(BlockEvent.Stored.named(TrtllmHash.V1_BLOCK_KEY, blocks)), 100);
    layer.onBlocks(2, List.of(new BlockEvent.Removed(TrtllmHash.V1_BLOCK_KEY, blocks)), 300);

    assertThat(instance(layer, asked, 149)).as("nobody is known to hold it").isEqualTo(0);
    assertThat(instance(layer, asked, 150)).isEqualTo(2);
    assertThat(instance(layer, asked, 349)).isEqualTo(2);
    assertThat(instance(layer, asked, 350)).as("by turns again").isNotEqualTo(2);
  }

  @Test
  void whatAnInstanceServedIsKnownWithoutEvents() {
    RoutedServeLayer layer = layer(ServeRouterKind.KV_CACHE_AWARE, Long.MAX_VALUE / 2);
    HashedRequest asked = hashed(request(1, 5 * BLOCK).build());
    int first = layer.serve(asked, 0).instance();
    layer.onEnded(asked.request(), true, 0);

    for (int i = 0; i < 3; i++) {
      assertThat(instance(layer, hashed(request(1, 5 * BLOCK).build()), 0)).isEqualTo(first);
    }
  }

  @ParameterizedTest
  @EnumSource(ServeRouterKind.class)
  void conversationAndFirstTurnArriveUnchanged(ServeRouterKind router) {
    RoutedServeLayer layer = layer(router, 0);
    for (boolean first : new boolean[] {true, false, false}) {
      Request asked =
          request(1, 40)
              .conversationId("a")
              .firstTurn(first)
              .maxNewTokens(7)
              .targetRank(0)
              .relax(false)
              .children(2)
              .priority(0.75)
              .scope(CacheScope.NONE.withLora(9))
              .build();

      Request atRank = layer.serve(hashed(asked), 0).request().request();

      assertThat(atRank).usingRecursiveComparison().isEqualTo(asked);
      assertThat(atRank.tokens()).isSameAs(asked.tokens());
    }
  }

  @Test
  void aConversationThatTheRouterMadeUpArrivesAtTheRank() {
    RoutedServeLayer layer = layer(ServeRouterKind.CONVERSATION, 0);

    Request atRank = layer.serve(hashed(request(1, 400).build()), 0).request().request();

    assertThat(atRank.conversationId()).isEqualTo("conv_id:0_1");
    assertThat(layer.result().decisions()).isEqualTo(Map.of(ServeReason.FALLBACK.id(), 1L));
  }
}
