package io.kvasir.embedded.text;

import io.kvasir.embedded.api.CompletionEndpoints;
import io.kvasir.embedded.api.EngineProfile;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.MessagesEndpoints;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.api.RankSteering;
import io.kvasir.embedded.api.RenderEndpoints;
import io.kvasir.embedded.api.ResponsesEndpoints;
import io.kvasir.embedded.api.Routes;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.model.Checks;
import java.util.concurrent.Executor;

/**
 * A {@link TextModel} as an OpenAI engine without HTTP: chat and text completions, Anthropic's
 * messages, responses, models, health, metrics, tokens.
 *
 * <p>Thread-safe. One thread generates, one sequence after the other. A request is read and
 * tokenised on its event loop, which costs O(body).
 */
public final class TextModelEngine implements Upstream {

  private static final long RESPONSE_STORE_BYTES = 64L << 20;

  private final TextLoop loop;
  private final Routes routes = new Routes();

  private TextModelEngine(TextModel model, int maxQueuedRequests) {
    this.loop = new TextLoop(model, maxQueuedRequests);
    EngineProfile profile = EngineProfile.KVASIR;
    OptionsReader options =
        new OptionsReader(
            model.name(),
            new RankSteering(profile, 1, () -> false),
            "the model in the file lacks it");
    FileModel served = new FileModel(model, loop, maxQueuedRequests);
    CompletionEndpoints completions =
        new CompletionEndpoints(served, options, profile.chatTokenFields());
    MessagesEndpoints messages = new MessagesEndpoints(served, options);
    ResponsesEndpoints responses = new ResponsesEndpoints(served, options, RESPONSE_STORE_BYTES);
    completions.addTo(routes);
    messages.addTo(routes);
    responses.addTo(routes);

    new RenderEndpoints(options, completions, messages, responses).addTo(routes);

    new InfoEndpoints(served, options, profile.version()).addTo(routes);
  }

  /**
   * Starts an engine.
   *
   * @param model the model; closed with the engine
   * @param maxQueuedRequests most sequences that wait and run together, at least 1; further
   *     requests are refused with status 429
   * @return the engine; the caller closes it
   * @throws IllegalArgumentException if the maximum is out of range; the model stays open
   */
  public static TextModelEngine open(TextModel model, int maxQueuedRequests) {
    Checks.atLeast("maxQueuedRequests", maxQueuedRequests, 1);
    return new TextModelEngine(model, maxQueuedRequests);
  }

  @Override
  public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loopOfCaller) {
    return routes.send(request, reply, loopOfCaller, loop.isClosed());
  }

  /** Aborts the requests in flight, waits for the running one to stop, and closes the model. */
  @Override
  public void close() {
    loop.close();
  }
}
