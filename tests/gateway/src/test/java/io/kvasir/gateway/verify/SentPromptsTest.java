package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What stored blocks prove about the ranks that requests were pinned to. */
class SentPromptsTest {

  private static final long WORKER = 7;
  private static final int BLOCK = 4;
  private static final int ANY = -1;
  private static final Witness CLIENT = new Witness("10.0.0.1");

  private final NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, BLOCK, 1 << 20);
  private final List<String> verdicts = new ArrayList<>();
  private final WorkerChecks checks =
      new WorkerChecks(
          "w", 2, BLOCK, "--usage", (tokens, steering) -> verdicts.add(tokens + " " + steering));
  private boolean follows = true;
  private final SentPrompts prompts =
      new SentPrompts(checks, index, WORKER, BLOCK, new SentBytes(1 << 20), rank -> follows);

  @AfterEach
  void close() {
    index.close();
  }

  private static int[] tokens(int count) {
    return IntStream.range(0, count).toArray();
  }

  private static BlockHashes hashes(int[] tokens) {
    return NativeBlockHasher.of(HashFormat.KVASIR, BLOCK).hash(tokens, CacheScope.NONE);
  }

  private PromptCheck send(int pinned, int count) {
    return send(pinned, tokens(count), true);
  }

  private PromptCheck send(int pinned, int[] tokens, boolean plain) {
    return prompts.add(CLIENT, pinned, tokens, hashes(tokens), () -> plain, null);
  }

  private boolean conclude(PromptCheck prompt) {
    return prompts.conclude(prompt, true, () -> true);
  }

  /** A rank stores all blocks of the first tokens, in one event. */
  private void store(int rank, int count) {
    store(rank, tokens(count));
  }

  private void store(int rank, int[] tokens) {
    BlockHashes all = hashes(tokens);
    apply(rank, BlockEvent.Stored.root(all.sequence(), all.local()));
  }

  /** A rank stores what no test sends. */
  private void storeOther(int rank) {
    store(rank, IntStream.generate(() -> -1).limit(8).toArray());
  }

  private static int[] another(int number) {
    return IntStream.range(0, 9).map(i -> 100 * number + i).toArray();
  }

  private void apply(int rank, BlockEvent event) {
    RankId id = new RankId(WORKER, rank);
    index.apply(id, event);
    prompts.onApplied(id, List.of(event));
  }

  private void assertEvidence(int agreements, int contradictions) {
    assertThat(checks.steering().agreements()).as("agreements").isEqualTo(agreements);
    assertThat(checks.steering().contradictions()).as("contradictions").isEqualTo(contradictions);
  }

  @Test
  void theStoringRankAgreesOrContradicts() {
    send(0, 9);
    store(0, 9);
    assertEvidence(1, 0);
    PromptCheck prompt = send(0, 17);
    store(1, 17);
    assertEvidence(1, 0);
    assertThat(prompts.end(prompt)).as("the named rank has its time").isPositive();
    assertThat(conclude(prompt)).isFalse();
    assertEvidence(1, 1);
    assertThat(checks.tokens().agreements()).isEqualTo(2);
    assertThat(checks.tokens().contradictions()).isZero();
  }

  @Test
  void aMirroredRequestIsNoContradictionInAnyOrder() {
    PromptCheck mirroredFirst = send(0, 9);
    store(1, 9);
    assertEvidence(0, 0);
    store(0, 9);
    assertEvidence(1, 0);
    assertThat(prompts.end(mirroredFirst)).isNegative();
    PromptCheck mirroredLast = send(1, 17);
    store(1, 17);
    store(0, 17);
    assertThat(conclude(mirroredLast)).isFalse();
    assertEvidence(2, 0);
    assertThat(checks.tokens().agreements()).as("one for each prompt").isEqualTo(2);
  }

  @Test
  void mirrorsOfEqualPromptsAreNoContradiction() {
    List<PromptCheck> sent = List.of(send(0, 9), send(0, 9), send(1, 9));
    store(1, 9);
    store(1, 9);
    store(0, 9);
    assertThat(sent).noneMatch(this::conclude);
    assertEvidence(2, 0);
  }

  @Test
  void aRequestThatWasNotServedDoesNotContradict() {
    PromptCheck prompt = send(0, 9);
    store(1, 9);
    assertThat(prompts.conclude(prompt, false, () -> true)).isFalse();
    assertEvidence(0, 0);
  }

  @Test
  void aRankWhoseEventsAreMissingDoesNotContradict() {
    PromptCheck prompt = send(0, 9);
    store(1, 9);
    follows = false;
    assertThat(conclude(prompt)).isFalse();
    assertEvidence(0, 0);
  }

  @Test
  void requestsThatAreServedElsewhereContradictAlsoBesideMirroredOnes() {
    for (int i = 0; i < 10; i++) {
      PromptCheck ignored = send(0, another(i), true);
      store(1, another(i));
      store(1, another(i));
      conclude(ignored);
    }
    assertThat(checks.steering().verdict()).isEqualTo(Verdict.CONTRADICTED);
    assertThat(verdicts).last().isEqualTo("true false");
  }

  @Test
  void blocksAreEvidenceOnceAndEvictionsDoNotMatter() {
    PromptCheck prompt = send(1, 9);
    store(1, 9);
    apply(1, new BlockEvent.Cleared());
    store(0, 9);
    assertEvidence(1, 0);
    assertThat(prompts.end(prompt)).as("nothing is left to wait for").isNegative();
  }

  @Test
  void theEndOfAPromptIsReportedOnce() {
    int[] stored = {0};
    int[] equal = {0};
    int[] elsewhere = {0};
    prompts.add(CLIENT, 0, tokens(9), hashes(tokens(9)), () -> true, () -> stored[0]++);
    prompts.add(CLIENT, 0, tokens(9), hashes(tokens(9)), () -> true, () -> equal[0]++);
    prompts.add(CLIENT, 1, tokens(9), hashes(tokens(9)), () -> true, () -> elsewhere[0]++);
    store(0, 4);
    assertThat(stored[0]).as("its first block alone").isZero();
    store(0, 9);
    store(0, 9);
    assertThat(stored[0]).isEqualTo(1);
    assertThat(equal[0]).as("an equal prompt there, whose blocks are not stored again").isOne();
    assertThat(elsewhere[0]).as("an equal prompt on another rank").isZero();
  }

  @Test
  void equalPromptsOfTwoRanksAgreeInAnyOrder() {
    send(0, 9);
    send(1, 9);
    store(1, 9);
    store(0, 9);
    assertEvidence(2, 0);
  }

  @Test
  void aLongerPromptOfAnotherRankIsNoContradiction() {
    send(0, 9);
    send(1, 25);
    store(1, 25);
    assertEvidence(1, 0);
    store(0, 9);
    assertEvidence(2, 0);
  }

  @Test
  void aPromptThatItsRankHoldsProvesNothingButExplainsItsBlocks() {
    store(1, 9);
    PromptCheck held = send(1, 9);
    send(0, 9);
    apply(1, new BlockEvent.Cleared());
    store(1, 9);
    assertEvidence(0, 0);
    store(0, 9);
    assertEvidence(1, 0);
    assertThat(prompts.end(held)).isNegative();
  }

  @Test
  void aLastBlockWithoutAFollowingTokenIsNotAwaited() {
    send(0, 8);
    store(0, 4);
    assertEvidence(1, 0);
    assertThat(send(0, 4)).isNull();
  }

  @Test
  void promptsWithoutARankProveTheirTokensOnly() {
    send(ANY, 9);
    store(1, 9);
    assertEvidence(0, 0);
    assertThat(checks.tokens().agreements()).isEqualTo(1);
  }

  @Test
  void generatedBlocksAreNoEvidence() {
    PromptCheck prompt = send(0, 9);
    BlockHashes all = hashes(tokens(40));
    long[] handles = Arrays.copyOfRange(all.sequence(), 2, 10);
    store(1, 4);
    apply(
        1,
        BlockEvent.Stored.after(
            all.sequence()[0], handles, Arrays.copyOfRange(all.local(), 2, 10)));
    assertEvidence(0, 0);
    assertThat(prompts.end(prompt)).isPositive();
  }

  @Test
  void aPromptThatIsNotStoredContradictsItsTokens() {
    PromptCheck prompt = send(0, 9);
    storeOther(0);
    assertThat(prompts.end(prompt)).isPositive();
    assertThat(conclude(prompt)).isTrue();
    assertThat(checks.tokens().contradictions()).isEqualTo(1);
    assertThat(conclude(prompt)).as("once").isFalse();
    PromptCheck lost = send(0, 13);
    storeOther(0);
    assertThat(prompts.conclude(lost, true, () -> false)).as("events are missing").isFalse();
    assertThat(checks.tokens().contradictions()).isEqualTo(1);
  }

  @Test
  void anEngineThatStoresNothingDoesNotContradict() {
    storeOther(0);
    assertThat(conclude(send(0, 9))).isFalse();
    assertThat(checks.tokens().contradictions()).isZero();
  }

  @Test
  void aPromptWithOtherContentThanTextDoesNotContradict() {
    PromptCheck prompt = send(0, tokens(9), false);
    storeOther(0);
    assertThat(conclude(prompt)).isFalse();
    PromptCheck stored = send(0, tokens(13), false);
    store(0, 13);
    assertThat(prompts.end(stored)).isNegative();
    assertThat(checks.tokens().contradictions()).isZero();
    assertEvidence(1, 0);
  }

  @Test
  void whatMutedRanksHoldIsKnown() {
    index.setVisible(new RankId(WORKER, 0), false);
    store(0, 9);
    assertThat(prompts.end(send(0, 9))).isNegative();
    PromptCheck elsewhere = send(1, 9);
    storeOther(0);
    assertThat(conclude(elsewhere)).isFalse();
    assertThat(checks.tokens().contradictions()).isZero();
  }

  @Test
  void agreementsReviseAContradictionAlsoWithOthersBetween() {
    for (int i = 0; i < 20; i++) {
      contradict(i);
    }
    assertThat(checks.tokens().verdict()).isEqualTo(Verdict.CONTRADICTED);
    assertThat(verdicts).containsExactly("false true");
    agree(20, 27);
    contradict(27);
    assertThat(checks.tokens().verdict()).isEqualTo(Verdict.CONTRADICTED);
    agree(28, 29);
    assertThat(checks.tokens().verdict()).isEqualTo(Verdict.CONFIRMED);
    assertThat(checks.difference()).isNull();
    assertThat(verdicts.get(verdicts.size() - 1)).isEqualTo("true true");
  }

  private void contradict(int number) {
    PromptCheck prompt = send(ANY, another(number), true);
    storeOther(0);
    assertThat(conclude(prompt)).isTrue();
  }

  private void agree(int from, int to) {
    for (int i = from; i < to; i++) {
      send(ANY, another(i), true);
      store(0, another(i));
    }
  }

  @Test
  void aPromptWhoseBlocksSomeRankHoldsDoesNotContradict() {
    PromptCheck prompt = send(0, 9);
    BlockHashes all = hashes(tokens(9));
    index.apply(new RankId(WORKER, 1), BlockEvent.Stored.root(all.sequence(), all.local()));
    storeOther(1);
    assertThat(conclude(prompt)).isFalse();
    assertThat(checks.tokens().contradictions()).isZero();
  }

  @Test
  void theOldestPromptsAreForgotten() {
    PromptCheck first = send(0, 9);
    for (int i = 0; i < 5_000; i++) {
      send(1, 13);
    }
    assertThat(prompts.end(first)).isNegative();
    store(1, 9);
    assertEvidence(0, 0);
  }

  @Test
  void whatIsKeptHasABoundInBytes() {
    SentBytes budget = new SentBytes(1 << 20);
    SentPrompts first = new SentPrompts(checks, index, WORKER, BLOCK, budget, rank -> true);
    SentPrompts second = new SentPrompts(checks, index, WORKER + 1, BLOCK, budget, rank -> true);
    int[] large = tokens(20_000); // 80 KB of tokens, and as much of hashes
    for (int i = 0; i < 50; i++) {
      assertThat(first.add(CLIENT, 0, large, hashes(large), () -> true, null)).isNotNull();
      assertThat(budget.used()).isBetween(1L, 1L << 20);
    }
    assertThat(second.add(CLIENT, 0, large, hashes(large), () -> true, null))
        .as("no room beside those of another worker")
        .isNull();
    first.close();
    assertThat(budget.used()).isZero();
    assertThat(second.add(CLIENT, 0, large, hashes(large), () -> true, null)).isNotNull();
    assertThat(first.add(CLIENT, 0, large, hashes(large), () -> true, null))
        .as("a worker that is followed no longer")
        .isNull();
    second.close();
    assertThat(budget.used()).isZero();
  }
}
