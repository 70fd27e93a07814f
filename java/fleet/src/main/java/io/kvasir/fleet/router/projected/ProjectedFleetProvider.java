package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.fleet.router.booking.BookingSettings;
import io.kvasir.model.Choice;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Policy {@code projected}: the rank with the earliest expected first token, by a model that is
 * fitted while it routes; matches as for {@code cost}. Stateless.
 */
public final class ProjectedFleetProvider implements FleetRouterProvider {

  private static final String OMITTED = "omitted_term";

  /** Makes the provider. */
  public ProjectedFleetProvider() {}

  @Override
  public String name() {
    return "projected";
  }

  @Override
  public List<String> keys() {
    return Stream.concat(
            BookingSettings.KEYS.stream(), Stream.of(BookingSettings.PREDICTED_TTL, OMITTED))
        .toList();
  }

  @Override
  public boolean choosesRanks() {
    return true;
  }

  @Override
  public boolean followsBlocks() {
    return true;
  }

  @Override
  public boolean readsForwardPasses() {
    return true;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    RouterArgs checked = new RouterArgs(name(), args, keys());
    String omitted = checked.text(OMITTED, "");
    if (!omitted.isEmpty()) {
      Choice.named(
          OMITTED, ProjectedSelector.TERMS.toArray(new String[0]), Function.identity(), omitted);
    }
    BookingSettings settings = BookingSettings.following(checked);
    boolean tracksAnswers = settings.options().loads().trackOutputBlocks();
    PlacementLedger ledger = new PlacementLedger(setup, tracksAnswers);
    return new BookingRouter(
        name(),
        settings.index(setup),
        new ProjectedSelector(ledger, omitted),
        ledger,
        settings.options(),
        setup);
  }
}
