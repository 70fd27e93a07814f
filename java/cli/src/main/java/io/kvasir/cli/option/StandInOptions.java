package io.kvasir.cli.option;

import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.HandleForm;
import io.kvasir.embedded.publish.ReplayForm;
import io.kvasir.exchange.EngineFlavor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Options of an engine that stands in for another one. */
@Heading("Engine to stand in for")
public final class StandInOptions extends DeclaredOptions {

  private static final String FLAVOR = "--flavor";
  private static final String EVENTS = "--events";
  private static final String REPLAY = "--replay";
  private static final String HASHES = "--event-hashes";
  private static final String EVENTS_PORT = "--events-port";
  private static final String REPLAY_PORT = "--replay-port";
  private static final String TOPIC = "--topic";
  private static final String FORWARD_PASSES = "--forward-pass-metrics-port";
  private static final String SCALE_OUT = "--enable-scale-out";
  private static final int MAX_TOPIC_BYTES = 1024;

  private final Declared<EngineFlavor> flavor =
      choice(FLAVOR, null, List.of(EngineFlavor.values()), EngineFlavor::id)
          .candidates(Choices.Flavors.class)
          .help(
              20,
              "The engine to stand in for: ${COMPLETION-CANDIDATES} (default: Kvasir's"
                  + " own endpoints).");

  private final Declared<EventForm> events =
      choice(EVENTS, "none", EventForm.class)
          .label("FORM")
          .candidates(Choices.EventForms.class)
          .help(21, "Events of blocks over ZMQ: ${COMPLETION-CANDIDATES}");

  private final Declared<ReplayForm> replay =
      choice(REPLAY, null, ReplayForm.class)
          .label("FORM")
          .candidates(Choices.ReplayForms.class)
          .help(
              22,
              "Frames of replayed events: ${COMPLETION-CANDIDATES} (default: those of"
                  + " the newest engine).");

  private final Declared<Hashes> hashes =
      choice(HASHES, "int", Hashes.class)
          .label("FORM")
          .candidates(Choices.Hashes.class)
          .help(23, "Block hashes in events: int, or bytes of vllm");

  private final Declared<String> eventsPort =
      text(EVENTS_PORT, "N", "5557")
          .help(24, "Port of rank 0's events, plus one for each further rank; 0 takes free ones");

  private final Declared<String> replayPort =
      text(REPLAY_PORT, "N", "5657")
          .help(25, "Port of rank 0's replay, plus one for each further rank; 0 takes free ones");

  private final Declared<String> topic =
      text(TOPIC, "TEXT", "").help(26, "First frame of each event message (default: empty).");

  private final Declared<String> forwardPassPort =
      text(FORWARD_PASSES, "N", null)
          .help(
              27,
              "Port of rank 0's forward-pass metrics over ZMQ, plus one for each"
                  + " further rank; 0 takes free ones (default: none).");

  private final Declared<Boolean> scaleOut =
      flag(SCALE_OUT, "false")
          .candidates(Choices.Booleans.class)
          .help(28, "The endpoints of vllm that render prompts, as with its option of this name");

  StandInOptions() {}

  /** The forms of block hashes. */
  enum Hashes {
    INT,
    BYTES
  }

  /**
   * {@return how blocks are published; empty without {@code --flavor}}
   *
   * @param host the address to listen on
   * @param ranks number of ranks
   * @param sources the sources of values
   * @throws UsageException if a value is not allowed, or has no effect
   */
  public Optional<EventSettings> settings(String host, int ranks, Settings sources) {
    EventForm form = events.value();
    if (!flavor.isGiven()) {
      requireUnused(
          List.of(
              EVENTS, REPLAY, HASHES, EVENTS_PORT, REPLAY_PORT, TOPIC, FORWARD_PASSES, SCALE_OUT),
          FLAVOR,
          sources);
      return Optional.empty();
    }
    if (form == EventForm.NONE) {
      requireUnused(List.of(REPLAY, HASHES, EVENTS_PORT, REPLAY_PORT, TOPIC), EVENTS, sources);
    }
    EngineFlavor engine = flavor.value();
    ReplayForm frames = !replay.isGiven() ? EventSettings.newestReplay(engine) : replay.value();
    Hashes handles = hashes.value();
    int eventsBase = port(EVENTS_PORT, eventsPort.value(), ranks);
    int replayBase = port(REPLAY_PORT, replayPort.value(), ranks);
    if (form != EventForm.NONE
        && frames != ReplayForm.NONE
        && eventsBase > 0
        && replayBase > 0
        && Math.abs(eventsBase - replayBase) < ranks) {
      throw new UsageException(
          REPLAY_PORT, "must be at least " + ranks + " from --events-port, one for each rank");
    }
    if (topic.value().getBytes(StandardCharsets.UTF_8).length > MAX_TOPIC_BYTES) {
      throw new UsageException(TOPIC, "must have at most " + MAX_TOPIC_BYTES + " bytes");
    }
    HandleForm written = handles == Hashes.BYTES ? HandleForm.BYTES : EventSettings.numbers(engine);
    try {
      return Optional.of(
          new EventSettings(
              engine,
              form,
              frames,
              written,
              host,
              eventsBase,
              replayBase,
              topic.value(),
              !forwardPassPort.isGiven()
                  ? EventSettings.NO_PORT
                  : port(FORWARD_PASSES, forwardPassPort.value(), ranks),
              scaleOut.value()));
    } catch (IllegalArgumentException e) {
      throw new UsageException(FLAVOR, "is " + engine.id() + ", and " + e.getMessage());
    }
  }

  private static void requireUnused(List<String> options, String missing, Settings sources) {
    for (String option : options) {
      if (sources.isSet(option)) {
        throw new UsageException(option, "needs " + missing);
      }
    }
  }

  private static int port(String option, String text, int ranks) {
    return Values.integer(option, text, 0, EventSettings.MAX_PORT - ranks + 1);
  }
}
