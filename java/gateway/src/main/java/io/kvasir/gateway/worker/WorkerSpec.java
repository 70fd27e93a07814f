package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.exchange.EngineTrust;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An engine behind HTTP, as an operator describes it. Immutable. The gateway asks the engine for
 * whatever the operator omits; see {@link WorkerProfile}.
 *
 * @param url scheme, host, optional port and path, without a slash at the end
 * @param flavor the kind of engine
 * @param ranks the data-parallel ranks behind the URL; 0 if not stated
 * @param balancing how ranks share URLs; null if not stated
 * @param rankOffset the number of the first rank in the whole deployment; -1 if not stated
 * @param blockSize tokens of a KV block; 0 if not stated
 * @param events where block events come from; null if not stated
 * @param poll whether block events are polled from TensorRT-LLM's {@code /kv_cache_events}, which
 *     gives each event to one reader only
 * @param forwardPasses where ranks publish the metrics of their steps: one pattern for all, or one
 *     for each; empty if they do not
 * @param renderer what makes the tokens of its requests, such as {@code vllm launch render}; null
 *     if only the worker itself does
 * @param apiKey what the engine demands of its clients; null if nothing is stated
 * @param trust which certificates of the engine are good
 * @param disagg the part of requests that it serves
 * @param weight its weight relative to other workers, above 0 and at most 1
 */
public record WorkerSpec(
    URI url,
    EngineFlavor flavor,
    int ranks,
    @Nullable LoadBalancing balancing,
    int rankOffset,
    int blockSize,
    @Nullable EventOptions events,
    boolean poll,
    List<EndpointPattern> forwardPasses,
    @Nullable RendererSpec renderer,
    @Nullable ApiKey apiKey,
    EngineTrust trust,
    DisaggSpec disagg,
    double weight) {

  /** The key of {@link #forwardPasses()}. */
  static final String FORWARD_PASSES = "forward_pass_metrics";

  private static final String IN_PROCESS = "process";

  /** Most ranks of a deployment. */
  public static final int MAX_RANKS = 4096;

  /**
   * Checks how the parts fit together.
   *
   * @throws IllegalArgumentException naming the part that is wrong
   */
  public WorkerSpec {
    if (ranks > 1 && balancing == LoadBalancing.EXTERNAL) {
      throw new IllegalArgumentException(
          "ranks must be 1 with lb=external, where each rank has a URL of its own");
    }
    if (balancing != null && flavor != EngineFlavor.VLLM) {
      throw new IllegalArgumentException("lb must be left out with flavor=" + flavor.id());
    }
    if (poll && (flavor != EngineFlavor.TRTLLM || events != null)) {
      throw new IllegalArgumentException(
          "poll must be left out with flavor=" + flavor.id() + " and with events");
    }
    if (renderer != null && flavor != EngineFlavor.VLLM) {
      throw new IllegalArgumentException("renderer must be left out with flavor=" + flavor.id());
    }
    int first = Math.max(0, rankOffset);
    if (first + Math.max(1, ranks) > MAX_RANKS) {
      throw new IllegalArgumentException(
          "rank_offset and ranks together must be at most " + MAX_RANKS);
    }
    if (events != null) {
      int listed = events.listed();
      ranks = ranks == 0 && listed > 0 ? listed : ranks;
      EventEndpoints unused = events.endpoints(Math.max(1, ranks), first);
    }
    forwardPasses = List.copyOf(forwardPasses);
    ranks = ranks == 0 && forwardPasses.size() > 1 ? forwardPasses.size() : ranks;
    EndpointPattern.check(FORWARD_PASSES, forwardPasses, 0);
    List<String> unused = forwardPasses(forwardPasses, Math.max(1, ranks), first);
  }

  /**
   * Where ranks publish the metrics of their steps.
   *
   * @param count the number of ranks, at least 1
   * @param firstRank the number of the first one in the whole deployment
   * @return the endpoint of each rank; empty if they do not
   * @throws IllegalArgumentException naming the rank and the endpoint that is wrong
   */
  public List<String> forwardPasses(int count, int firstRank) {
    return forwardPasses(forwardPasses, count, firstRank);
  }

  private static List<String> forwardPasses(
      List<EndpointPattern> patterns, int count, int firstRank) {
    List<String> endpoints =
        EndpointPattern.endpoints(FORWARD_PASSES, patterns, count, firstRank, 0);
    for (int rank = 0; rank < endpoints.size(); rank++) {
      String user = FORWARD_PASSES + " of rank " + rank;
      if (EventEndpoints.isWildcard(EventEndpoints.host(user, endpoints.get(rank)))) {
        throw new IllegalArgumentException(
            user + ": '" + endpoints.get(rank) + "' names no host to connect to");
      }
    }
    return endpoints;
  }

  /** {@return whether the worker is in this process; its ranks are routed to as a whole} */
  public boolean isInProcess() {
    return IN_PROCESS.equals(url.getScheme());
  }

  /**
   * A worker of this process, which {@code url} does not reach.
   *
   * @return one rank, with vLLM's endpoints
   */
  public static WorkerSpec inProcess() {
    return new WorkerSpec(
        URI.create(IN_PROCESS + "://kvasir"),
        EngineFlavor.VLLM,
        1,
        null,
        -1,
        0,
        null,
        false,
        List.of(),
        null,
        null,
        EngineTrust.JAVA,
        DisaggSpec.WHOLE,
        1);
  }

  /**
   * Parses {@code URL[,KEY=VALUE]...}. The keys are {@code flavor}, {@code ranks}, {@code events},
   * {@code replay}, {@code topic}, {@code bind}, {@code block_size}, {@code lb}, {@code
   * rank_offset}, {@code ranks_per_node}, {@code poll}, {@code forward_pass_metrics}, {@code
   * renderer}, {@code weight}, {@code api_key}, {@code api_key_file}, {@code api_key_env}, {@code
   * ca} and {@code insecure}, which also exist with {@code renderer_} before them, and those of
   * {@link DisaggSpec}: {@code role}, {@code disagg}, {@code bootstrap}, {@code bootstrap_port},
   * {@code side_channel}, {@code engine_id} and {@code tp_size}; {@code events}, {@code replay} and
   * {@code forward_pass_metrics} can be repeated, once for each rank. A key's file or variable is
   * read at once.
   *
   * @param text the description
   * @return the worker
   * @throws IllegalArgumentException naming the part that is wrong and what is allowed
   */
  public static WorkerSpec parse(String text) {
    return parse(text, null);
  }

  /**
   * Parses the description of a worker whose role an option states.
   *
   * @param text the description, as {@link #parse(String)} takes it
   * @param role the role; null if only the description can state one
   * @return the worker
   * @throws IllegalArgumentException naming the part that is wrong and what is allowed, also if the
   *     description states another role
   */
  public static WorkerSpec parse(String text, @Nullable WorkerRole role) {
    return new WorkerSpecParser(text, System::getenv).parse(role);
  }

  /**
   * The same worker with another weight.
   *
   * @param other the weight
   * @return the description
   */
  public WorkerSpec withWeight(double other) {
    return new WorkerSpec(
        url,
        flavor,
        ranks,
        balancing,
        rankOffset,
        blockSize,
        events,
        poll,
        forwardPasses,
        renderer,
        apiKey,
        trust,
        disagg,
        other);
  }

  /** {@return the remedy where the engine refuses the gateway's questions, in words} */
  public String keyRemedy() {
    return apiKey == null
        ? "the engine demands a key: give the worker api_key_file or api_key_env"
        : "the engine refuses the worker's api_key";
  }

  /** {@return the worker's name in logs and metrics: host, port and path} */
  public String name() {
    String path = url.getRawPath() == null ? "" : url.getRawPath();
    return url.getRawAuthority() + path;
  }
}
