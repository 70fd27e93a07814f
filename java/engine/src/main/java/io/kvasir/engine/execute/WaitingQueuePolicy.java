package io.kvasir.engine.execute;

import io.kvasir.model.Choice;
import java.util.Locale;

/** The order in which a waiting queue serves its requests. */
public enum WaitingQueuePolicy {
  /** First come, first served; priorities are ignored. */
  FCFS,
  /** Higher {@link io.kvasir.model.Request#priority()} first, arrival order among equals. */
  PRIORITY;

  /** {@return the policy's name in options and files, for example {@code fcfs}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Finds a policy by its name in options and files.
   *
   * @param id the name
   * @return the policy
   * @throws IllegalArgumentException if no policy has that name
   */
  public static WaitingQueuePolicy named(String id) {
    return Choice.named("queue policy", values(), WaitingQueuePolicy::id, id);
  }

  /**
   * Creates an empty queue with this policy.
   *
   * @return the queue
   */
  public WaitingQueue newQueue() {
    return switch (this) {
      case FCFS -> new FcfsQueue();
      case PRIORITY -> new PriorityQueue();
    };
  }
}
