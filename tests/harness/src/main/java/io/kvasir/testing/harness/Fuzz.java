package io.kvasir.testing.harness;

import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Runs random cases for {@code -Dkvasir.fuzz.seconds} (2 by default). Case i of a run has the seed
 * of the run plus i; {@code -Dkvasir.fuzz.seed} repeats a case. A case that takes longer than
 * {@link Await#limit} fails. At least one case runs.
 *
 * <p>Stateless.
 */
public final class Fuzz {

  private Fuzz() {}

  /** One case. */
  public interface Case {

    /**
     * Fails with any exception or error.
     *
     * @param random what the case is made of
     * @throws Exception if it fails
     */
    void run(Random random) throws Exception;
  }

  /**
   * Runs cases until the time is over.
   *
   * @param name of the test, for messages
   * @param fuzzed runs one case
   */
  public static void run(String name, Case fuzzed) {
    run(name, Await.limit(), fuzzed);
  }

  /**
   * Runs cases until the time is over.
   *
   * @param name of the test, for messages
   * @param limit of each case
   * @param fuzzed runs one case
   */
  public static void run(String name, Duration limit, Case fuzzed) {
    long first = Long.getLong("kvasir.fuzz.seed", new Random().nextLong(1_000_000_000_000L));
    long endNs =
        System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.getLong("kvasir.fuzz.seconds", 2));
    System.out.println(name + ": -Dkvasir.fuzz.seed=" + first);
    ExecutorService thread = Executors.newSingleThreadExecutor(Fuzz::daemon);
    long seed = first;
    do {
      run(name, seed++, limit, fuzzed, thread);
    } while (System.nanoTime() < endNs);
    thread.shutdownNow();
    System.out.println(name + ": " + (seed - first) + " cases");
  }

  private static Thread daemon(Runnable cases) {
    Thread thread = new Thread(cases, "fuzz");
    thread.setDaemon(true);
    return thread;
  }

  private static void run(
      String name, long seed, Duration limit, Case fuzzed, ExecutorService thread) {
    Callable<Void> one =
        () -> {
          fuzzed.run(new Random(seed));
          return null;
        };
    Await.result(name + ", -Dkvasir.fuzz.seed=" + seed, thread.submit(one), limit);
  }

  /**
   * Damages bytes in one to four random ways.
   *
   * @param random chooses
   * @param original the bytes; not changed
   * @param tokens what is put between them, at least one
   * @return the damaged bytes
   */
  public static byte[] mutated(Random random, byte[] original, byte[]... tokens) {
    byte[] bytes = original;
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      bytes = mutatedOnce(random, bytes, tokens);
    }
    return bytes;
  }

  private static byte[] mutatedOnce(Random random, byte[] bytes, byte[][] tokens) {
    int at = random.nextInt(bytes.length + 1);
    int rest = bytes.length - at;
    int count = random.nextInt(Math.min(rest, 64) + 1);
    byte[] part = Arrays.copyOfRange(bytes, at, at + count);
    return switch (random.nextInt(7)) {
      case 0 -> { // flips a bit
        byte[] flipped = bytes.clone();
        if (rest > 0) {
          flipped[at] ^= (byte) (1 << random.nextInt(8));
        }
        yield flipped;
      }
      case 1 -> spliced(bytes, at, rest, new byte[0]); // truncates
      case 2 -> spliced(bytes, at, count, new byte[0]); // removes
      case 3 -> spliced(bytes, random.nextInt(bytes.length + 1), 0, part); // repeats
      case 4 -> spliced(bytes, at, count, new byte[count]); // zeroes
      case 5 -> { // overwrites with another part
        int target = random.nextInt(bytes.length - count + 1);
        yield spliced(bytes, target, count, part);
      }
      default -> {
        byte[] token = tokens[random.nextInt(tokens.length)];
        yield spliced(bytes, at, random.nextBoolean() ? 0 : Math.min(rest, token.length), token);
      }
    };
  }

  private static byte[] spliced(byte[] bytes, int at, int removed, byte[] added) {
    byte[] spliced = new byte[bytes.length - removed + added.length];
    System.arraycopy(bytes, 0, spliced, 0, at);
    System.arraycopy(added, 0, spliced, at, added.length);
    System.arraycopy(bytes, at + removed, spliced, at + added.length, bytes.length - at - removed);
    return spliced;
  }
}
