package io.kvasir.simulator.selection;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.List;

/**
 * Chooses among instances of one rank each, by what it has been told until then.
 *
 * <p>Confined to one thread. Times are nanoseconds of virtual time, and never go back from one call
 * to the next.
 */
public interface InstanceSelector extends AutoCloseable {

  /**
   * Chooses an instance. The request goes there at once.
   *
   * @param request the request
   * @param nowNs when
   * @return the instance, from 0
   */
  int select(HashedRequest request, long nowNs);

  /**
   * A token of an answer streamed out.
   *
   * @param request whose
   * @param nowNs when
   */
  default void onToken(Request request, long nowNs) {}

  /**
   * A request was answered, or will never be.
   *
   * @param request the request
   * @param nowNs when
   */
  default void onEnded(Request request, long nowNs) {}

  /**
   * An instance's block events came.
   *
   * @param instance whose
   * @param events what changed, in order
   * @param nowNs when
   */
  default void onEvents(int instance, List<BlockEvent> events, long nowNs) {}

  /**
   * An instance has other metrics from now on, for those who ask.
   *
   * @param instance whose
   * @param load its metrics
   * @param nowNs when
   */
  default void onLoad(int instance, InstanceLoad load, long nowNs) {}

  @Override
  default void close() {}
}
