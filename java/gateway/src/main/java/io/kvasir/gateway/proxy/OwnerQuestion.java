package io.kvasir.gateway.proxy;

import io.kvasir.exchange.ClientAddresses;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request that waits until the worker that keeps a stored object is found. Confined to the
 * exchange's event loop.
 */
final class OwnerQuestion {

  private final Arrival.Shared shared;
  private final Exchange exchange;
  private final Headers client;

  /**
   * Begins without a search.
   *
   * @param client the fields of the client's request
   */
  OwnerQuestion(Arrival.Shared shared, Exchange exchange, Headers client) {
    this.shared = shared;
    this.exchange = exchange;
    this.client = client;
  }

  /**
   * Asks the workers. The one that keeps the object is remembered.
   *
   * @param stored the object; one whose id no engine can have given is found nowhere
   * @param onGone runs instead of {@code then} if the client goes away meanwhile
   * @param then receives the result: within this call if nothing is asked
   */
  void ask(StoredObject stored, Runnable onGone, Consumer<OwnerSearch.Result> then) {
    String address = ClientAddresses.client(exchange.client());
    if (!stored.hasProperId() || !shared.owners().beginSearch(address)) {
      then.accept(new OwnerSearch.Result(null, !stored.hasProperId(), false));
      return;
    }
    AtomicBoolean waits = new AtomicBoolean(true);
    shared.reading().incrementAndGet();
    exchange.onGone(
        () -> {
          if (waits.getAndSet(false)) {
            onGone.run();
            shared.reading().decrementAndGet();
          }
        });
    OwnerSearch.begin(
        shared.services().fleets().workers(),
        stored,
        client,
        exchange.loop(),
        found -> {
          shared.owners().endSearch(address);
          if (waits.getAndSet(false)) {
            try {
              remember(stored, found.holder());
              then.accept(found);
            } finally {
              shared.reading().decrementAndGet();
            }
          }
        });
  }

  private void remember(StoredObject stored, @Nullable FleetWorker holder) {
    if (holder != null) {
      shared.owners().put(stored.id(), new Target(holder, ModelFleet.ANY_RANK));
    }
  }
}
