package io.kvasir.embedded.api;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of one iteration for the listeners of one event loop, as one task of that loop. Filled
 * by the loop's thread before it is passed on.
 */
public final class Wakeup implements Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(Wakeup.class);

  private final List<SequenceListener> listeners = new ArrayList<>();
  private final List<Consumer<SequenceListener>> events = new ArrayList<>();

  /**
   * Adds an event.
   *
   * @param listener receives it
   * @param event the call
   */
  public void add(SequenceListener listener, Consumer<SequenceListener> event) {
    listeners.add(listener);
    events.add(event);
  }

  /** Delivers the events in order. A listener that throws does not stop the others. */
  @Override
  public void run() {
    Set<SequenceListener> touched = new LinkedHashSet<>();
    for (int i = 0; i < events.size(); i++) {
      deliver(listeners.get(i), events.get(i));
      touched.add(listeners.get(i));
    }
    touched.forEach(listener -> deliver(listener, SequenceListener::flush));
  }

  private static void deliver(SequenceListener listener, Consumer<SequenceListener> event) {
    try {
      event.accept(listener);
    } catch (RuntimeException e) {
      LOG.error("A reply failed", e);
    }
  }
}
