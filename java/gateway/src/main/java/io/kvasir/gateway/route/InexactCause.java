package io.kvasir.gateway.route;

import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.verify.Verdict;
import io.kvasir.gateway.verify.WorkerChecks;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Why it is not known exactly what of a prompt a rank has in its cache. */
public enum InexactCause {
  /** The router does not look at prefixes. */
  POLICY(Exactness.LOAD_ONLY),
  /** No endpoint of the engine or its renderer has the tokens. */
  RENDER_404(Exactness.LOAD_ONLY),
  /** The engine has no tokens for such bodies. */
  BODY_UNSUPPORTED(Exactness.LOAD_ONLY),
  /** The model's chat template has constructs that are not known here, and no engine is asked. */
  TEMPLATE_UNSUPPORTED(Exactness.LOAD_ONLY),
  /** The body is too large to be sent for its tokens. */
  BODY_TOO_LARGE(Exactness.LOAD_ONLY),
  /** Questions for tokens fail or take too long. */
  TOKENS_UNANSWERED(Exactness.LOAD_ONLY),
  /** The engine's events have other tokens than the gateway. */
  TOKEN_MISMATCH(Exactness.LOAD_ONLY),
  /** The engine does not use the rank that requests name. */
  RANK_MISMATCH(Exactness.LOAD_ONLY),
  /** The engine's events have blocks of another size. */
  BLOCK_SIZE_MISMATCH(Exactness.LOAD_ONLY),
  /** The engine's events no longer come, so nothing of it is matched. */
  EVENTS_DISCONNECTED(Exactness.LOAD_ONLY),
  /** The index of the model has failed, so nothing is matched. */
  INDEX_FAILED(Exactness.LOAD_ONLY),
  /** The router finds prefixes in texts, by its own placements. */
  TEXT_PREFIXES(Exactness.APPROXIMATE),
  /** No block events are followed: what ranks hold is guessed from placements. */
  NO_EVENTS(Exactness.APPROXIMATE),
  /** Requests cannot name a rank at this endpoint: the engine chooses among its ranks. */
  RANK_UNNAMED(Exactness.APPROXIMATE),
  /** Nothing has come from the engine's event endpoints yet. */
  EVENTS_SILENT(Exactness.APPROXIMATE),
  /** Batches of events are missing, or one could not be read. */
  EVENTS_LOST(Exactness.APPROXIMATE),
  /** The engine may reuse less than its events say. */
  UPPER_BOUND(Exactness.APPROXIMATE);

  private final Exactness exactness;

  InexactCause(Exactness exactness) {
    this.exactness = exactness;
  }

  /** {@return what is left where this is the cause} */
  public Exactness exactness() {
    return exactness;
  }

  /** {@return the name in reports} */
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Why a worker's events contradict how its requests are placed; null if they do not. */
  static @Nullable InexactCause of(WorkerChecks checks) {
    if (checks.tokens().verdict() == Verdict.CONTRADICTED) {
      return TOKEN_MISMATCH;
    }
    return checks.steering().verdict() == Verdict.CONTRADICTED ? RANK_MISMATCH : null;
  }

  /** Why a rank is not matched exactly; null if it is. */
  static @Nullable InexactCause of(@Nullable RankReport report) {
    if (report == null) {
      return NO_EVENTS;
    }
    if (report.otherBlockSize() > 0) {
      return BLOCK_SIZE_MISMATCH;
    }
    return switch (report.feed().state()) {
      case CONNECTING, SILENT -> EVENTS_SILENT;
      case REPLAYING -> EVENTS_LOST;
      case DISCONNECTED -> EVENTS_DISCONNECTED;
      case FAILED -> INDEX_FAILED;
      case LIVE -> ofLive(report);
    };
  }

  private static @Nullable InexactCause ofLive(RankReport report) {
    if (report.untrusted()) {
      return EVENTS_LOST;
    }
    return report.upperBound() ? UPPER_BOUND : null;
  }

  /** The cause that comes first in this enum; null if there is none. */
  static @Nullable InexactCause worse(@Nullable InexactCause a, @Nullable InexactCause b) {
    if (a == null || b == null) {
      return a == null ? b : a;
    }
    return a.compareTo(b) <= 0 ? a : b;
  }
}
