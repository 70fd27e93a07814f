package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.BodyReader;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.openai.InvalidBodyException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads, decodes and scans the body of one request: a small body on the event loop, a large or
 * coded one on one of the {@link BodyThreads}.
 *
 * <p>Confined to the exchange's event loop.
 *
 * @param <T> what the body is read as
 */
final class BodyIntake<T> implements BodyReader.Receiver {

  private static final Logger LOG = LoggerFactory.getLogger(BodyIntake.class);
  private static final int RETRY_SECONDS = 1;

  private final Exchange exchange;
  private final BodyThreads threads;
  private final ContentCodings codings;
  private final long maxBytes;
  private final Scan<T> scan;
  private final Receiver<T> receiver;
  private final BodyReader reader;
  private boolean over;

  /**
   * How a body is read, once it is complete. Runs on any thread.
   *
   * @param <T> what it is read as
   */
  @FunctionalInterface
  interface Scan<T> {

    T of(byte[] body) throws InvalidBodyException;
  }

  /**
   * Receives the outcome of a body. One of its methods is called, once, on the event loop.
   *
   * @param <T> what the body is read as
   */
  interface Receiver<T> {

    /**
     * The body is complete and valid.
     *
     * @param body the body
     * @param hold what the request holds of the budget; the receiver releases it
     */
    void onScanned(T body, BodyHold hold);

    /** The request is refused; it holds nothing any more. */
    void onProblem(Problem problem);

    /** The client went away; the request holds nothing any more. */
    void onGone();
  }

  private BodyIntake(
      Exchange exchange,
      Services services,
      ContentCodings codings,
      Scan<T> scan,
      Receiver<T> receiver) {
    ProxySettings settings = services.settings();
    this.codings = codings;
    this.maxBytes = settings.maxBodyBytes();
    this.scan = scan;
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

  /**
   * Begins. Replaces what runs when the client goes away, until the receiver is called.
   *
   * @param codings how the body is coded; what the scan and the receiver get is decoded
   * @param scan reads the body
   */
  static <T> void start(
      Exchange exchange,
      Services services,
      ContentCodings codings,
      Scan<T> scan,
      Receiver<T> receiver) {
    BodyIntake<T> intake = new BodyIntake<>(exchange, services, codings, scan, receiver);
    exchange.onGone(intake::onGone);
    intake.reader.start();
  }

  @Override
  public void onRead(byte[] bytes, BodyHold hold) {
    boolean coded = !codings.isNone() && bytes.length > 0;
    if (bytes.length <= BodyThreads.LARGE_BYTES && !coded) {
      settle(scan(bytes));
      return;
    }
    boolean runs =
        threads.run(
            hold,
            () -> {
              if (!hold.released()) {
                Consumer<BodyIntake<T>> outcome = coded ? decode(bytes, hold) : scan(bytes);
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

  private Consumer<BodyIntake<T>> decode(byte[] bytes, BodyHold hold) {
    try {
      return scan(BodyDecoder.decode(bytes, codings, maxBytes, hold));
    } catch (BodyDecoder.FailedException e) {
      return intake -> intake.refuse(e.problem());
    }
  }

  /** Scans on the current thread. The outcome is passed on by the event loop. */
  private Consumer<BodyIntake<T>> scan(byte[] bytes) {
    try {
      T read = scan.of(bytes);
      return intake -> intake.onScanned(read);
    } catch (InvalidBodyException e) {
      return intake -> intake.refuse(Problem.invalid(e.param(), e.reason()));
    } catch (RuntimeException e) {
      LOG.error("a body could not be scanned", e);
      return intake -> intake.refuse(Problem.internal());
    }
  }

  private void settle(Consumer<BodyIntake<T>> outcome) {
    if (!over) {
      outcome.accept(this);
    }
  }

  private void onScanned(T read) {
    over = true;
    receiver.onScanned(read, reader.hold());
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
