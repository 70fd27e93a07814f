package io.kvasir.embedded.standin;

import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.disagg.Disagg;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.embedded.publish.StepPublisher;
import io.kvasir.embedded.ranks.BlockFeed;
import io.kvasir.embedded.ranks.BlockSink;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.embedded.ranks.MetricsText;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankModel;
import io.kvasir.exchange.EngineFlavor;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What makes an engine stand in for another one: where its blocks are published, and its faults.
 *
 * <p>Thread-safe, except for the feeds.
 *
 * @param settings how blocks are published
 * @param faults what goes wrong
 * @param publisher publishes batches; null if events are polled or there are none
 * @param polled the queue for polling; null unless the engine has one
 * @param steps publishes forward-pass metrics, on the ranks' thread; null for none
 * @param feeds follow the ranks' blocks, one for each rank, on the ranks' thread
 */
public record StandIn(
    EventSettings settings,
    Faults faults,
    @Nullable EventPublisher publisher,
    @Nullable PolledBlocks polled,
    @Nullable StepPublisher steps,
    List<BlockFeed> feeds)
    implements AutoCloseable {

  /**
   * Opens the ports.
   *
   * @param engine the engine's settings
   * @param settings what the stand-in publishes, and where
   * @return the stand-in; the caller closes it
   * @throws IOException if a port cannot be opened
   * @throws IllegalArgumentException if the engine has no events of the cache groups
   */
  public static StandIn open(EmbeddedSettings engine, EventSettings settings) throws IOException {
    if (!engine.groups().isEmpty() && settings.flavor() != EngineFlavor.VLLM) {
      throw new IllegalArgumentException("groups need flavor vllm, not " + settings.flavor().id());
    }
    int blockTokens = engine.tokensPerBlock();
    Faults faults = new Faults(engine.ranks());
    EventPublisher publisher = null;
    PolledBlocks polled = null;
    BlockSink sink = BlockSink.NONE;
    if (settings.publishes()) {
      publisher = EventPublisher.open(settings, blockTokens, faults, engine.seed());
      sink = new PublishedBlocks(publisher, faults);
    } else if (settings.flavor() == EngineFlavor.TRTLLM) {
      polled = new PolledBlocks(engine);
      sink = polled;
    }
    StepPublisher steps = null;
    if (settings.forwardPassPort() != EventSettings.NO_PORT) {
      try {
        steps = StepPublisher.open(settings.host(), settings.forwardPassPort(), engine.ranks());
      } catch (IOException | RuntimeException e) {
        if (publisher != null) {
          publisher.close();
        }
        throw e;
      }
    }
    BlockSink receiver = sink;
    List<BlockFeed> feeds =
        IntStream.range(0, engine.ranks())
            .mapToObj(rank -> new BlockFeed(rank, blockTokens, engine.groups(), receiver))
            .toList();
    return new StandIn(settings, faults, publisher, polled, steps, feeds);
  }

  /**
   * Adds the endpoints of the other engine, and those that show its blocks and change its faults.
   *
   * @param routes receives them
   * @param engine the engine's settings
   * @param model the model
   * @param ranks the ranks
   * @param options reads what requests have in common
   * @param info the endpoints of all engines
   * @param disagg the engine's part in requests of several engines; null for none
   */
  public void addTo(
      Routes routes,
      EmbeddedSettings engine,
      RankModel model,
      RankLoop ranks,
      OptionsReader options,
      InfoEndpoints info,
      @Nullable Disagg disagg) {
    DebugEndpoints debug = new DebugEndpoints(this, ranks, engine.tokensPerBlock());
    debug.addTo(routes);
    switch (settings.flavor()) {
      case VLLM -> {
        info.addTo(routes);
        routes.add("POST", "/reset_prefix_cache", debug::clear);
      }
      case SGLANG ->
          new SglangEndpoints(parts(engine, model, ranks, options, info, disagg))
              .addTo(routes, debug);
      case TRTLLM ->
          new TrtllmEndpoints(parts(engine, model, ranks, options, info, disagg)).addTo(routes);
    }
  }

  private StandInParts parts(
      EmbeddedSettings engine,
      RankModel model,
      RankLoop ranks,
      OptionsReader options,
      InfoEndpoints info,
      @Nullable Disagg disagg) {
    MetricsText metrics = new MetricsText(engine, ranks, faults());
    return new StandInParts(engine, model, options, info, metrics, ranks, this, disagg);
  }

  /** Closes the ports. */
  @Override
  public void close() {
    if (publisher != null) {
      publisher.close();
    }
    if (steps != null) {
      steps.close();
    }
  }
}
