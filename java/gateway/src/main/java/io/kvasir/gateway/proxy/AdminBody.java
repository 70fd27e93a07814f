package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.Exchange;
import io.kvasir.gateway.exchange.Headers;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the body of a request to the admin port, and answers with errors. Stateless. */
final class AdminBody {

  private static final Logger LOG = LoggerFactory.getLogger(AdminBody.class);

  private AdminBody() {}

  /**
   * Reads a body within the gateway's limits.
   *
   * @param then receives it; an exception becomes an error reply
   */
  static void read(Exchange exchange, Services services, Consumer<byte[]> then) {
    readHeld(
        exchange,
        services,
        (body, hold) -> {
          then.accept(body);
          hold.release();
        });
  }

  /**
   * The same for an answer that comes later.
   *
   * @param then receives the body and what it holds of the budget, and releases that; an exception
   *     releases it too, as does a client that goes away
   */
  static void readHeld(Exchange exchange, Services services, BiConsumer<byte[], BodyHold> then) {
    ProxySettings settings = services.settings();
    BodyReader[] reader = {null};
    reader[0] =
        new BodyReader(
            exchange,
            new BodyReader.Limits(
                settings.maxBodyBytes(), settings.bodyTimeoutMs(), services.bodies()),
            body -> {
              try {
                then.accept(body, reader[0].hold());
              } catch (RuntimeException e) {
                LOG.error("a request to the admin port failed", e);
                reader[0].release();
                problem(exchange, Problem.internal());
              }
            },
            problem -> problem(exchange, problem));
    exchange.onGone(
        () -> {
          reader[0].stop();
          reader[0].release();
        });
    reader[0].start();
  }

  static void problem(Exchange exchange, Problem problem) {
    Replies.problem(exchange, null, "admin", problem, new Headers());
  }
}
