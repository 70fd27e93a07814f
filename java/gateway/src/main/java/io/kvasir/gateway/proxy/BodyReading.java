package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.gateway.openai.InvalidBodyException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the body that is read for an {@link Arrival}. Confined to the exchange's event loop.
 *
 * @param <T> what is read of the body
 */
abstract class BodyReading<T> implements BodyIntake.Receiver<T> {

  private static final Logger LOG = LoggerFactory.getLogger(BodyReading.class);

  private final Arrival arrival;
  private final AtomicInteger reading;

  /**
   * Begins with a body that arrives.
   *
   * @param reading the number of requests whose body arrives, this one included
   */
  BodyReading(Arrival arrival, AtomicInteger reading) {
    this.arrival = arrival;
    this.reading = reading;
  }

  abstract HeldBody held(T read, BodyHold hold);

  abstract void onBody(T read, HeldBody body) throws InvalidBodyException;

  @Override
  public void onScanned(T read, BodyHold hold) {
    HeldBody body = held(read, hold);
    try {
      onBody(read, body);
    } catch (InvalidBodyException e) {
      body.release();
      arrival.refuse(Problem.invalid(e.param(), e.reason()));
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      body.release();
      arrival.refuse(Problem.internal());
    } finally {
      reading.decrementAndGet();
    }
  }

  @Override
  public void onProblem(Problem problem) {
    arrival.refuse(problem);
    reading.decrementAndGet();
  }

  @Override
  public void onGone() {
    arrival.clientGone();
    reading.decrementAndGet();
  }
}
