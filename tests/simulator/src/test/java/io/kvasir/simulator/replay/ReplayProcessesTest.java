package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.tcp.MemberWatch;
import io.kvasir.tcp.TcpCoordinator;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.lockstep.ThreadCollective;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A replay distributed over several processes gives the same result as in one. */
class ReplayProcessesTest {

  private final List<ChildProcess> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(ChildProcess::close);
  }

  private static ReplayResult alone(AdpRouterKind router) {
    return alone(ReplayProcess.settings(router));
  }

  private static ReplayResult alone(ReplaySettings settings) {
    return Replay.run(
        ReplayProcess.workload(), settings, RankPools.Place.HOST, ReplayProgress.SILENT);
  }

  /** Compares all but the wall-clock time and the prefill time of a process's own ranks. */
  private static void assertSame(ReplayResult actual, ReplayResult expected) {
    assertThat(actual)
        .usingRecursiveComparison()
        .ignoringFields("wallNs", "prefillNs")
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @EnumSource(AdpRouterKind.class)
  void everyMemberGetsTheResultOfOneProcess(AdpRouterKind router) throws Exception {
    ReplayResult expected = alone(router);
    if (router == AdpRouterKind.DEFAULT) {
      assertThat(expected.sum(RankResult::preemptions)).isPositive();
    }
    assertThat(expected.sum(RankResult::evictedBlocks)).isPositive();
    assertEveryMemberGets(expected, ReplayProcess.settings(router));
  }

  @Test
  void everyMemberHoldsPrefillBackAlike() throws Exception {
    ReplaySettings unbalanced = ReplayProcess.settings(AdpRouterKind.KV_CACHE_AWARE);
    AttentionDpConfig config =
        AttentionDpConfig.of(Map.of("enable_balance", true, "timeout_iters", 7));
    ReplaySettings.Routing routing = unbalanced.routing();
    ReplaySettings settings =
        unbalanced.withRouting(
            new ReplaySettings.Routing(routing.router(), config, routing.queuePolicy()));
    ReplayResult expected = alone(settings);
    assertThat(expected.completed()).isEqualTo(expected.requests());
    assertThat(expected.virtualNs()).isNotEqualTo(alone(unbalanced).virtualNs());
    assertEveryMemberGets(expected, settings);
  }

  @ParameterizedTest
  @EnumSource(AdpRouterKind.class)
  void contextRanksOfSeveralMembersSendAsThoseOfOneProcess(AdpRouterKind router) throws Exception {
    ReplaySettings settings = ReplayProcess.contextSettings(router);
    ReplayResult expected = alone(settings);
    assertThat(expected.completed()).isEqualTo(expected.requests());
    assertThat(expected.ranks()).allMatch(rank -> rank.peakInTransferRequests() > 1);
    assertEveryMemberGets(expected, settings);
  }

  private static void assertEveryMemberGets(ReplayResult expected, ReplaySettings settings)
      throws Exception {
    List<Member> members = Member.of(3, 1, 4);
    ExecutorService threads = Executors.newFixedThreadPool(members.size());
    try {
      List<Future<ReplayResult>> running = new ArrayList<>();
      for (RankCollective collective : ThreadCollective.of(members, Await.limit())) {
        running.add(
            threads.submit(
                () -> {
                  try (collective) {
                    return Replay.run(
                        ReplayProcess.workload(),
                        settings,
                        collective,
                        RankPools.Place.HOST,
                        ReplayProgress.SILENT);
                  }
                }));
      }
      for (Future<ReplayResult> result : running) {
        assertSame(Await.result("a member's replay", result), expected);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Coordinates members that run in separate processes. */
  private ReplayResult coordinate(
      ReplaySettings settings, List<List<String>> javaOptions, Watch watch) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int members = javaOptions.size() + 1;
      int port = server.socket().getLocalPort();
      for (List<String> options : javaOptions) {
        processes.add(ReplayProcess.start(settings, processes.size() + 1, members, port, options));
      }
      try (RankCollective collective =
          TcpCoordinator.accept(
              server,
              ReplayProcess.group(members),
              ReplayProcess.SECRET,
              Await.limit(),
              MemberWatch.NONE)) {
        return Replay.run(
            ReplayProcess.workload(),
            settings,
            collective,
            RankPools.Place.HOST,
            (settled, arrived, planned, virtualNs) -> watch.at(settled));
      }
    }
  }

  private static boolean isOfTheVirtualMachine(String line) {
    return line.isEmpty()
        || line.startsWith("Picked up JAVA_TOOL_OPTIONS")
        || line.startsWith("WARNING: ");
  }

  private ReplayResult coordinate(ReplaySettings settings, List<List<String>> javaOptions)
      throws IOException {
    ReplayResult result = coordinate(settings, javaOptions, settled -> {});
    for (ChildProcess member : processes) {
      assertThat(member.exitCode()).as(member.toString()).isZero();
      assertThat(member.errors().lines()).allMatch(ReplayProcessesTest::isOfTheVirtualMachine);
    }
    return result;
  }

  @FunctionalInterface
  private interface Watch {
    void at(long settled);
  }

  @Tag("process")
  @Test
  void processesOfOtherLocalesHeapsAndFlagsStayInStep() throws IOException {
    List<String> turkish =
        List.of("-Duser.language=tr", "-Duser.country=TR", "-Xmx96m", "-XX:+UseSerialGC");
    List<String> persian =
        List.of(
            "-Duser.language=fa",
            "-Duser.country=IR",
            "-Dfile.encoding=ISO-8859-1",
            "-Duser.timezone=Asia/Tehran",
            "-Xmx512m",
            "-XX:+UseParallelGC",
            "-XX:hashCode=2");
    List<String> unlocked = new ArrayList<>(List.of("-XX:+UnlockExperimentalVMOptions"));
    unlocked.addAll(persian);
    ReplaySettings settings = ReplayProcess.settings(AdpRouterKind.KV_CACHE_AWARE);
    ReplayResult result = coordinate(settings, List.of(turkish, unlocked));
    assertSame(result, alone(settings));
  }

  @Tag("process")
  @Test
  void twoProcessesProjectLikeOne() throws IOException {
    ReplaySettings settings = ReplayProcess.settings(AdpRouterKind.PROJECTED);
    assertSame(coordinate(settings, List.of(List.of())), alone(settings));
  }

  @Tag("process")
  @ParameterizedTest
  @ValueSource(strings = {"aggregated", "context"})
  void theOthersGoOnWithoutAKilledProcessAndEveryRequestEndsOnce(String mode) throws IOException {
    AdpRouterKind router = AdpRouterKind.KV_CACHE_AWARE;
    ReplaySettings settings =
        mode.equals("context")
            ? ReplayProcess.contextSettings(router)
            : ReplayProcess.settings(router);
    List<Long> killedAt = new ArrayList<>();
    ReplayResult result =
        coordinate(
            settings,
            List.of(List.of(), List.of()),
            settled -> {
              if (settled > 30 && killedAt.isEmpty()) {
                processes.get(0).kill();
                killedAt.add(settled);
              }
            });
    ReplayResult whole = alone(settings);
    assertThat(killedAt).isNotEmpty();
    assertThat(killedAt.get(0)).isLessThan(whole.requests());
    assertThat(result.requests()).isEqualTo(whole.requests());
    assertThat(result.completed()).isEqualTo(whole.completed());
    assertThat(result.outputTokens()).isEqualTo(whole.outputTokens());
    assertThat(result.rejections()).isEmpty();
    long placed = result.sum(RankResult::requests);
    assertThat(placed)
        .as("what the lost ranks held was placed again")
        .isGreaterThan(whole.sum(RankResult::requests));
  }
}
