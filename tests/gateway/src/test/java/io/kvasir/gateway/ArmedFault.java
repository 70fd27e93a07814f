package io.kvasir.gateway;

import io.kvasir.gateway.RelayedLeg.Seen;
import io.kvasir.testing.harness.Await;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One fault at a time: the next leg in its phase has it. Thread-safe. */
final class ArmedFault implements RelayedLeg.Faults {

  /** Where a leg is. */
  enum Phase {
    PREFILL_ASKED,
    PREFILL_ANSWERED,
    DECODE_ASKED,
    DECODE_ANSWERED
  }

  /** What happens to the leg. */
  interface Action {

    /** Returns the bytes with which the leg goes on; null if its connection is reset. */
    byte @Nullable [] happen(Seen leg, byte[] bytes) throws Exception;
  }

  private record Armed(Phase phase, String id, Action action, CompletableFuture<Seen> done) {}

  private final AtomicReference<@Nullable Armed> armed = new AtomicReference<>();

  /**
   * Lets a fault happen to the next leg in a phase, and waits for it.
   *
   * @param id how the request's id begins
   * @return the leg
   */
  Seen happen(Phase phase, String id, Action action) {
    return Await.result("a leg in the phase " + phase, arm(phase, id, action));
  }

  CompletableFuture<Seen> arm(Phase phase, String id, Action action) {
    CompletableFuture<Seen> done = new CompletableFuture<>();
    armed.set(new Armed(phase, id, action, done));
    return done;
  }

  @Override
  public boolean onAsked(Seen leg) {
    Phase phase = leg.at().standIn().prefills() ? Phase.PREFILL_ASKED : Phase.DECODE_ASKED;
    return pass(phase, leg, new byte[0]) != null;
  }

  @Override
  public byte @Nullable [] onAnswered(Seen leg, byte[] bytes) {
    boolean prefills = leg.at().standIn().prefills();
    return pass(prefills ? Phase.PREFILL_ANSWERED : Phase.DECODE_ANSWERED, leg, bytes);
  }

  private byte @Nullable [] pass(Phase phase, Seen leg, byte[] bytes) {
    Armed now = armed.get();
    if (now == null
        || now.phase != phase
        || !Objects.requireNonNullElse(leg.request().field("x-request-id"), "").startsWith(now.id)
        || !armed.compareAndSet(now, null)) {
      return bytes;
    }
    try {
      byte[] given = now.action.happen(leg, bytes);
      now.done.complete(leg);
      return given;
    } catch (Exception | AssertionError e) {
      now.done.completeExceptionally(e);
      return null;
    }
  }
}
