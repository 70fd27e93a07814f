package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.Sight;
import java.util.List;

/** Options of what routers see of the requests. */
@Heading("Requests that routers do not see as they are")
public final class SightOptions extends DeclaredOptions {

  /** Option of the requests that go past the fleet router. */
  public static final String FOREIGN_LOAD = "--foreign-load";

  /** Option of the conversations without ids. */
  public static final String FORGET_IDS = "--forget-ids";

  /** Help of {@link #FOREIGN_LOAD}. */
  public static final String FOREIGN_HELP =
      "Share of the conversations, or requests without one, that clients send to the workers past"
          + " the fleet router, each to one worker; their latencies are not measured";

  /** Help of {@link #FORGET_IDS}. */
  public static final String FORGET_HELP = "Share of the conversations whose requests name none";

  /** Option of the answers whose length is not known. */
  public static final String ANSWERS = "--answers";

  /** The values of {@link #ANSWERS}. */
  public static final String ANSWERS_LABEL = "known|unknown[:N]";

  /** The value without effect. */
  public static final String KNOWN = "known";

  /** Help of {@link #ANSWERS}. */
  public static final String ANSWERS_HELP =
      "Whether requests ask for as many tokens as they get, or for up to N (4096) where answers end"
          + " earlier; a rank that reserves blocks for answers reserves those";

  private static final String UNKNOWN = "unknown";
  private static final int ASKED_TOKENS = 4096;
  private static final int MOST_ASKED_TOKENS = 1 << 20;

  private final Declared<Double> foreignLoad =
      option(FOREIGN_LOAD, "SHARE", "0", SightOptions::foreignLoad).help(93, FOREIGN_HELP);

  private final Declared<Double> forgetIds =
      option(FORGET_IDS, "SHARE", "0", SightOptions::forgetIds).help(93, FORGET_HELP);

  private final Declared<Integer> answers =
      option(ANSWERS, ANSWERS_LABEL, KNOWN, SightOptions::answers).help(93, ANSWERS_HELP);

  SightOptions() {}

  /**
   * {@return what routers see}
   *
   * @param fleets the fleets over workers that serve whole requests
   * @throws UsageException if a value is not allowed
   */
  public Sight sight(List<FleetSettings> fleets) {
    if (foreignLoad.value() > 0 && fleets.isEmpty()) {
      throw foreignLoad.wrong("needs " + FleetOptions.WORKERS + ", and workers without roles");
    }
    if (foreignLoad.value() > 0 && !fleets.get(0).returnNs().isEmpty()) {
      throw foreignLoad.wrong("and " + FleetOptions.RETURN + " exclude each other");
    }
    return new Sight(foreignLoad.value(), forgetIds.value(), answers.value());
  }

  /**
   * {@return a share of foreign load}
   *
   * @param text its text
   */
  public static double foreignLoad(String text) {
    return Values.number(FOREIGN_LOAD, text, 0, 1);
  }

  /**
   * {@return the tokens that requests ask for; 0 for as many as they get}
   *
   * @param text a value of {@link #ANSWERS}
   */
  public static int answers(String text) {
    if (text.equals(KNOWN)) {
      return 0;
    }
    if (text.equals(UNKNOWN)) {
      return ASKED_TOKENS;
    }
    if (!text.startsWith(UNKNOWN + ":")) {
      throw new UsageException(
          ANSWERS, "must be known, unknown or unknown:N, not '" + Errors.shown(text) + "'");
    }
    return Values.integer(ANSWERS, text.substring(UNKNOWN.length() + 1), 1, MOST_ASKED_TOKENS);
  }

  /**
   * {@return a share of forgotten ids}
   *
   * @param text its text
   */
  public static double forgetIds(String text) {
    return Values.number(FORGET_IDS, text, 0, 1);
  }
}
