package io.kvasir.gateway.proxy;

import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.disagg.PeerFacts;
import io.kvasir.gateway.disagg.PrefillAnswer;
import io.kvasir.gateway.disagg.Transfer;
import io.kvasir.gateway.disagg.TransferDialect;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.route.FleetWorker;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a prefill worker hands over to a decode worker, from the choice of the prefill worker until
 * the answer has begun or the transfer is given up; and whether another decode worker can have it.
 *
 * <p>Confined to the request's event loop.
 */
final class Handover {

  /** Age at which no engine holds what it has handed over. */
  private static final long MOST_AGED_MS = 25_000;

  private static final long NS_PER_MS = 1_000_000;

  private @Nullable TransferDialect dialect;
  private @Nullable Transfer transfer;
  private PrefillAnswer answer = PrefillAnswer.NONE;

  /** When the prefill worker answered; 0 before. */
  private long answeredNs;

  /** Whether another decode worker has had the transfer. */
  private boolean takenOver;

  /** Whether a decode worker has answered that the transfer has failed. */
  private boolean lostOnce;

  /** A prefill worker is chosen, whose transfers have a dialect. */
  void choose(TransferDialect chosen) {
    dialect = chosen;
  }

  /** The fields of both legs. After {@link #choose}. */
  TransferDialect dialect() {
    return Objects.requireNonNull(dialect);
  }

  /** Whether the decode worker's request must name a rank that the prefill worker chooses. */
  boolean lacksRank(ChosenTarget choice) {
    return dialect().needsRank() && choice.dpRank() < 0 && choice.worker().profile().ranks() > 1;
  }

  /**
   * Begins the transfer of a request's prompt.
   *
   * @param id names it
   * @param choice the prefill worker and its rank
   * @param peer what the decode worker's request must say of them
   * @param earlier the conversation's last answer
   */
  void begin(long id, Inbound inbound, ChosenTarget choice, PeerFacts peer, EarlierAnswer earlier) {
    answeredNs = 0;
    transfer =
        new Transfer(
            id,
            inbound.id(),
            inbound.endpoint().path(),
            Objects.requireNonNull(inbound.body()),
            inbound.conversation().id(),
            choice.worker(),
            choice.dpRank(),
            peer,
            dialect().pullsAnswers() ? earlier.params() : null);
  }

  /** Whether there is a transfer that a decode worker can have. */
  boolean isOpen() {
    return transfer != null;
  }

  /** What the prefill worker's request has. While it {@link #isOpen}. */
  LegBody prefill() {
    return dialect().prefill(Objects.requireNonNull(transfer));
  }

  /** Whether the prefill worker is to have the KV of an earlier answer. */
  boolean pulls() {
    return transfer != null && transfer.earlier() != null;
  }

  /**
   * The prefill worker has refused the request; whether it can be for the earlier answer, without
   * which it is then to be sent again.
   */
  boolean failsPull(int status) {
    return (status == 500 || !Relay.RETRIED.contains(status)) && dropsPull();
  }

  /** Gives the earlier answer up; false if the prefill worker is not to have one. */
  boolean dropsPull() {
    Transfer open = transfer;
    if (open == null || !pulls()) {
      return false;
    }
    transfer = open.withoutEarlier();
    return true;
  }

  /** What the decode worker's request has. */
  LegBody decode() {
    Transfer open = transfer;
    return open == null ? LegBody.WHOLE : dialect().decode(open, answer);
  }

  /** The worker that has computed the prompt, or will; null without a transfer. */
  @Nullable FleetWorker worker() {
    return transfer == null ? null : transfer.prefill();
  }

  /** The worker that has computed the prompt; null if none has yet. */
  @Nullable FleetWorker prefiller() {
    return answeredNs == 0 ? null : worker();
  }

  /** The prefill worker has computed the prompt. */
  void onPrefilled(PrefillAnswer read, long nowNs) {
    answeredNs = nowNs;
    answer = dialect().isSerial() ? read : PrefillAnswer.NONE;
  }

  /** A decode worker's answer has begun. */
  void measure(GatewayMetrics metrics, FleetWorker decoder, long nowNs) {
    if (transfer != null && answeredNs != 0) {
      metrics.onTransferred(transfer.prefill().name(), decoder.name(), nowNs - answeredNs);
    }
  }

  private boolean isAged(long nowNs, long mostMs) {
    return nowNs - answeredNs >= mostMs * NS_PER_MS;
  }

  /** Whether the prefill worker no longer keeps what it has handed over. */
  boolean isStale(long nowNs) {
    return transfer != null && dialect().isSerial() && isAged(nowNs, MOST_AGED_MS);
  }

  /** A decode worker has failed that had the request; whether another one can have the transfer. */
  boolean survivesFailure(long nowNs) {
    boolean survives = dialect().isSerial() && !takenOver && !isAged(nowNs, dialect().reusableMs());
    takenOver = true;
    return survives;
  }

  /** Whether a decode worker's failure can be the transfer's; true at most once. */
  boolean losesOnce() {
    if (transfer == null || lostOnce) {
      return false;
    }
    lostOnce = true;
    return true;
  }

  /** Nothing of the transfer is needed again. */
  void forget() {
    transfer = null;
    answer = PrefillAnswer.NONE;
  }
}
