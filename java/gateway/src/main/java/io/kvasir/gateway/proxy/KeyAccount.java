package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.gateway.keys.KeyUse.Admission;
import io.kvasir.gateway.keys.KeyUse.Exceeded;
import io.kvasir.gateway.keys.KeyUse.Grant;
import io.kvasir.gateway.openai.BodyScan;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What one request takes of the limits of its key. Confined to the request's event loop, except
 * {@link #write}.
 */
final class KeyAccount {

  private static final int OK = 200;
  private static final int LIMITED = 429;
  private static final int FIRST_ERROR = 400;
  private static final long MOST_ANSWERS = 1 << 20;

  private final KeyUse key;
  private final Services services;
  private @Nullable Grant grant;
  private long expectedPrompt;

  /** A request with a key has arrived. */
  KeyAccount(KeyUse key, Services services) {
    this.key = key;
    this.services = services;
  }

  /** Why the request is refused whatever its body is; null if that is not so. Takes nothing. */
  @Nullable Problem early(Exchange exchange, Endpoint endpoint) {
    return refusal(exchange, key.exceeded(services.nowNs(), endpoint.generates()));
  }

  /**
   * Takes what the request is expected to need, or says why it is refused. No effect if it was
   * admitted before.
   *
   * @param body its body; null if that is no JSON, or was not read yet
   */
  @Nullable Problem admit(Exchange exchange, Endpoint endpoint, @Nullable BodyScan body) {
    if (grant != null) {
      return null;
    }
    expectedPrompt = endpoint.computes() ? Math.max(1, promptTokens(body)) : 0;
    long output = body == null ? 0 : body.largestOutputLimit();
    long answers = endpoint.generates() ? answers(body) : 0;
    Admission admission = key.admit(services.nowNs(), expectedPrompt, output, answers);
    grant = admission.grant();
    if (grant != null) {
      exchange.replyWith(key.fields(services.nowNs()));
    }
    return refusal(exchange, admission.exceeded());
  }

  private static long answers(@Nullable BodyScan body) {
    return body == null ? 1 : Math.min(MOST_ANSWERS, (long) body.n() * body.prompt().count());
  }

  /** The tokens of a prompt, or of a body whose prompt has other fields. */
  private static long promptTokens(@Nullable BodyScan body) {
    if (body == null) {
      return 0;
    }
    long tokens = body.prompt().estimatedTokens();
    return tokens > 0 ? tokens : (body.length() + 3L) / 4;
  }

  /** The tokens that are expected of the request. After {@link #admit}. */
  long tokens() {
    return grant == null ? 0 : grant.expected();
  }

  private @Nullable Problem refusal(Exchange exchange, @Nullable Exceeded exceeded) {
    if (exceeded == null) {
      return null;
    }
    services.metrics().onTenantRefused(key.key().tenant(), exceeded.limit().id());
    exchange.replyWith(key.fields(services.nowNs()));
    boolean never = exceeded.waitNs() == 0;
    long seconds = TimeUnit.NANOSECONDS.toSeconds(exceeded.waitNs() + 999_999_999L);
    return new Problem(
        LIMITED,
        exceeded.limit().type(),
        "rate_limit_exceeded",
        null,
        "the limit "
            + exceeded.limit().id()
            + " of this API key is reached: "
            + exceeded.most()
            + (never ? ", and this request needs " + exceeded.needed() : ""),
        never ? 0 : (int) Math.max(1, seconds));
  }

  /** Writes whose request it was. Thread-safe. */
  void write(JsonGenerator json) throws IOException {
    json.writeStringField("key", key.key().name());
    json.writeStringField("tenant", key.key().tenant());
  }

  /**
   * The request is over.
   *
   * @param status its status
   * @param sent whether a worker has received it
   * @param promptTokens tokens of its prompt; negative if they are not known
   * @param outputTokens tokens of its answer
   */
  void onOver(int status, boolean sent, long promptTokens, long outputTokens) {
    boolean whole = status < FIRST_ERROR || status == Problem.CLIENT_GONE;
    boolean computed = (sent && whole) || outputTokens > 0;
    long prompt = promptTokens >= 0 ? promptTokens : computed ? expectedPrompt : 0;
    Grant taken = grant;
    if (taken != null) {
      if (status == OK && promptTokens < 0) { // the reply has no usage, or is too large to be read
        outputTokens = Math.max(outputTokens, taken.expectedOutput());
      }
      taken.end(services.nowNs(), prompt, outputTokens);
      services.metrics().onTenantServed(key.key().tenant(), prompt + outputTokens);
    }
  }
}
