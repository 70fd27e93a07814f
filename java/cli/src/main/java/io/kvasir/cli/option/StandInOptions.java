package io.kvasir.cli.option;

import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.HandleForm;
import io.kvasir.embedded.publish.ReplayForm;
import io.kvasir.exchange.EngineFlavor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of an engine that stands in for another one. */
@Heading("Engine to stand in for")
public final class StandInOptions {

  private static final String FLAVOR = "--flavor";
  private static final String EVENTS = "--events";
  private static final String REPLAY = "--replay";
  private static final String HASHES = "--event-hashes";
  private static final String EVENTS_PORT = "--events-port";
  private static final String REPLAY_PORT = "--replay-port";
  private static final String TOPIC = "--topic";
  private static final String FORWARD_PASSES = "--forward-pass-metrics-port";
  private static final int MAX_TOPIC_BYTES = 1024;

  @Option(
      names = FLAVOR,
      paramLabel = "NAME",
      completionCandidates = Choices.Flavors.class,
      order = 20,
      description =
          "The engine to stand in for: ${COMPLETION-CANDIDATES} (default: Kvasir's own endpoints).")
  private @Nullable String flavor;

  @Option(
      names = EVENTS,
      paramLabel = "FORM",
      completionCandidates = Choices.EventForms.class,
      defaultValue = "none",
      order = 21,
      description =
          "Events of blocks over ZMQ: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String events;

  @Option(
      names = REPLAY,
      paramLabel = "FORM",
      completionCandidates = Choices.ReplayForms.class,
      order = 22,
      description =
          "Frames of replayed events: ${COMPLETION-CANDIDATES} (default: those of the newest engine).")
  private @Nullable String replay;

  @Option(
      names = HASHES,
      paramLabel = "FORM",
      completionCandidates = Choices.Hashes.class,
      defaultValue = "int",
      order = 23,
      description = "Block hashes in events: int, or bytes of vllm (default: ${DEFAULT-VALUE}).")
  private String hashes;

  @Option(
      names = EVENTS_PORT,
      paramLabel = "N",
      defaultValue = "5557",
      order = 24,
      description =
          "Port of rank 0's events, plus one for each further rank; 0 takes free ones"
              + " (default: ${DEFAULT-VALUE}).")
  private String eventsPort;

  @Option(
      names = REPLAY_PORT,
      paramLabel = "N",
      defaultValue = "5657",
      order = 25,
      description =
          "Port of rank 0's replay, plus one for each further rank; 0 takes free ones"
              + " (default: ${DEFAULT-VALUE}).")
  private String replayPort;

  @Option(
      names = TOPIC,
      paramLabel = "TEXT",
      defaultValue = "",
      order = 26,
      description = "First frame of each event message (default: empty).")
  private String topic;

  @Option(
      names = FORWARD_PASSES,
      paramLabel = "N",
      order = 27,
      description =
          "Port of rank 0's forward-pass metrics over ZMQ, plus one for each further rank; 0 takes"
              + " free ones (default: none).")
  private @Nullable String forwardPassPort;

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
    EventForm form = Values.choice(EVENTS, events, EventForm.class);
    if (flavor == null) {
      requireUnused(
          List.of(EVENTS, REPLAY, HASHES, EVENTS_PORT, REPLAY_PORT, TOPIC, FORWARD_PASSES),
          FLAVOR,
          sources);
      return Optional.empty();
    }
    if (form == EventForm.NONE) {
      requireUnused(List.of(REPLAY, HASHES, EVENTS_PORT, REPLAY_PORT, TOPIC), EVENTS, sources);
    }
    EngineFlavor engine =
        Values.choice(FLAVOR, flavor, List.of(EngineFlavor.values()), EngineFlavor::id);
    ReplayForm frames =
        replay == null
            ? EventSettings.newestReplay(engine)
            : Values.choice(REPLAY, replay, ReplayForm.class);
    Hashes handles = Values.choice(HASHES, hashes, Hashes.class);
    int eventsBase = port(EVENTS_PORT, eventsPort, ranks);
    int replayBase = port(REPLAY_PORT, replayPort, ranks);
    if (form != EventForm.NONE
        && frames != ReplayForm.NONE
        && eventsBase > 0
        && replayBase > 0
        && Math.abs(eventsBase - replayBase) < ranks) {
      throw new UsageException(
          REPLAY_PORT, "must be at least " + ranks + " from --events-port, one for each rank");
    }
    if (topic.getBytes(StandardCharsets.UTF_8).length > MAX_TOPIC_BYTES) {
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
              topic,
              forwardPassPort == null
                  ? EventSettings.NO_PORT
                  : port(FORWARD_PASSES, forwardPassPort, ranks)));
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
