package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.Request;
import io.kvasir.simulator.selection.InstanceLoad;
import io.kvasir.simulator.selection.SelectorKind;
import io.kvasir.simulator.selection.SelectorSettings;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SelectedServeLayerTest {

  private static final int BLOCK = 16;
  private static final int INSTANCES = 8;
  private static final long EVENT_DELAY_NS = 50;

  private HashFormat format = HashFormat.KVASIR;

  private static ReplaySettings each(int ranks, HashFormat format) {
    return new ReplaySettings(
        ranks,
        16_384,
        BLOCK,
        format,
        AdpRouterKind.DEFAULT,
        AttentionDpConfig.DEFAULT,
        ExecutorOptions.DEFAULT,
        WaitingQueuePolicy.FCFS,
        StepTiming.DEFAULT);
  }

  private static SelectorSettings settings(SelectorKind kind, long predictedTtlMs) {
    return new SelectorSettings(
        kind, INSTANCES, EVENT_DELAY_NS, 0, 100, 1, predictedTtlMs, CostOptions.DEFAULT);
  }

  private SelectedServeLayer layer(SelectorKind kind, long predictedTtlMs) {
    return new SelectedServeLayer(settings(kind, predictedTtlMs), each(1, format));
  }

  private HashedRequest request(long id) {
    Request request = Request.builder(id, new int[8 * BLOCK]).build();
    return new HashedRequest(
        request, NativeBlockHasher.of(format, BLOCK).hash(request.tokens(), request.scope()));
  }

  /** An instance whose iteration stored the blocks of a prompt. */
  private record Stored(List<Long> blocks) implements IteratedWorker {
    @Override
    public void drainBlocks(BlockSink sink) {
      for (int i = 0; i < blocks.size(); i++) {
        sink.on(
            0,
            i == 0
                ? BlockEvent.Stored.named(null, blocks.get(i))
                : BlockEvent.Stored.namedAfter(null, blocks.get(i - 1), blocks.get(i)));
      }
    }

    @Override
    public InstanceLoad load() {
      return new InstanceLoad(blocks.size(), 1_024, 0);
    }
  }

  /** Where a request goes that ends at once. */
  private int chosen(SelectedServeLayer layer, long id, long nowNs) {
    HashedRequest asked = request(id);
    int instance = layer.serve(asked, nowNs).instance();
    layer.onEnded(asked.request(), true, nowNs);
    return instance;
  }

  @ParameterizedTest
  @CsvSource({"PREDICTIVE, KVASIR", "POLLED, KVASIR", "PREDICTIVE, TRTLLM_V1", "POLLED, TRTLLM_V1"})
  void blocksAreKnownWhenTheIterationsEndAndTheDelayAreOver(SelectorKind kind, HashFormat naming) {
    format = naming;
    try (SelectedServeLayer layer = layer(kind, 0);
        SelectedServeLayer ignorant = layer(kind, 0)) {
      HashedRequest holder = request(0);
      assertThat(layer.serve(holder, 0)).isNotNull();
      ignorant.serve(holder, 0);
      layer.onEnded(holder.request(), true, 0);
      ignorant.onEnded(holder.request(), true, 0);
      int held = chosen(ignorant, 1, 1_049) == 5 ? 6 : 5; // not where it would go by chance
      layer.onIterated(
          held, new Stored(LongStream.of(holder.hashes().sequence()).boxed().toList()), 1_000);

      assertThat(chosen(layer, 1, 1_049)).isNotEqualTo(held);
      assertThat(chosen(layer, 2, 1_050)).isEqualTo(held);
      assertThat(chosen(layer, 3, 1_150)).isEqualTo(held);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPlacedPrefixKeepsItsSiblingsBeforeAnyEvent(HashFormat naming) {
    format = naming;
    try (SelectedServeLayer predicts = layer(SelectorKind.PREDICTIVE, 2_000)) {
      int first = chosen(predicts, 1, 0);
      for (int id = 2; id < 20; id++) {
        assertThat(chosen(predicts, id, 10)).isEqualTo(first);
      }
    }
  }

  @Test
  void tokensOfTheFutureAreNotKnown() {
    try (SelectedServeLayer layer = layer(SelectorKind.ROUND_ROBIN, 0)) {
      for (int id = 0; id < INSTANCES; id++) {
        HashedRequest early = request(id);
        layer.serve(early, 0);
        layer.onToken(early.request(), 500); // computed ahead of time
      }
      layer.serve(request(INSTANCES), 499);
      assertThat(layer.result().decisions(ServeResult.BEHIND_PROMPTS)).isEqualTo(1);
      layer.serve(request(INSTANCES + 1), 500);
      assertThat(layer.result().decisions(ServeResult.BEHIND_PROMPTS)).isEqualTo(1);
    }
  }

  @Test
  void choicesBehindPromptsAreCounted() {
    try (SelectedServeLayer layer = layer(SelectorKind.ROUND_ROBIN, 0)) {
      for (int id = 0; id < 2 * INSTANCES; id++) {
        HashedRequest asked = request(id);
        layer.serve(asked, id);
        if (id % INSTANCES < 3) {
          layer.onToken(asked.request(), id + 1);
        }
      }
      assertThat(layer.result().decisions(ServeResult.BEHIND_PROMPTS)).isEqualTo(INSTANCES - 3);
      assertThat(layer.result().decisions(ServeResult.FREE)).isEqualTo(INSTANCES + 3);
    }
  }

  @Test
  void severalRanksAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new SelectedServeLayer(
                    settings(SelectorKind.ROUND_ROBIN, 0), each(2, HashFormat.KVASIR)))
        .withMessage("a selector needs instances of 1 rank, not 2");
  }
}
