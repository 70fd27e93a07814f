package io.kvasir.embedded;

import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.embedded.publish.StepPublisher;
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
record StandIn(
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
   * @throws IOException if a port cannot be opened
   */
  static StandIn open(EmbeddedSettings engine, EventSettings settings) throws IOException {
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
            .mapToObj(rank -> new BlockFeed(rank, blockTokens, receiver))
            .toList();
    return new StandIn(settings, faults, publisher, polled, steps, feeds);
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
