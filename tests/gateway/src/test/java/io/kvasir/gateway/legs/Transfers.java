package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The KV that prefill servers have pinned, by the place and the id under which decode servers ask
 * for it. Thread-safe.
 */
public final class Transfers {

  private final long leaseNs;
  private final Map<Key, Pin> pins = new HashMap<>();
  private int taken;

  private record Key(String place, String id) {}

  /** The blocks of one prompt. */
  private record Pin(JsonNode prompt, JsonNode params, long sinceNs) {}

  /**
   * No transfers.
   *
   * @param leaseMs how long blocks stay pinned, and how long a decode server waits for them
   */
  public Transfers(long leaseMs) {
    leaseNs = TimeUnit.MILLISECONDS.toNanos(leaseMs);
  }

  /** Pins the blocks of a prompt. The parameters are those of the prefill server's answer. */
  synchronized void pin(String place, String id, JsonNode prompt, JsonNode params) {
    pins.put(new Key(place, id), new Pin(prompt, params, System.nanoTime()));
    notifyAll();
  }

  /**
   * Moves the blocks of a prompt.
   *
   * @param waits whether the blocks may come later
   * @return the parameters of the prefill server's answer
   */
  synchronized JsonNode take(String place, String id, JsonNode prompt, boolean waits) {
    Key key = new Key(place, id);
    long endNs = System.nanoTime() + leaseNs;
    while (live(key) == null && waits && remainingMs(endNs) > 0) {
      pause(remainingMs(endNs));
    }
    Pin pin = live(key);
    if (pin == null) {
      boolean elsewhere = pins.keySet().stream().anyMatch(other -> other.id.equals(id));
      throw elsewhere
          ? Refused.field("transfer " + id + " is not at " + place + ": " + pins.keySet())
          : Refused.transfer("no KV of transfer " + id + " at " + place);
    }
    if (!pin.prompt.equals(prompt)) {
      throw Refused.field("the prompt of transfer " + id + " is another");
    }
    pins.remove(key);
    taken++;
    notifyAll();
    return pin.params;
  }

  /** Waits until blocks are moved. */
  synchronized void awaitTaken(String place, String id) {
    Key key = new Key(place, id);
    for (Pin pin = live(key); pin != null; pin = live(key)) {
      pause(Math.max(1, remainingMs(pin.sinceNs + leaseNs)));
    }
    if (pins.containsKey(key)) {
      throw Refused.transfer("nobody has fetched transfer " + id);
    }
  }

  private Pin live(Key key) {
    Pin pin = pins.get(key);
    return pin == null || remainingMs(pin.sinceNs + leaseNs) <= 0 ? null : pin;
  }

  private static long remainingMs(long endNs) {
    return TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
  }

  private void pause(long ms) {
    try {
      TimeUnit.MILLISECONDS.timedWait(this, ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Refused.transfer("the server ends");
    }
  }

  /**
   * Counts blocks that wait for a decode server.
   *
   * @return transfers whose lease has not run out
   */
  public synchronized int pinned() {
    return (int) pins.keySet().stream().filter(key -> live(key) != null).count();
  }

  /**
   * Counts transfers.
   *
   * @return those that have come to their end
   */
  public synchronized int taken() {
    return taken;
  }
}
