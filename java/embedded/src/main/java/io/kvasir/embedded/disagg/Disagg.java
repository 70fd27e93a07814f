package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.embedded.ranks.KvLeg;
import io.kvasir.embedded.ranks.KvLegs;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankWorker;
import io.kvasir.hash.BlockHasher;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine's part in answering requests together with other engines: reads legs, keeps the blocks
 * that others fetch, and fetches blocks from others.
 *
 * <p>Thread-safe. Has one thread, for its timers.
 */
public final class Disagg implements KvLegs, AutoCloseable {

  /** What a transfer takes besides its bytes. */
  private static final long BASE_NS = 1_000_000;

  private final RoleSettings settings;
  private final EmbeddedSettings engine;
  private final RankLoop ranks;
  private final BlockHasher hasher;
  private final ScheduledThreadPoolExecutor timer;
  private final TransferCounts counts = new TransferCounts();
  private final TransferClient client = new TransferClient();
  private final EngineIdentity identity;
  private final Dialect dialect;
  private final OutgoingTransfers transfers;

  /**
   * Creates it.
   *
   * @param settings the engine's part
   * @param engine the engine's settings
   * @param ranks the ranks
   * @param hasher hashes answers
   */
  public Disagg(
      RoleSettings settings, EmbeddedSettings engine, RankLoop ranks, BlockHasher hasher) {
    this.settings = settings;
    this.engine = engine;
    this.ranks = ranks;
    this.hasher = hasher;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "kvasir-transfers");
              thread.setDaemon(true);
              return thread;
            },
            new DiscardPolicy());
    timer.setRemoveOnCancelPolicy(true);
    this.identity = new EngineIdentity(settings, engine.ranks());
    this.dialect = dialect();
    this.transfers =
        new OutgoingTransfers(
            timer,
            ranks,
            new OutgoingTransfers.Rules(
                dialect.awaitsPrefill(),
                dialect.allowsAnotherFetch(),
                dialect.rankRule(),
                this::durationNs),
            counts);
  }

  private Dialect dialect() {
    return switch (settings.connector()) {
      case NIXL -> new NixlDialect(identity, counts);
      case NIXL_PUSH -> new NixlPushDialect(identity, counts);
      case MOONCAKE -> new MooncakeDialect(identity, counts);
      case BOOTSTRAP -> new BootstrapDialect(identity);
      case TRTLLM -> new TrtllmDialect(identity);
    };
  }

  private long durationNs(int tokens) {
    return Math.round((BASE_NS + settings.link().durationNs(tokens)) / engine.speed());
  }

  /**
   * The engine listens, from now on. Prefill legs need an address, at which others fetch KV.
   *
   * @param host the name or address under which others reach it
   * @param port its port
   * @param transferPort the port at which others fetch KV; the same, or one for that alone
   */
  public void listens(String host, int port, int transferPort) {
    identity.listens(host, port, transferPort);
  }

  @Override
  public @Nullable KvLeg legOf(Incoming request, AskedCompletion asked) {
    LegPlan plan = dialect.read(request, asked);
    return plan == null ? null : new TransferLeg(this, plan);
  }

  /**
   * Adds what an engine says about itself.
   *
   * @param info receives the fields
   */
  public void describe(ObjectNode info) {
    dialect.describe(info);
  }

  /**
   * Adds the endpoints.
   *
   * @param routes receives them
   */
  public void addTo(Routes routes) {
    endpoints().addTo(routes);
    dialect.addTo(routes);
  }

  /**
   * Adds the endpoint by which other engines fetch the KV of one rank.
   *
   * @param rank the rank
   * @param routes receives it
   */
  public void addSideChannel(int rank, Routes routes) {
    endpoints().addSideChannel(rank, routes);
  }

  /**
   * Each rank has a port of its own, at which others fetch its KV, from now on. Replies of NIXL
   * name it.
   *
   * @param portOfFirst the port of rank 0; a rank's is as many higher as its number
   */
  public void namesSideChannels(int portOfFirst) {
    identity.namesSideChannels(portOfFirst);
  }

  private TransferEndpoints endpoints() {
    return new TransferEndpoints(settings, engine.ranks(), transfers, counts, ranks.meters());
  }

  /** {@return its settings} */
  public RoleSettings settings() {
    return settings;
  }

  OutgoingTransfers transfers() {
    return transfers;
  }

  TransferClient client() {
    return client;
  }

  /** Whether a question may wait for its prefill leg. */
  boolean awaitsPrefill() {
    return dialect.awaitsPrefill();
  }

  TransferCounts counts() {
    return counts;
  }

  BlockHasher hasher() {
    return hasher;
  }

  int blockTokens() {
    return engine.tokensPerBlock();
  }

  /** Runs a task on the ranks' thread, unless the engine has ended. */
  void onWorker(Consumer<RankWorker> task) {
    ranks.onWorker(task, () -> {});
  }

  /** Runs a task on the ranks' thread after some time. */
  void later(long delayMs, Consumer<RankWorker> task) {
    ScheduledFuture<?> unused =
        timer.schedule(() -> onWorker(task), delayMs, TimeUnit.MILLISECONDS);
  }

  /** Stops the timers and gives up what was asked of others. */
  @Override
  public void close() {
    client.close();
    timer.shutdownNow();
  }
}
