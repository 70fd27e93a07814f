package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.CapacityPolicy;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.Workload;
import io.kvasir.tcp.GroupSecret;
import io.kvasir.tcp.TcpMember;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A member process of a distributed replay, and the workload that all members replay. */
final class ReplayProcess {

  static final int RANKS = 8;
  static final GroupSecret SECRET = GroupSecret.random();

  private ReplayProcess() {}

  /** Sessions in a closed loop that keep small pools full. */
  static Workload workload() {
    return new MultiTurn(
        new MultiTurn.Shape(
            120,
            new Starts.Closed(60, 0),
            300,
            new IntRange(2, 4),
            new LognormalTokens(60, 1),
            new IntRange(10, 40),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 1),
            11));
  }

  static ReplaySettings settings(AdpRouterKind router) {
    return new ReplaySettings(RANKS, 2_560, 32)
        .withRouter(router)
        .withExecutor(new ExecutorOptions(512, 12, CapacityPolicy.MAX_UTILIZATION, true));
  }

  /**
   * The same with context ranks, whose links are so slow that blocks in transfer fill the pools.
   */
  static ReplaySettings contextSettings(AdpRouterKind router) {
    KvTransfer slow = new KvTransfer(70_272, 2e8);
    return settings(router).withMode(new ReplayMode.Context(slow, 5));
  }

  static GroupSettings group(int members) {
    return new GroupSettings(
        "replay",
        1,
        2,
        Member.evenly(members, RANKS),
        Await.limit(),
        GroupSettings.DEFAULT_MAX_FRAME_BYTES);
  }

  static ChildProcess start(
      ReplaySettings settings, int member, int members, int port, List<String> javaOptions)
      throws IOException {
    List<String> command =
        Jdk.java(
            javaOptions,
            ReplayProcess.class.getName(),
            settings.routing().router().name(),
            settings.mode().id(),
            Integer.toString(member),
            Integer.toString(members),
            Integer.toString(port));
    ChildProcess process = ChildProcess.start("member " + member, new ProcessBuilder(command));
    try (OutputStream pipe = process.input()) {
      pipe.write(SECRET.hex().getBytes(StandardCharsets.UTF_8));
    }
    return process;
  }

  public static void main(String[] arguments) throws IOException {
    AdpRouterKind router = AdpRouterKind.valueOf(arguments[0]);
    ReplaySettings settings =
        arguments[1].equals("context") ? contextSettings(router) : settings(router);
    InetSocketAddress coordinator =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[4]));
    GroupSettings group = group(Integer.parseInt(arguments[3]));
    int member = Integer.parseInt(arguments[2]);
    GroupSecret secret =
        GroupSecret.parse(new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
    try (RankCollective collective =
        TcpMember.connect(coordinator, group, secret, member, Await.limit())) {
      Replay.run(workload(), settings, collective, RankPools.Place.HOST, ReplayProgress.SILENT);
    }
  }
}
