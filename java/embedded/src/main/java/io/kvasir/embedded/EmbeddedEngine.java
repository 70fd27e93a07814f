package io.kvasir.embedded;

import io.kvasir.embedded.api.CompletionEndpoints;
import io.kvasir.embedded.api.EngineProfile;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.MessagesEndpoints;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.api.RankSteering;
import io.kvasir.embedded.api.RenderEndpoints;
import io.kvasir.embedded.api.ResponsesEndpoints;
import io.kvasir.embedded.api.Routes;
import io.kvasir.embedded.disagg.Disagg;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.embedded.publish.StepPublisher;
import io.kvasir.embedded.ranks.BlockFeed;
import io.kvasir.embedded.ranks.BlockHolds;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.embedded.ranks.EmbeddingsEndpoint;
import io.kvasir.embedded.ranks.Generator;
import io.kvasir.embedded.ranks.KvLegs;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankModel;
import io.kvasir.embedded.ranks.ReportedSteps;
import io.kvasir.embedded.standin.StandIn;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.NativeBlockHasher;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * ADP ranks of this process as an OpenAI engine without HTTP.
 *
 * <p>Requests are tokenised, hashed, routed to ranks, scheduled and cached by production code; only
 * the computation is modelled, in real time. A prompt has one token for each byte of its UTF-8
 * text. Answers are words that depend on the prompt and the seeds alone; each is one token. Without
 * a maximum in the request an answer has at most 64 tokens.
 *
 * <p>It serves chat and text completions, Anthropic's messages, responses, embeddings, tokens,
 * models, health and metrics. A request may name its rank ({@code X-data-parallel-rank}, {@code
 * data_parallel_rank}, {@code routed_dp_rank}) and its conversation ({@code
 * conversation_params.conversation_id}, {@code X-Session-ID}, {@code X-Correlation-ID}; of a
 * sub-agent also {@code conversation_params.subagent_affinity_id}, {@code
 * X-TRTLLM-Subagent-Affinity-ID}). The head of a generated reply has {@code x-kvasir-dp-rank},
 * {@code x-kvasir-matched-tokens} and {@code x-kvasir-reason}; it is sent with the first token.
 *
 * <p>Thread-safe. One thread drives the ranks. A request is read and hashed on its event loop,
 * which costs O(body).
 */
public final class EmbeddedEngine implements Upstream {

  private final EmbeddedSettings settings;
  private final @Nullable StandIn standIn;
  private final RankLoop ranks;
  private final @Nullable Disagg disagg;
  private final Routes routes = new Routes();

  private EmbeddedEngine(
      EmbeddedSettings settings,
      RankPools.Place place,
      @Nullable StandIn standIn,
      @Nullable RoleSettings part) {
    this.settings = settings;
    this.standIn = standIn;
    BlockHasher hasher = NativeBlockHasher.of(settings.hashFormat(), settings.tokensPerBlock());
    List<BlockFeed> feeds = standIn == null ? List.of() : standIn.feeds();
    StepPublisher steps = standIn == null ? null : standIn.steps();
    Faults faults = standIn == null ? new Faults(settings.ranks()) : standIn.faults();
    this.ranks =
        new RankLoop(
            settings,
            place,
            faults,
            hasher,
            feeds,
            steps == null ? null : new ReportedSteps(steps, settings.speed(), settings.ranks()),
            part == null ? 0 : BlockHolds.MAX);
    this.disagg = part == null ? null : new Disagg(part, settings, ranks, hasher);
    addRoutes(
        faults,
        new RankModel(
            settings,
            ranks,
            new Generator(settings, hasher, ranks),
            faults,
            disagg == null ? KvLegs.NONE : disagg));
  }

  private void addRoutes(Faults faults, RankModel model) {
    EngineProfile profile =
        standIn == null ? EngineProfile.KVASIR : EngineProfile.of(standIn.settings().flavor());
    OptionsReader options =
        new OptionsReader(
            settings.model(),
            new RankSteering(profile, settings.ranks(), () -> faults.engine().ignoreSteering()),
            "the answers are synthetic words");
    CompletionEndpoints completions =
        new CompletionEndpoints(model, options, profile.chatTokenFields());
    MessagesEndpoints messages = new MessagesEndpoints(model, options);
    ResponsesEndpoints responses =
        new ResponsesEndpoints(model, options, settings.responseStoreBytes());
    completions.addTo(routes);
    messages.addTo(routes);
    responses.addTo(routes);
    if (standIn == null || standIn.settings().renders()) {
      new RenderEndpoints(options, completions, messages, responses).addTo(routes);
    }
    new EmbeddingsEndpoint(settings, options).addTo(routes);
    InfoEndpoints info = new InfoEndpoints(model, options, profile.version());
    if (standIn == null) {
      info.addTo(routes);
      routes.add("GET", "/server_info", model::serverInfo);
      return;
    }
    standIn.addTo(routes, settings, model, ranks, options, info, disagg);
    if (disagg != null) {
      disagg.addTo(routes);
    }
  }

  /**
   * Starts an engine.
   *
   * @param settings its settings
   * @param place where its pools live
   * @return the engine; the caller closes it
   * @throws io.kvasir.engine.device.DeviceOutOfMemoryException if a device has not enough memory
   */
  public static EmbeddedEngine open(EmbeddedSettings settings, RankPools.Place place) {
    return new EmbeddedEngine(settings, place, null, null);
  }

  /**
   * Starts an engine that stands in for another one: with its endpoints, its way to name ranks, its
   * metrics, and the events of its blocks.
   *
   * @param settings its settings
   * @param place where its pools live
   * @param events the other engine, and how blocks are published
   * @return the engine; the caller closes it
   * @throws IOException if a port cannot be opened
   * @throws io.kvasir.engine.device.DeviceOutOfMemoryException if a device has not enough memory
   */
  public static EmbeddedEngine open(
      EmbeddedSettings settings, RankPools.Place place, EventSettings events) throws IOException {
    return open(settings, place, events, null);
  }

  /**
   * Starts an engine that stands in for another one, and answers requests together with others.
   * {@link #listens} must follow.
   *
   * @param settings its settings
   * @param place where its pools live
   * @param events the other engine, and how blocks are published
   * @param part its part in requests that two engines answer together; null for none
   * @return the engine; the caller closes it
   * @throws IOException if a port cannot be opened
   * @throws IllegalArgumentException if the part is that of another engine, or the model is hybrid
   * @throws io.kvasir.engine.device.DeviceOutOfMemoryException if a device has not enough memory
   */
  public static EmbeddedEngine open(
      EmbeddedSettings settings,
      RankPools.Place place,
      EventSettings events,
      @Nullable RoleSettings part)
      throws IOException {
    if (part != null && part.connector().flavor() != events.flavor()) {
      throw new IllegalArgumentException(
          "connector " + part.connector().id() + " is not one of " + events.flavor().id());
    }
    if (part != null && !settings.groups().isEmpty()) {
      throw new IllegalArgumentException("the KV of hybrid models does not move");
    }
    StandIn standIn = StandIn.open(settings, events);
    try {
      return new EmbeddedEngine(settings, place, standIn, part);
    } catch (RuntimeException | Error e) {
      standIn.close();
      throw e;
    }
  }

  /**
   * The engine is reachable from now on, so that other engines can fetch KV from it. No effect
   * without a part in their requests.
   *
   * @param host the name or address under which others reach it
   * @param port its port
   * @param transferPort the port of {@link #transfers}, or else the same
   */
  public void listens(String host, int port, int transferPort) {
    if (disagg != null) {
      disagg.listens(host, port, transferPort);
    }
  }

  /**
   * {@return the endpoints by which other engines fetch KV, for a port of their own; closing them
   * has no effect}
   */
  public Upstream transfers() {
    Routes own = new Routes();
    if (disagg != null) {
      disagg.addTo(own);
    }
    return alone(own);
  }

  /** The endpoints by which other engines fetch the KV of one rank. */
  Upstream sideChannel(int rank) {
    Routes own = new Routes();
    if (disagg != null) {
      disagg.addSideChannel(rank, own);
    }
    return alone(own);
  }

  /** Replies name the ports of ranks from now on. */
  void namesSideChannels(int portOfFirst) {
    if (disagg != null) {
      disagg.namesSideChannels(portOfFirst);
    }
  }

  private Upstream alone(Routes own) {
    return new Upstream() {
      @Override
      public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
        return own.send(request, reply, loop, ranks.isClosed());
      }

      @Override
      public void close() {}
    };
  }

  /** {@return the publisher of the blocks' events; empty if there is none} */
  public Optional<EventPublisher> publisher() {
    return standIn == null ? Optional.empty() : Optional.ofNullable(standIn.publisher());
  }

  /** {@return the publisher of forward-pass metrics; empty if there is none} */
  public Optional<StepPublisher> steps() {
    return standIn == null ? Optional.empty() : Optional.ofNullable(standIn.steps());
  }

  /**
   * Retires a rank: its requests continue on other ranks, and it gets no more. No effect on a
   * retired rank. Returns at once.
   *
   * @param rank its index
   * @param reason the reason, for the log and for requests that strictly target the rank
   * @throws IndexOutOfBoundsException if there is no such rank
   */
  public void retireRank(int rank, String reason) {
    ranks.retire(Objects.checkIndex(rank, settings.ranks()), reason);
  }

  /** {@return the settings} */
  public EmbeddedSettings settings() {
    return settings;
  }

  @Override
  public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
    return routes.send(request, reply, loop, ranks.isClosed());
  }

  /**
   * Aborts the requests in flight, waits for the end of the ranks' thread, closes the pools and the
   * ports of events.
   */
  @Override
  public void close() {
    ranks.close();
    if (disagg != null) {
      disagg.close();
    }
    if (standIn != null) {
      standIn.close();
    }
  }
}
