package io.kvasir.gateway.embedded;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.gateway.exchange.ReplyListener;
import io.kvasir.gateway.exchange.Upstream;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.kvasir.gateway.exchange.UpstreamRequest;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.NativeBlockHasher;
import java.util.Objects;
import java.util.concurrent.Executor;

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
 * conversation_params.conversation_id}, {@code X-Session-ID}, {@code X-Correlation-ID}). The head
 * of a generated reply has {@code x-kvasir-dp-rank}, {@code x-kvasir-matched-tokens} and {@code
 * x-kvasir-reason}; it is sent with the first token.
 *
 * <p>Thread-safe. One thread drives the ranks. A request is read and hashed on its event loop,
 * which costs O(body).
 */
public final class EmbeddedEngine implements Upstream {

  private final EmbeddedSettings settings;
  private final RankLoop ranks;
  private final Routes routes = new Routes();

  private EmbeddedEngine(EmbeddedSettings settings, RankPools.Place place) {
    this.settings = settings;
    BlockHasher hasher = NativeBlockHasher.of(settings.hashFormat(), settings.tokensPerBlock());
    this.ranks = new RankLoop(settings, place, hasher);
    addRoutes(new Generator(settings, hasher, ranks));
  }

  private void addRoutes(Generator generator) {
    OptionsReader options =
        new OptionsReader(settings.model(), settings.ranks(), "the answers are synthetic words");
    RankModel model = new RankModel(settings, ranks, generator);
    new CompletionEndpoints(model, options).addTo(routes);
    new MessagesEndpoints(model, options).addTo(routes);
    new ResponsesEndpoints(model, options, settings.responseStoreBytes()).addTo(routes);
    new EmbeddingsEndpoint(settings, options).addTo(routes);
    new InfoEndpoints(model, options).addTo(routes);
    routes.add("GET", "/server_info", model::serverInfo);
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
    return new EmbeddedEngine(settings, place);
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

  /** Aborts the requests in flight, waits for the end of the ranks' thread, closes the pools. */
  @Override
  public void close() {
    ranks.close();
  }
}
