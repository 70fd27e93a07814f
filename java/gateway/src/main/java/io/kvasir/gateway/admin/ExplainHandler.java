package io.kvasir.gateway.admin;

import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.proxy.Preview;
import io.kvasir.gateway.proxy.Problem;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.gateway.proxy.Services;
import io.kvasir.gateway.tokens.PromptTokens;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Says where a request would go, without sending it: {@code POST /kvasir/explain} with the body of
 * a request. The reply has the prompt's tokens, what each rank holds of them, the costs, and the
 * choice.
 *
 * <p>Thread-safe.
 */
final class ExplainHandler implements Consumer<Exchange> {

  private final Services services;

  /**
   * Creates a handler.
   *
   * @param services what all requests share
   */
  ExplainHandler(Services services) {
    this.services = services;
  }

  @Override
  public void accept(Exchange exchange) {
    AdminBody.readHeld(
        exchange,
        services,
        (body, hold) -> Preview.of(exchange, body, hold, services, new Answer(exchange)));
  }

  /** Writes the reply to one request. */
  private record Answer(Exchange exchange) implements Preview.Receiver {

    @Override
    public void onPreview(
        String model,
        PromptTokens tokens,
        Preview.Choice whole,
        List<Preview.Choice> apart,
        @Nullable String local) {
      Replies.json(exchange, 200, ExplanationJson.of(model, tokens, whole, apart, local));
    }

    @Override
    public void onProblem(Problem problem) {
      AdminBody.problem(exchange, problem);
    }
  }
}
