package io.kvasir.simulator.compare;

import io.kvasir.simulator.workload.Arrivals;
import io.kvasir.simulator.workload.InBursts;
import io.kvasir.simulator.workload.JitteredArrivals;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestPreparation;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.Workload;
import java.math.BigDecimal;
import java.util.Map;

/**
 * Requests that can be played at any speed. Each seed gives other arrivals, or other requests.
 *
 * <p>Immutable.
 *
 * @param name the name in reports
 * @param key determines the requests of each seed; for the store
 * @param requests the requests
 * @param reference the requests that set the speed for a load
 * @param lastArrivalNs time of the last arrival at speed 1; {@link #AFTER_ANSWERS} if it depends on
 *     answers
 * @param burstSeconds length of the periods whose requests come in bursts; 0 if they do not
 */
public record Traffic(
    String name,
    String key,
    Source requests,
    Source reference,
    double lastArrivalNs,
    double burstSeconds) {

  /** Last arrival of sessions, which wait for answers. */
  static final double AFTER_ANSWERS = Double.POSITIVE_INFINITY;

  /**
   * Requests that come as they are.
   *
   * @param name the name in reports
   * @param key determines the requests of each seed; for the store
   * @param requests the requests
   * @param reference the requests that set the speed for a load
   * @param lastArrivalNs time of the last arrival at speed 1; {@link #AFTER_ANSWERS} if it depends
   *     on answers
   */
  public Traffic(String name, String key, Source requests, Source reference, double lastArrivalNs) {
    this(name, key, requests, reference, lastArrivalNs, 0);
  }

  /** {@return whether later requests of a conversation wait for answers} */
  public boolean sessions() {
    return lastArrivalNs == AFTER_ANSWERS;
  }

  /** The requests at a speed, with a seed. */
  @FunctionalInterface
  public interface Source {

    /**
     * {@return the requests}
     *
     * @param speed multiple of the usual rate, above 0
     * @param seed seed of what is random
     */
    Workload at(double speed, long seed);
  }

  /**
   * Requests whose arrivals are delayed at random. Without their conversation ids they set the
   * speed.
   *
   * @param requests the requests
   * @param jitterSeconds longest delay of an arrival, on the clock of the requests
   * @param digest determines the requests
   * @return the traffic
   */
  public static Traffic jittered(RequestSequence requests, double jitterSeconds, String digest) {
    Source source =
        (speed, seed) -> new OpenLoop(new JitteredArrivals(requests, jitterSeconds, seed), speed);
    return new Traffic(
        requests.name(),
        jitteredKey(requests, jitterSeconds, digest),
        source,
        (speed, seed) -> new WithoutConversations(source.at(speed, seed)),
        requests.arrivalNs(requests.size() - 1));
  }

  /**
   * The same requests, each of which also waits for the answer before it in its conversation.
   *
   * @param requests the requests, with conversations
   * @param jitterSeconds longest delay of an arrival, on the clock of the requests
   * @param digest determines the requests
   * @return the traffic
   */
  public static Traffic waiting(RequestSequence requests, double jitterSeconds, String digest) {
    Source source =
        (speed, seed) ->
            new OpenLoop(new JitteredArrivals(requests, jitterSeconds, seed), speed, true);
    String key = jitteredKey(requests, jitterSeconds, digest) + " turns wait";
    return new Traffic(requests.name(), key, source, source, AFTER_ANSWERS);
  }

  /**
   * The same requests in bursts. What sets the speed is played without them.
   *
   * @param seconds length of a period, as {@link InBursts} has it; 0 for none
   * @return the traffic
   */
  public Traffic inBursts(double seconds) {
    if (seconds == 0) {
      return this;
    }
    return new Traffic(
        name,
        key + " bursts " + seconds,
        (speed, seed) -> new InBursts(requests.at(speed, seed), seconds),
        reference,
        lastArrivalNs,
        seconds);
  }

  /** {@return what differs from requests as they come, for example {@code bursts of 10 s}} */
  String difference() {
    BigDecimal seconds = BigDecimal.valueOf(burstSeconds).stripTrailingZeros();
    return burstSeconds == 0 ? "" : "bursts of " + seconds.toPlainString() + " s";
  }

  private static String jitteredKey(RequestSequence requests, double jitterSeconds, String digest) {
    return requests.name() + " " + digest + " jitter " + jitterSeconds;
  }

  /** A workload whose requests belong to no conversation. */
  private record WithoutConversations(Workload workload) implements Workload {

    @Override
    public String name() {
      return workload.name();
    }

    @Override
    public Map<String, Object> parameters() {
      return workload.parameters();
    }

    @Override
    public long plannedRequests() {
      return workload.plannedRequests();
    }

    @Override
    public Arrivals start(RequestPreparation preparation) {
      return workload.start(
          (request, answeredTokens) ->
              preparation.prepare(
                  request.toBuilder().conversationId(null).firstTurn(false).build(),
                  answeredTokens));
    }
  }
}
