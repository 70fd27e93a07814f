package io.kvasir.embedded.disagg;

import io.kvasir.embedded.ranks.KvLeg;
import io.kvasir.embedded.ranks.RankLoop;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transfers of an engine that has KV: pinned blocks that wait for an engine that fetches them,
 * and questions that wait for blocks.
 *
 * <p>A transfer is <i>expected</i> from the time its prefill leg is read, <i>pinned</i> when the
 * prompt is computed, <i>running</i> when blocks and question have met, and then gone. A pinned one
 * expires if no question comes within its lease; a question fails if there are no blocks within its
 * limit. Of several prefill legs under one key, the last one has the transfer, and the others fail.
 * If a question is lost while its transfer runs, the blocks are pinned again, or released.
 *
 * <p>Thread-safe: everything happens on the thread of the timer.
 */
final class OutgoingTransfers {

  private static final Logger LOG = LoggerFactory.getLogger(OutgoingTransfers.class);

  private static final String TWICE = "the transfer was begun twice";

  private final ScheduledExecutorService timer;
  private final RankLoop ranks;
  private final Rules rules;
  private final TransferCounts counts;
  private final Map<String, Transfer> byKey = new HashMap<>();

  /**
   * What an engine's transfers have in common.
   *
   * @param awaited whether a question may come before its prefill leg
   * @param fetchedAgain whether another question may follow one that is lost
   * @param rank which rank a question means
   * @param link the duration of a transfer, in nanoseconds, by its tokens
   */
  record Rules(boolean awaited, boolean fetchedAgain, Pin.RankRule rank, IntToLongFunction link) {}

  /**
   * Numbers of transfers.
   *
   * @param open all: expected, pinned, asked for or running
   * @param waiting those whose question waits for blocks
   * @param running those that move
   */
  record State(int open, int waiting, int running) {}

  /** Receives what becomes of a question. */
  interface Asker {
    void onMoved(Pin pin);

    void onFailed(TransferFailure failure);
  }

  private static final class Transfer {
    /** The prefill leg that has begun last; null if none has. */
    @Nullable KvLeg leg;

    /** The blocks of that leg, once they are computed. */
    @Nullable Pin pin;

    long leaseMs;
    @Nullable Question question;
    @Nullable Asker asker;
    @Nullable ScheduledFuture<?> alarm;

    void stopAlarm() {
      if (alarm != null) {
        alarm.cancel(false);
        alarm = null;
      }
    }
  }

  OutgoingTransfers(
      ScheduledExecutorService timer, RankLoop ranks, Rules rules, TransferCounts counts) {
    this.timer = timer;
    this.ranks = ranks;
    this.rules = rules;
    this.counts = counts;
  }

  /** Passes the numbers of transfers to a receiver, on the timer's thread. O(transfers). */
  void state(Consumer<State> receiver) {
    timer.execute(
        () -> {
          int waiting = 0;
          int running = 0;
          for (Transfer each : byKey.values()) {
            if (each.asker != null && each.pin == null) {
              waiting++;
            } else if (each.asker != null) {
              running++;
            }
          }
          receiver.accept(new State(byKey.size(), waiting, running));
        });
  }

  /** A prefill leg begins, and has the transfer from now on. */
  void expect(String key, KvLeg leg) {
    timer.execute(
        () -> {
          Transfer transfer = transfer(key);
          Pin earlier = transfer.pin;
          transfer.leg = leg;
          if (earlier != null) {
            LOG.warn("Transfer {} is begun twice; the first one is dropped", key);
            transfer.stopAlarm();
            transfer.pin = null;
            release(earlier, TransferFailure.because(TWICE));
            awaitPin(transfer);
          }
        });
  }

  /** A prefill leg has its blocks; they go at once if the transfer is that of a later leg. */
  void pin(Pin pin, long leaseMs) {
    timer.execute(
        () -> {
          Transfer transfer = transfer(pin.key());
          if (transfer.leg != null && transfer.leg != pin.leg()) {
            release(pin, TransferFailure.because(TWICE));
            return;
          }
          transfer.leg = pin.leg();
          transfer.pin = pin;
          transfer.leaseMs = leaseMs;
          lease(pin.key(), transfer);
          meet(pin.key(), transfer);
        });
  }

  /** A prefill leg has failed, or its client has left. No effect on the transfer of another leg. */
  void abandon(String key, KvLeg leg, String reason) {
    timer.execute(
        () -> {
          Transfer transfer = byKey.get(key);
          if (transfer != null && transfer.leg == leg) {
            counts.onFailed();
            fail(key, transfer, TransferFailure.because(reason));
          }
        });
  }

  /** Asks for blocks. */
  void ask(Question question, Asker asker) {
    timer.execute(
        () -> {
          Transfer transfer = byKey.get(question.key());
          if (transfer == null && !rules.awaited()) {
            counts.onFailed();
            asker.onFailed(
                TransferFailure.because(
                    "transfer " + question.key() + " is unknown or has expired"));
            return;
          }
          transfer = transfer == null ? transfer(question.key()) : transfer;
          if (transfer.asker != null) {
            asker.onFailed(
                TransferFailure.because("transfer " + question.key() + " is fetched already"));
            return;
          }
          transfer.question = question;
          transfer.asker = asker;
          if (transfer.pin == null) {
            awaitPin(transfer);
          }
          meet(question.key(), transfer);
        });
  }

  /** The engine that asked is gone. */
  void forget(String key, Asker asker) {
    timer.execute(
        () -> {
          Transfer transfer = byKey.get(key);
          if (transfer != null && transfer.asker == asker) {
            transfer.stopAlarm();
            transfer.asker = null;
            transfer.question = null;
            if (transfer.pin != null) {
              counts.onFailed();
              loseFetch(key, transfer);
            } else if (transfer.leg == null) {
              byKey.remove(key);
            }
          }
        });
  }

  private void loseFetch(String key, Transfer transfer) {
    if (rules.fetchedAgain()) {
      lease(key, transfer);
    } else {
      fail(
          key,
          transfer,
          TransferFailure.because("the engine that fetched transfer " + key + " is gone"));
    }
  }

  /** Limits how long a question, if there is one, waits for blocks. */
  private void awaitPin(Transfer transfer) {
    Question question = transfer.question;
    if (question != null) {
      transfer.alarm =
          after(TimeUnit.MILLISECONDS.toNanos(question.waitMs()), () -> giveUp(question, transfer));
    }
  }

  private Transfer transfer(String key) {
    return byKey.computeIfAbsent(key, any -> new Transfer());
  }

  private ScheduledFuture<?> after(long delayNs, Runnable task) {
    return timer.schedule(task, delayNs, TimeUnit.NANOSECONDS);
  }

  private void lease(String key, Transfer transfer) {
    transfer.stopAlarm();
    transfer.alarm =
        after(TimeUnit.MILLISECONDS.toNanos(transfer.leaseMs), () -> expire(key, transfer));
  }

  private void expire(String key, Transfer transfer) {
    counts.onExpired();
    fail(key, transfer, TransferFailure.because("the lease of transfer " + key + " has run out"));
  }

  private void giveUp(Question question, Transfer transfer) {
    counts.onExpired();
    fail(
        question.key(),
        transfer,
        TransferFailure.because(
            "prefill did not come within " + question.waitMs() + " ms for " + question.key()));
  }

  private void fail(String key, Transfer transfer, TransferFailure failure) {
    transfer.stopAlarm();
    byKey.remove(key);
    if (transfer.pin != null) {
      release(transfer.pin, failure);
    }
    if (transfer.asker != null) {
      transfer.asker.onFailed(failure);
    }
  }

  /** Starts the transfer if both sides are there. */
  private void meet(String key, Transfer transfer) {
    Pin pin = transfer.pin;
    Question question = transfer.question;
    Asker asker = transfer.asker;
    if (pin == null || question == null || asker == null) {
      return;
    }
    TransferFailure wrong = pin.mismatch(question, rules.rank());
    if (wrong != null) {
      counts.onFailed();
      transfer.question = null;
      transfer.asker = null;
      asker.onFailed(wrong); // the lease goes on
      return;
    }
    transfer.stopAlarm();
    transfer.alarm =
        after(
            rules.link().applyAsLong(question.missingTokens()),
            () -> {
              byKey.remove(key);
              counts.onSent();
              release(pin, null);
              asker.onMoved(pin);
            });
  }

  private void release(Pin pin, @Nullable TransferFailure failure) {
    ranks.onWorker(
        worker -> {
          worker.holds().release(pin.hold());
          pin.onOver().accept(failure);
        },
        () -> {});
  }
}
