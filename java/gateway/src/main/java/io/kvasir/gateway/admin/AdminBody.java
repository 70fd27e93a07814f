package io.kvasir.gateway.admin;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.BodyReader;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.proxy.Problem;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.gateway.proxy.Services;
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
    BodyReader.Limits limits =
        new BodyReader.Limits(settings.maxBodyBytes(), settings.bodyTimeoutMs(), services.bodies());
    BodyReader.Receiver receiver =
        new BodyReader.Receiver() {
          @Override
          public void onRead(byte[] body, BodyHold hold) {
            try {
              then.accept(body, hold);
            } catch (RuntimeException e) {
              LOG.error("a request to the admin port failed", e);
              hold.release();
              problem(exchange, Problem.internal());
            }
          }

          @Override
          public void onFailed(BodyFailure failure) {
            problem(exchange, Problem.of(failure));
          }
        };
    BodyReader reader = new BodyReader(exchange, limits, receiver);
    exchange.onGone(
        () -> {
          reader.stop();
          reader.release();
        });
    reader.start();
  }

  static void problem(Exchange exchange, Problem problem) {
    Replies.problem(exchange, "admin", problem);
  }
}
