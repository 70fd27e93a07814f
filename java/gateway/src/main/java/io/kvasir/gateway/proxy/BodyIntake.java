package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.BodyReader;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and scans the body of one request: a small body on the event loop, a large one on one of
 * the {@link BodyThreads}.
 *
 * <p>Confined to the exchange's event loop.
 */
final class BodyIntake implements BodyReader.Receiver {

  private static final Logger LOG = LoggerFactory.getLogger(BodyIntake.class);
  private static final int RETRY_SECONDS = 1;

  private final Exchange exchange;
  private final BodyThreads threads;
  private final Receiver receiver;
  private final BodyReader reader;
  private boolean over;

  /** What becomes of a body. One of its methods is called, once, on the event loop. */
  interface Receiver {

    /**
     * The body is complete and valid.
     *
     * @param body the body
     * @param hold what the request holds of the budget; the receiver releases it
     */
    void onScanned(BodyScan body, BodyHold hold);

    /** The request is refused; it holds nothing any more. */
    void onProblem(Problem problem);

    /** The client went away; the request holds nothing any more. */
    void onGone();
  }

  private BodyIntake(Exchange exchange, Services services, Receiver receiver) {
    ProxySettings settings = services.settings();
    this.exchange = exchange;
    this.threads = services.threads();
    this.receiver = receiver;
    this.reader =
        new BodyReader(
            exchange,
            new BodyReader.Limits(
                settings.maxBodyBytes(), settings.bodyTimeoutMs(), services.bodies()),
            this);
  }

  /** Begins. Replaces what runs when the client goes away, until the receiver is called. */
  static void start(Exchange exchange, Services services, Receiver receiver) {
    BodyIntake intake = new BodyIntake(exchange, services, receiver);
    exchange.onGone(intake::onGone);
    intake.reader.start();
  }

  @Override
  public void onRead(byte[] bytes, BodyHold hold) {
    if (bytes.length <= BodyThreads.LARGE_BYTES) {
      settle(scan(bytes));
      return;
    }
    boolean runs =
        threads.run(
            hold,
            () -> {
              if (!hold.released()) {
                Consumer<BodyIntake> outcome = scan(bytes);
                exchange.loop().execute(() -> settle(outcome));
              }
            });
    if (!runs) {
      refuse(tooManyLargeBodies());
    }
  }

  /** The reply to a request for which no thread has time. */
  static Problem tooManyLargeBodies() {
    return Problem.overloaded(
        503, "body_queue_full", "too many large bodies wait to be read", RETRY_SECONDS);
  }

  /** Scans on the current thread. The outcome is passed on by the event loop. */
  private Consumer<BodyIntake> scan(byte[] bytes) {
    try {
      BodyScan scan = BodyScan.of(bytes, 0, bytes.length);
      return intake -> intake.onScanned(scan);
    } catch (InvalidBodyException e) {
      return intake -> intake.refuse(Problem.invalid(e.param(), e.reason()));
    } catch (RuntimeException e) {
      LOG.error("a body could not be scanned", e);
      return intake -> intake.refuse(Problem.internal());
    }
  }

  private void settle(Consumer<BodyIntake> outcome) {
    if (!over) {
      outcome.accept(this);
    }
  }

  private void onScanned(BodyScan scan) {
    over = true;
    receiver.onScanned(scan, reader.hold());
  }

  @Override
  public void onFailed(BodyFailure failure) {
    refuse(Problem.of(failure));
  }

  private void refuse(Problem problem) {
    if (!over) {
      over = true;
      reader.release();
      receiver.onProblem(problem);
    }
  }

  private void onGone() {
    if (!over) {
      over = true;
      reader.stop();
      reader.release();
      receiver.onGone();
    }
  }
}
