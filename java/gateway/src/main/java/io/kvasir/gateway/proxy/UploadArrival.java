package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Exchange;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request whose body passes unread, until the beginning of the body is here and it is forwarded.
 *
 * <p>Confined to the exchange's event loop.
 */
final class UploadArrival {

  private static final Logger LOG = LoggerFactory.getLogger(UploadArrival.class);

  private final Arrival.Shared shared;
  private final Services services;
  private final Exchange exchange;
  private final RequestHead head;
  private final Arrival arrival;

  /** Whether the beginning of the body is awaited. */
  private final AtomicBoolean waits = new AtomicBoolean(true);

  /**
   * Begins with nothing.
   *
   * @param arrival forwards or refuses the request
   */
  UploadArrival(Arrival.Shared shared, Exchange exchange, RequestHead head, Arrival arrival) {
    this.shared = shared;
    this.services = shared.services();
    this.exchange = exchange;
    this.head = head;
    this.arrival = arrival;
  }

  /**
   * Reads the beginning of the body.
   *
   * @param model finds the model in the body; null if it has no such field
   */
  void start(@Nullable FormModel model) {
    BodyHold hold = services.bodies().open(head.client());
    UploadStart upload =
        new UploadStart(
            exchange,
            hold,
            services.settings(),
            model,
            startsWithoutModel(),
            ready -> {
              try {
                arrival.forward(HeldBody.unread(ready, hold), model == null ? null : model.value());
              } catch (RuntimeException e) {
                LOG.error("a request failed in the gateway itself", e);
                ready.stop();
                arrival.refuse(Problem.internal());
              } finally {
                endReading();
              }
            },
            problem -> {
              arrival.refuse(problem);
              endReading();
            });
    shared.reading().incrementAndGet();
    exchange.onGone(
        () -> {
          if (waits.get()) {
            upload.stop();
            arrival.clientGone();
            endReading();
          }
        });
    upload.start();
  }

  /** Bytes with which an upload starts that has not named its model. */
  private long startsWithoutModel() {
    boolean several = services.fleets().models().size() > 1 || services.fleets().silent() > 0;
    if (!several || NamedModel.of(head) != null) {
      return UploadStart.FIRST_BYTES;
    }
    return NamedModel.isOptional(head) ? UploadStart.FILE_BYTES : Long.MAX_VALUE;
  }

  private void endReading() {
    if (waits.getAndSet(false)) {
      shared.reading().decrementAndGet();
    }
  }
}
