package io.kvasir.cli.option;

import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.ReplayForm;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.NewConversationPlacement;
import io.kvasir.engine.execute.CapacityPolicy;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.trtllm.DisaggFlow;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.compare.EngineKind;
import io.kvasir.simulator.compare.GeneratedTraffic;
import io.kvasir.simulator.workload.ThinkTime;
import java.util.Iterator;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The values of an option that has a list of them, for help and completion. There is a class for
 * each list because picocli takes classes. Nothing is loaded before a list is read. Stateless.
 */
public abstract class Choices implements Iterable<String> {

  private final Supplier<Stream<String>> names;

  private Choices(Supplier<Stream<String>> names) {
    this.names = names;
  }

  @Override
  public Iterator<String> iterator() {
    return names.get().iterator();
  }

  private static Stream<String> ids(Enum<?>[] constants) {
    return Stream.of(constants).map(Values::id);
  }

  /** ADP routers. */
  public static final class AdpRouters extends Choices {
    AdpRouters() {
      super(() -> Stream.of(AdpRouterKind.values()).map(AdpRouterKind::id));
    }
  }

  /** Fleet routers. */
  public static final class FleetRouters extends Choices {
    FleetRouters() {
      super(() -> FleetRouterKind.all().stream().map(FleetRouterProvider::name));
    }
  }

  /** Fleet routers of a gateway. */
  static final class GatewayRouters extends Choices {
    GatewayRouters() {
      super(
          () ->
              Stream.concat(
                  Stream.of(GatewaySettings.AUTO),
                  FleetRouterKind.all().stream()
                      .filter(each -> !each.readsMetrics())
                      .map(FleetRouterProvider::name)));
    }
  }

  /** Orders of the parts of a request. */
  static final class ScheduleStyles extends Choices {
    ScheduleStyles() {
      super(() -> ids(DisaggFlow.Style.values()));
    }
  }

  /** Devices of pools; numbered devices are left out. */
  static final class Devices extends Choices {
    Devices() {
      super(() -> Stream.of("auto", "cpu", "cuda"));
    }
  }

  /** True and false. */
  static final class Booleans extends Choices {
    Booleans() {
      super(() -> Stream.of("true", "false"));
    }
  }

  /** Generated workloads. */
  static final class Workloads extends Choices {
    Workloads() {
      super(() -> ids(GeneratedOptions.Kind.values()));
    }
  }

  /** Names of the generated workloads of comparisons. */
  public static final class ComparedWorkloads extends Choices {
    ComparedWorkloads() {
      super(() -> ids(GeneratedTraffic.values()));
    }
  }

  /** What engines do in compared cases. */
  public static final class EngineKinds extends Choices {
    EngineKinds() {
      super(() -> ids(EngineKind.values()));
    }
  }

  /** Distributions of think times. */
  static final class ThinkTimes extends Choices {
    ThinkTimes() {
      super(() -> Stream.of(ThinkTime.Distribution.values()).map(ThinkTime.Distribution::id));
    }
  }

  /** Hash formats of blocks. */
  static final class HashFormats extends Choices {
    HashFormats() {
      super(() -> Stream.of(HashFormat.values()).map(HashFormat::id));
    }
  }

  /** Policies for admitting requests. */
  static final class CapacityPolicies extends Choices {
    CapacityPolicies() {
      super(() -> Stream.of(CapacityPolicy.values()).map(CapacityPolicy::id));
    }
  }

  /** Orders of a waiting queue. */
  static final class QueuePolicies extends Choices {
    QueuePolicies() {
      super(() -> Stream.of(WaitingQueuePolicy.values()).map(WaitingQueuePolicy::id));
    }
  }

  /** Placements of new conversations. */
  static final class NewConversations extends Choices {
    NewConversations() {
      super(() -> Stream.of(NewConversationPlacement.values()).map(NewConversationPlacement::id));
    }
  }

  /** Types of an element of KV. */
  static final class Dtypes extends Choices {
    Dtypes() {
      super(() -> ids(KvOptions.Dtype.values()));
    }
  }

  /** Modes of ranks. */
  public static final class Modes extends Choices {
    Modes() {
      super(() -> ids(ModeOptions.Mode.values()));
    }
  }

  /** Networks between processes. */
  static final class Collectives extends Choices {
    Collectives() {
      super(() -> ids(LaunchOptions.Collective.values()));
    }
  }

  /** Engines. */
  static final class Flavors extends Choices {
    Flavors() {
      super(() -> Stream.of(EngineFlavor.values()).map(EngineFlavor::id));
    }
  }

  /** Forms of events. */
  static final class EventForms extends Choices {
    EventForms() {
      super(() -> ids(EventForm.values()));
    }
  }

  /** Frames of replayed events. */
  static final class ReplayForms extends Choices {
    ReplayForms() {
      super(() -> ids(ReplayForm.values()));
    }
  }

  /** Block hashes in events. */
  static final class Hashes extends Choices {
    Hashes() {
      super(() -> ids(StandInOptions.Hashes.values()));
    }
  }

  /** Roles of engines. */
  static final class EngineRoles extends Choices {
    EngineRoles() {
      super(() -> Stream.of(EngineRole.values()).map(EngineRole::id));
    }
  }

  /** Ways in which KV moves. */
  static final class KvConnectors extends Choices {
    KvConnectors() {
      super(() -> DisaggOptions.connectors().stream().map(KvConnector::id));
    }
  }

  /** The treatment of requests whose KV does not arrive. */
  static final class LoadFailurePolicies extends Choices {
    LoadFailurePolicies() {
      super(() -> ids(DisaggOptions.Policy.values()));
    }
  }

  /** Output formats. */
  static final class Formats extends Choices {
    Formats() {
      super(() -> ids(FormatOption.Format.values()));
    }
  }

  /** Handles of blocks in a corpus. */
  static final class Handles extends Choices {
    Handles() {
      super(() -> Stream.of(CorpusOptions.PER_RANK, CorpusOptions.SHARED));
    }
  }
}
