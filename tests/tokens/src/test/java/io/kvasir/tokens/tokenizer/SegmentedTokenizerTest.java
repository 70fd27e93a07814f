package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.LongRuns;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids of segments are those of the whole text, and cost what is new. */
class SegmentedTokenizerTest {

  private static final long CACHE_BYTES = 64 << 20;
  private static final int CONVERSATIONS = 9;

  /** Two kinds of models; byte-level BPE has its own test, and the others differ around them. */
  private static final Set<String> LARGE = Set.of("Metaspace, first", "WordPiece");

  private static final int LARGEST = LongRuns.cases(1 << 19, 1 << 20);

  @TempDir private Path folder;

  private SegmentedTokenizer open(TinyTokenizer tiny) throws Exception {
    tiny.write(folder);
    return new SegmentedTokenizer(TokenizerFiles.open(folder, false), CACHE_BYTES);
  }

  /** Kinds of tokenizers whose texts are cut. */
  static Map<String, TinyTokenizer> kinds() {
    Map<String, TinyTokenizer> kinds = new TreeMap<>();
    kinds.put("byte-level BPE with NFC", TinyTokenizer.byteLevel(true));
    kinds.put("Metaspace, always", TinyTokenizer.metaspace("always"));
    kinds.put("Metaspace, first", TinyTokenizer.metaspace("first"));
    kinds.put("Metaspace, never", TinyTokenizer.metaspace("never"));
    kinds.put("WordPiece", TinyTokenizer.of("WordPiece"));
    kinds.put("Unigram", TinyTokenizer.of("Unigram"));
    TinyTokenizer strips = TinyTokenizer.byteLevel(false);
    kinds.put("tokens that take whitespace", strips);
    strips.add("<mark>", "lstrip", "rstrip").add("</s>", "rstrip").add("[MASK]", "lstrip");
    strips.add("the", "normalized").add("<", "normalized", "rstrip");
    TinyTokenizer spaces = TinyTokenizer.byteLevel(false).add("\n\n").add("  ", "normalized");
    kinds.put("whitespace as tokens", spaces.add("\n"));
    TinyTokenizer prepends = TinyTokenizer.metaspace("never");
    kinds.put("Prepend and Replace", prepends);
    prepends.json().putNull("pre_tokenizer");
    var steps = prepends.json().putObject("normalizer").put("type", "Sequence");
    var list = steps.putArray("normalizers");
    list.addObject().put("type", "Prepend").put("prepend", "▁");
    list.addObject()
        .put("type", "Replace")
        .put("content", "▁")
        .putObject("pattern")
        .put("String", " ");
    prepends.add("quick", "normalized", "single_word");
    TinyTokenizer prefixed = TinyTokenizer.byteLevel(false);
    kinds.put("byte-level with a space in front", prefixed);
    var spaced = prefixed.json().putObject("pre_tokenizer").put("type", "ByteLevel");
    spaced.put("add_prefix_space", true).put("trim_offsets", true).put("use_regex", true);
    kinds.values().forEach(tiny -> tiny.add("<|im_start|>", "special").add("<|im_end|>"));
    kinds.values().forEach(tiny -> tiny.frame("<|im_start|>", "<|im_end|>"));
    return kinds;
  }

  @Test
  void segmentsHaveTheIdsOfTheWholeText() throws Exception {
    long seed = Long.getLong("kvasir.test.seed", 20261127L);
    System.out.println("-Dkvasir.test.seed=" + seed);
    for (var kind : kinds().entrySet()) {
      Random random = new Random(seed);
      try (SegmentedTokenizer segmented = open(kind.getValue());
          ModelTokenizer whole = TokenizerFiles.open(folder, false)) {
        assertThat(segmented.uncutReason()).as(kind.getKey()).isEmpty();
        int maxChars = LARGE.contains(kind.getKey()) ? LARGEST : 1 << 16;
        for (int chars = 1; chars <= maxChars; chars *= chars < 1 << 8 ? 2 : 16) {
          String text = MixedText.of(random, chars);
          assertThat(segmented.encode(text, true))
              .as(kind.getKey())
              .isEqualTo(whole.encode(text, true));
        }
        assertThat(segmented.cachedChars()).isPositive();
      }
    }
  }

  @Test
  void tokensThatLookAtTheirNeighboursAreNotCut() throws Exception {
    TinyTokenizer words = TinyTokenizer.byteLevel(false).add("<|im_end|>", "single_word");
    try (SegmentedTokenizer segmented = open(words)) {
      assertThat(segmented.uncutReason()).contains("<|im_end|> must be a single word");
      segmented.encode("a<|im_end|>b", false);
      segmented.encode("a<|im_end|>b", false);
      assertThat(segmented.encodedChars()).isEqualTo(24);
    }
    try (SegmentedTokenizer segmented = open(TinyTokenizer.byteLevel(false))) {
      assertThat(segmented.uncutReason()).contains("no added token");
    }
    TinyTokenizer taken = TinyTokenizer.byteLevel(false).add("<x>", "rstrip").add(" a");
    try (SegmentedTokenizer segmented = open(taken)) {
      assertThat(segmented.uncutReason()).contains("' a' may be taken as whitespace by another");
    }
    TinyTokenizer twice = TinyTokenizer.byteLevel(false).add("<x>", "special");
    twice.json().withArray("added_tokens").add(twice.json().at("/added_tokens/0").deepCopy());
    try (SegmentedTokenizer segmented = open(twice)) {
      assertThat(segmented.uncutReason()).contains("<x> is there twice");
    }
  }

  @Test
  void aClosedTokenizerRefusesKnownTextToo() throws Exception {
    SegmentedTokenizer segmented = open(TinyTokenizer.byteLevel(true).add("<|im_end|>"));
    segmented.encode("a<|im_end|>", true);
    assertThat(segmented.cacheBytes()).isPositive();
    segmented.close();
    segmented.close();
    assertThatThrownBy(() -> segmented.encode("a<|im_end|>", true))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theDeadlineIsLookedAtBeforeEachSegment() throws Exception {
    TinyTokenizer.byteLevel(true).add("<|im_end|>").write(folder);
    AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 50); // and on to negative values
    try (SegmentedTokenizer segmented =
        new SegmentedTokenizer(
            TokenizerFiles.open(folder, false), CACHE_BYTES, clock::getAndIncrement)) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 100; i++) {
        text.append("<|im_end|>").append(100 + i);
      }
      assertThatThrownBy(() -> segmented.encode(text.toString(), true, clock.get() + 60))
          .isInstanceOf(TokenizerException.class)
          .hasMessageContaining("in time");
      assertThat(segmented.encodedChars()).as("60 segments").isEqualTo(60 * 13);
      int[] ids = segmented.encode(text.toString(), true, clock.get() + 101);
      assertThat(segmented.encode(text.toString(), true)).isEqualTo(ids);
      assertThat(segmented.encodedChars()).isEqualTo(100 * 13);
    }
    try (SegmentedTokenizer whole = open(TinyTokenizer.byteLevel(false))) {
      assertThatThrownBy(() -> whole.encode("a", true, System.nanoTime()))
          .hasMessageContaining("in time");
      assertThat(whole.encodedChars()).isZero();
    }
  }

  @Test
  void theTenthTurnCostsItsNewMessages() throws Exception {
    TinyTokenizer tiny =
        TinyTokenizer.byteLevel(true).add("<|im_start|>", "special").add("<|im_end|>", "special");
    try (SegmentedTokenizer segmented = open(tiny)) {
      Random random = new Random(7);
      long[] firstNs = new long[CONVERSATIONS];
      long[] tenthNs = new long[CONVERSATIONS];
      for (int i = 0; i < CONVERSATIONS; i++) {
        StringBuilder conversation = new StringBuilder();
        for (int part = 0; part < 20; part++) {
          String text = MixedText.of(random, 3_000).replace("<|im_", "<|");
          message(conversation, part == 0 ? "system" : "user", text);
        }
        firstNs[i] = cpuNs(segmented, conversation.toString());
        long encoded = 0;
        for (int turn = 2; turn <= 10; turn++) {
          message(conversation, "assistant", "the answer " + turn);
          message(conversation, "user", "the question " + turn);
          encoded = segmented.encodedChars();
          tenthNs[i] = cpuNs(segmented, conversation.toString());
        }
        assertThat(segmented.encodedChars() - encoded).isLessThan(200);
        assertThat(segmented.encode(conversation.toString(), true)).hasSizeGreaterThan(40_000);
      }
      Arrays.sort(firstNs);
      Arrays.sort(tenthNs);
      System.out.printf(
          "the tenth turn costs %.4f of the first turn's CPU time, by the medians%n",
          (double) tenthNs[CONVERSATIONS / 2] / firstNs[CONVERSATIONS / 2]);
    }
  }

  private static void message(StringBuilder conversation, String role, String text) {
    conversation.append("<|im_start|>").append(role).append('\n').append(text);
    conversation.append("<|im_end|>\n");
  }

  private static long cpuNs(ModelTokenizer tokenizer, String text) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    long beginNs = threads.getCurrentThreadCpuTime();
    tokenizer.encode(text, true);
    return threads.getCurrentThreadCpuTime() - beginNs;
  }

  @Test
  void theCacheKeepsItsBound() {
    SegmentCache cache = new SegmentCache(10_000);
    for (int i = 0; i < 1000; i++) {
      String text = "segment " + i;
      cache.put(key(text), new int[i % 50]);
      assertThat(cache.bytes()).isLessThanOrEqualTo(10_000);
      assertThat(cache.get(key("segment 0"))).as("used again").isNotNull();
    }
    assertThat(cache.get(key("segment 1"))).isNull();
    cache.put(key("large"), new int[5_000]);
    assertThat(cache.get(key("large"))).isNull();
    assertThat(cache.bytes()).isGreaterThan(5_000);
  }

  private static SegmentCache.Key key(String text) {
    return SegmentCache.key(text, 0, text.length());
  }
}
