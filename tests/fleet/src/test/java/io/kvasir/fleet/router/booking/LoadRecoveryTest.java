package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterReplicas.BLOCK;
import static io.kvasir.fleet.router.booking.RouterReplicas.RANKS;
import static io.kvasir.fleet.router.booking.RouterReplicas.requests;
import static io.kvasir.fleet.router.booking.RouterReplicas.stateThrice;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.booking.RouterReplicas.Replica;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Routers whose messages about their loads are lost, late, or older than a router. */
class LoadRecoveryTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 16);
  private static final long SECOND_NS = 1_000_000_000L;

  private final RouterReplicas all = new RouterReplicas();

  @Test
  void loadsThatWereDroppedDuringAPauseComeBackWithTheNextStatement() {
    all.start("projected", 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
    for (int i = 0; i < 50; i++) {
      first.place(1_000 + i);
    }
    boolean unused = first.router.onPrefillDone(first.attempts.get(7));
    first.send();
    List<List<Long>> loaded = first.loads();
    all.clockNs.addAndGet(4 * SECOND_NS);
    assertThat(second.exchange.removeSilent(3 * SECOND_NS)).isEqualTo(1);
    assertThat(requests(second.loads())).isZero();
    first.state();
    second.state(); // asks, and the first answers
    assertThat(second.loads()).isEqualTo(loaded);
    all.replicas.forEach(Replica::close);
  }

  @Test
  void aRouterThatStartsLaterLearnsWhatIsInFlight() {
    all.start("cost", 1);
    Replica first = all.replicas.get(0);
    for (int i = 0; i < 5_000; i++) {
      first.place(20);
    }
    first.send();
    Replica second = all.new Replica("cost", Map.of(), 2);
    all.replicas.add(second);
    stateThrice(first, second);
    assertThat(second.loads()).isEqualTo(first.loads());
    all.replicas.forEach(Replica::close);
  }

  /** More blocks than a router reports again between two statements. */
  @Test
  void manyLongPromptsThatWereLostComeBackInAFewStatements() {
    all.start("cost", 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
    for (int i = 0; i < 1_200; i++) {
      first.place(1_000 * BLOCK);
    }
    first.outbox.drainTo(frame -> {}); // lost
    stateThrice(first, second);
    assertThat(requests(second.loads())).isEqualTo(1_200);
    assertThat(second.loads()).isEqualTo(first.loads());
    assertThat(second.exchange.stats().copies()).isZero();
    all.replicas.forEach(Replica::close);
  }

  @Test
  void anAnswerThatIsLostIsAskedForAgainSoon() {
    all.start("cost", 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
    first.place(400);
    first.exchange.state(second.exchange::onFrame);
    second.exchange.state(first.exchange::onFrame);
    assertThat(first.outbox.drainTo(frame -> {})).as("the answers are lost").isEqualTo(2);
    stateThrice(first, second);
    assertThat(second.loads()).isEqualTo(first.loads());
    all.replicas.forEach(Replica::close);
  }

  @Test
  void oneAnswerServesAllRoutersThatAsk() {
    all.start("cost", 6);
    Replica first = all.replicas.get(0);
    for (int i = 0; i < 50; i++) {
      first.place(400);
    }
    first.outbox.drainTo(frame -> {}); // lost
    first.exchange.state(all::sendToAll);
    all.replicas.forEach(each -> each.exchange.state(all::sendToAll));
    assertThat(first.outbox.drainTo(all::sendToAll)).isEqualTo(50);
    assertThat(all.replicas).allSatisfy(each -> assertThat(each.loads()).isEqualTo(first.loads()));
    all.replicas.forEach(Replica::close);
  }

  @Test
  void placementsThatCannotBeBookedAreAskedForSeldom() {
    all.start("cost", 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
    for (int rank = 0; rank < RANKS; rank++) {
      second.router.removeRank(new RankId(rank, 0));
    }
    first.place(400);
    first.send();
    int answers = 0;
    for (int round = 0; round < 33; round++) {
      first.exchange.state(second.exchange::onFrame);
      second.exchange.state(first.exchange::onFrame);
      answers += first.outbox.drainTo(second.exchange::onFrame);
    }
    assertThat(answers).isBetween(2, 4);
    all.replicas.forEach(Replica::close);
  }

  @Test
  void statementsRepairWhatLostMessagesLeaveBehind() {
    all.start("cost", 3);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int step = 0; step < 2_000; step++) {
      all.clockNs.addAndGet(10_000_000);
      Replica replica = all.replicas.get(random.nextInt(all.replicas.size()));
      if (replica.attempts.isEmpty() || random.nextInt(5) < 3) {
        replica.place(1 + random.nextInt(500));
      } else {
        int index = random.nextInt(replica.attempts.size());
        replica.router.onFinished(replica.attempts.remove(index), true);
      }
      if (step % 20 == 0) {
        all.replicas.forEach(each -> each.stateWithLosses(random));
      }
    }
    for (int round = 0; round < 6; round++) { // what was asked for in vain is asked for again
      all.replicas.forEach(Replica::state);
    }
    List<List<Long>> expected = all.replicas.get(0).loads();
    assertThat(requests(expected)).isPositive();
    assertThat(all.replicas.get(1).loads()).as("seed %d", SEED).isEqualTo(expected);
    assertThat(all.replicas.get(2).loads()).as("seed %d", SEED).isEqualTo(expected);
    for (Replica replica : all.replicas) {
      List.copyOf(replica.attempts).forEach(each -> replica.router.onFinished(each, true));
    }
    all.replicas.forEach(each -> each.exchange.state(all::sendToAll));
    assertThat(all.replicas).allSatisfy(each -> assertThat(requests(each.loads())).isZero());
    all.replicas.forEach(Replica::close);
  }

  @Test
  void aLateCopyDoesNotRestoreWhatAStatementHasEnded() {
    all.start("cost", 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
    long attempt = first.place(400).attempt();
    List<byte[]> placed = new ArrayList<>();
    first.outbox.drainTo(placed::add);
    placed.forEach(second.exchange::onFrame);
    assertThat(requests(second.loads())).isEqualTo(1);
    first.router.onFinished(attempt, true);
    first.outbox.drainTo(frame -> {}); // the message of its end is lost
    first.state();
    assertThat(requests(second.loads())).isZero();
    placed.forEach(second.exchange::onFrame);
    assertThat(requests(second.loads())).isZero();
    assertThat(second.exchange.stats().copies()).isEqualTo(1);
    all.replicas.forEach(Replica::close);
  }
}
