package io.kvasir.gateway.disagg;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.Upstream;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.DisaggDialect;
import io.kvasir.gateway.worker.WorkerRole;
import java.net.URI;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How prompts move between workers: the dialects, the numbers of transfers and the limits.
 *
 * <p>Thread-safe.
 */
public final class Transfers implements AutoCloseable {

  /** The field by which a client that orchestrates the legs itself passes their parameters. */
  private static final String PASS = "x-kvasir-pass-kv-params";

  private final DisaggSettings settings;
  private final TransferIds ids;
  private final PeerDirectory peers;
  private final @Nullable AnswerKv answers;
  private final Map<DisaggDialect, TransferDialect> dialects = new EnumMap<>(DisaggDialect.class);

  /**
   * Begins without transfers.
   *
   * @param settings order of the legs, the gateway's number, limits and keys
   * @param connect opens the way to a bootstrap server
   * @param timeoutMs limit for the answer of a bootstrap server, in milliseconds
   */
  public Transfers(DisaggSettings settings, Function<URI, Upstream> connect, long timeoutMs) {
    this.settings = settings;
    this.peers = new PeerDirectory(connect, timeoutMs);
    this.answers =
        settings.nixlBothWays() ? new AnswerKv(System::nanoTime, System::currentTimeMillis) : null;
    this.ids = new TransferIds(settings.nodeId(), System::currentTimeMillis);
    SigningKey key = settings.authKey();
    DisaggSignature signature = key == null ? null : new DisaggSignature(key.bytes());
    for (DisaggDialect dialect : DisaggDialect.values()) {
      dialects.put(
          dialect,
          switch (dialect) {
            case NIXL -> new NixlPull();
            case NIXL_PUSH -> new NixlPush();
            case MOONCAKE -> new Mooncake();
            case BOOTSTRAP -> new SglangBootstrap();
            case TRTLLM ->
                settings.style() == Style.CONTEXT_FIRST
                    ? new TrtllmContextFirst(signature)
                    : new TrtllmGenerationFirst(signature);
          });
    }
  }

  /** {@return order of the legs, limits and keys} */
  public DisaggSettings settings() {
    return settings;
  }

  /**
   * {@return whether a client may name a transfer of KV itself, and does}
   *
   * @param headers the fields of its request
   */
  public boolean passes(Headers headers) {
    return settings.trustKvParams() && "true".equalsIgnoreCase(headers.get(PASS));
  }

  /** {@return the KV of answers that prefill workers can have; null if they get none} */
  public @Nullable AnswerKv answers() {
    return answers;
  }

  /**
   * {@return the first of numbers for transfers that follow one another, unique in the deployment}
   *
   * @param count how many, 1 to {@link TransferIds#MOST}
   */
  public long nextIds(int count) {
    return ids.next(count);
  }

  /**
   * {@return the protocol of a worker's transfers}
   *
   * @param worker a worker of role prefill or decode
   */
  public TransferDialect dialect(FleetWorker worker) {
    return Objects.requireNonNull(dialects.get(worker.spec().disagg().dialect()));
  }

  /**
   * {@return whether a worker can offer the KV of its answers}
   *
   * @param worker a worker that answers
   */
  public boolean offersAnswers(FleetWorker worker) {
    return worker.role() == WorkerRole.DECODE && dialect(worker).pullsAnswers();
  }

  /**
   * Finds what the request of a decode worker has of a prefill rank that has not answered yet.
   *
   * @param worker the prefill worker
   * @param rank its rank; negative if the worker chooses
   * @param loop the event loop, which is the current thread
   * @param receiver receives the facts, or null if they cannot be had, at once or later
   */
  public void findPeer(
      FleetWorker worker, int rank, EventLoop loop, Consumer<@Nullable PeerFacts> receiver) {
    if (dialect(worker).isSerial()) {
      receiver.accept(PeerFacts.NONE);
    } else {
      peers.find(worker, rank, loop, receiver);
    }
  }

  /**
   * A transfer has failed; the facts about its worker can be outdated.
   *
   * @param worker the prefill worker
   */
  public void forgetPeer(FleetWorker worker) {
    peers.forget(worker);
  }

  @Override
  public void close() {
    peers.close();
  }
}
