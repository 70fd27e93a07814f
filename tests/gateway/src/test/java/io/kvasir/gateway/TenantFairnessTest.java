package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A tenant that sends one request at a time while another keeps 64 in progress, and clients with
 * wrong keys together with one that has a right key. The test counts how many requests of others
 * start first; times are printed.
 */
class TenantFairnessTest {

  private static final int PLACES = 8;
  private static final int FLOOD = 64;
  private static final int ASKED = 60;
  private static final long SERVICE_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** So many that the printed cost of one is that of compiled code, in the long form. */
  private static final int WRONG = LongRuns.cases(2_000, 50_000);

  private static final int PIPELINED = 100;

  @TempDir private Path folder;

  private final List<ClientKey> keys = new ArrayList<>();

  private String key(String tenant) throws IOException {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    String name = tenant + keys.size();
    keys.add(new ClientKey(issued.id(), issued.sha256(), name, tenant, KeyLimits.NONE, null));
    KeyFile.write(folder.resolve("keys"), keys);
    return "x-api-key: " + issued.text();
  }

  /** What a calm client has seen: how long its requests took, and how many others began first. */
  private static final class Seen {

    private final List<Long> tookNs = new ArrayList<>();
    private final List<Long> before = new ArrayList<>();

    double p95Ms() {
      return tookNs.stream().sorted().toList().get(tookNs.size() * 95 / 100) / 1e6;
    }

    long medianBefore() {
      return before.stream().sorted().toList().get(before.size() / 2);
    }
  }

  /** An engine whose requests take a time, and what it has begun of the flood. */
  private static ScriptedEngine engine(AtomicLong begun, AtomicLong atCalm) {
    return ScriptedEngine.start(
        (request, link) -> {
          if (request.text().contains("flood")) {
            begun.incrementAndGet();
          } else {
            atCalm.set(begun.get());
          }
          LockSupport.parkNanos(SERVICE_NS);
          EngineLink.answer(request, link);
        });
  }

  private Seen calm(boolean floods, String calmKey, String floodKey) throws Exception {
    AtomicLong begun = new AtomicLong();
    AtomicLong atCalm = new AtomicLong();
    AtomicBoolean over = new AtomicBoolean();
    Seen seen = new Seen();
    List<Thread> threads = new ArrayList<>();
    try (ScriptedEngine engine = engine(begun, atCalm);
        TestGateway gateway =
            TestGateway.of(engine)
                .keys(folder.resolve("keys"), false)
                .queue(PLACES, 1_000)
                .start()) {
      byte[] flood = RawClient.post(CHAT, ASK.replace("Hi", "flood"), floodKey);
      for (int i = 0; floods && i < FLOOD; i++) {
        Thread thread = new Thread(() -> ask(gateway, flood, over), "flood " + i);
        thread.start();
        threads.add(thread);
      }
      if (floods) {
        Await.until(() -> gateway.metric("kvasir_num_requests_waiting") >= FLOOD - 2 * PLACES);
      }
      try (RawClient client = gateway.client()) {
        byte[] calm = RawClient.post(CHAT, ASK, calmKey);
        for (int i = 0; i < ASKED; i++) {
          long begunBefore = begun.get();
          long sentNs = System.nanoTime();
          assertThat(client.send(calm).reply().status()).isEqualTo(200);
          seen.tookNs.add(System.nanoTime() - sentNs);
          seen.before.add(atCalm.get() - begunBefore);
        }
      }
      over.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    }
    return seen;
  }

  private static void ask(TestGateway gateway, byte[] request, AtomicBoolean over) {
    try (RawClient client = gateway.client()) {
      while (!over.get()) {
        assertThat(client.send(request).reply().status()).isEqualTo(200);
      }
    }
  }

  @Test
  void aCalmTenantDoesNotWaitBehindAFlood() throws Exception {
    String calmKey = key("calm");
    String floodKey = key("flood");
    String sameTenant = key("flood");
    Seen alone = calm(false, calmKey, floodKey);
    Seen beside = calm(true, calmKey, floodKey);
    Seen same = calm(true, sameTenant, floodKey);
    System.out.printf(
        "%d calm requests of %d ms, %d places: p95 %.1f ms alone; beside %d of another tenant"
            + " %.1f ms, behind %d (median); beside as many of its own tenant %.1f ms, behind %d%n",
        ASKED,
        TimeUnit.NANOSECONDS.toMillis(SERVICE_NS),
        PLACES,
        alone.p95Ms(),
        FLOOD,
        beside.p95Ms(),
        beside.medianBefore(),
        same.p95Ms(),
        same.medianBefore());
    assertThat(beside.medianBefore()).as("its place is kept").isLessThanOrEqualTo(1);
    assertThat(same.medianBefore()).as("in arrival order").isGreaterThan(FLOOD / 2);
  }

  @Test
  void wrongKeysTakeNothingOfTheRightOnes() throws Exception {
    String key = key("calm");
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(engine).keys(folder.resolve("keys"), false).queue(1, 0).start()) {
      for (int i = 0; i < 4; i++) { // its code is compiled
        right(gateway, key, ASKED);
        wrong(gateway, WRONG);
      }
      Seen alone = right(gateway, key, 10 * ASKED);
      AtomicBoolean over = new AtomicBoolean();
      AtomicLong refused = new AtomicLong();
      Thread attack =
          new Thread(
              () -> {
                long startNs = System.nanoTime();
                while (!over.get()) { // 10,000 a second
                  wrong(gateway, PIPELINED);
                  long sent = refused.addAndGet(PIPELINED);
                  LockSupport.parkNanos(startNs + sent * 100_000 - System.nanoTime());
                }
              },
              "wrong keys");
      long servedBefore = engine.received();
      attack.start();
      long startNs = System.nanoTime();
      long startCpuNs = loopsCpuNs();
      Seen beside = right(gateway, key, 10 * ASKED);
      double seconds = (System.nanoTime() - startNs) / 1e9;
      double cpuNs = loopsCpuNs() - startCpuNs;
      over.set(true);
      attack.join();
      long cpuBeforeNs = loopsCpuNs();
      wrong(gateway, WRONG);
      double eachUs = (loopsCpuNs() - cpuBeforeNs) / 1e3 / WRONG;
      System.out.printf(
          "right keys: p95 %.2f ms alone, %.2f ms beside %.0f wrong ones/s (loops: %.0f %% of a"
              + " core); a wrong one costs %.1f us of CPU%n",
          alone.p95Ms(), beside.p95Ms(), refused.get() / seconds, cpuNs / seconds / 1e7, eachUs);
      assertThat(engine.received() - servedBefore).isEqualTo(10 * ASKED);
    }
  }

  /** Asks one request after the other: a place that a wrong key took would be missing. */
  private static Seen right(TestGateway gateway, String key, int requests) {
    Seen seen = new Seen();
    byte[] request = RawClient.post(CHAT, ASK, key);
    try (RawClient client = gateway.client()) {
      for (int i = 0; i < requests; i++) {
        long sentNs = System.nanoTime();
        assertThat(client.send(request).reply().status()).isEqualTo(200);
        seen.tookNs.add(System.nanoTime() - sentNs);
      }
    }
    return seen;
  }

  private static void wrong(TestGateway gateway, int requests) {
    String one =
        "GET /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: kv-aaaaaaaaaaaa-" + "b".repeat(43);
    byte[] some = (one + "\r\n\r\n").repeat(PIPELINED).getBytes(StandardCharsets.US_ASCII);
    try (RawClient client = gateway.client()) {
      for (int sent = 0; sent < requests; sent += PIPELINED) {
        client.send(some);
        for (int i = 0; i < PIPELINED; i++) {
          assertThat(client.reply().status()).isEqualTo(401);
        }
      }
    }
  }

  private static long loopsCpuNs() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long sum = 0;
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadName().startsWith("vert.x-eventloop")) {
        sum += threads.getThreadCpuTime(thread.getThreadId());
      }
    }
    return sum;
  }
}
