package io.kvasir.fleet.wire;

import io.kvasir.fleet.wire.VllmBlocks.Block;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The KV cache of one engine rank with its scheduler, after the rules of vLLM v1, and the events
 * that vLLM would publish. Not thread-safe.
 *
 * <p>One step: requests that run get room first, in order of admission; if there is none, the
 * request admitted last is preempted. Waiting requests are admitted only if none was preempted. A
 * request that gets room loses the blocks that its windows have left, uses the blocks that it
 * matches, takes new ones (removals, group by group), and caches its whole blocks (stores, group by
 * group) before they are computed.
 */
final class VllmCache {

  /** What the layers of a group do. */
  enum Kind {
    FULL,
    WINDOW,
    MAMBA
  }

  /**
   * A group of layers.
   *
   * @param window in tokens; at least 2 for a window, else 0
   */
  record Group(Kind kind, int window) {}

  /** Which stores are published. */
  enum Report {
    /** New blocks. */
    NEW,
    /** Also every position of a match. */
    FULL,
    /** Also a match: each block by itself if some of its positions are null blocks. */
    FULL_SPARSE
  }

  /**
   * Options.
   *
   * @param eagle whether the last matched block is dropped
   * @param retentionBlocks blocks between states and windows that are kept while a prompt is
   *     computed: 0 keeps those at its end only, -1 keeps all
   */
  record Options(boolean eagle, Report report, int maxTokensPerStep, int retentionBlocks) {}

  private static final int MAX_BLOCKS = 60;

  private final int size;
  private final int physicalBlocks;
  private final List<Group> groups;
  private final Options options;
  private final Random random;
  private final long root;
  private final VllmEvents events;
  private final VllmBlocks blocks;
  private final VllmLookUp lookUp;
  private final List<VllmGroupBlocks> groupBlocks = new ArrayList<>();
  private final Deque<VllmRequest> waiting = new ArrayDeque<>();
  private final List<VllmRequest> running = new ArrayList<>();
  private final List<int[]> finished = new ArrayList<>();
  private int preemptions;

  /**
   * Makes an empty cache.
   *
   * @param physicalBlocks shared by all groups; one of them is the null block
   */
  VllmCache(
      int tokensPerBlock, int physicalBlocks, List<Group> groups, Options options, Random random) {
    this.size = tokensPerBlock;
    this.physicalBlocks = physicalBlocks;
    this.groups = List.copyOf(groups);
    this.options = options;
    this.random = random;
    this.root = random.nextLong();
    this.events = new VllmEvents(size, this.groups, options.report());
    this.blocks = new VllmBlocks(physicalBlocks, events);
    this.lookUp = new VllmLookUp(blocks, groups, size, options.eagle());
    for (int i = 0; i < groups.size(); i++) {
      groupBlocks.add(new VllmGroupBlocks(i, groups.get(i), size, options, blocks));
    }
  }

  /** Adds a request to the queue. It must fit into the cache alone. */
  void submit(int[] prompt, int outputTokens) {
    if (prompt.length + outputTokens > maxTokens() || prompt.length < 1 || outputTokens < 1) {
      throw new IllegalArgumentException(prompt.length + " and " + outputTokens + " tokens");
    }
    waiting.add(
        new VllmRequest(prompt, outputTokens, size, groups.size(), root, random.nextBoolean()));
  }

  /** Most tokens that a prompt and its answer may have together. */
  int maxTokens() {
    int length = 0;
    while (length < MAX_BLOCKS && mostHeld(length + 1) < physicalBlocks) {
      length++;
    }
    return length * size;
  }

  /** Most physical blocks that a request of so many whole blocks holds at a time. */
  private int mostHeld(int length) {
    int held = 0;
    for (Group group : groups) {
      int most =
          switch (group.kind()) {
            case FULL -> length;
            case WINDOW -> (group.window() - 1 + options.maxTokensPerStep()) / size + 2;
            case MAMBA -> 3;
          };
      held += Math.min(length, most);
    }
    return held;
  }

  /** Runs one step and returns its events in the order in which they are published. */
  List<Object> step() {
    groupBlocks.forEach(VllmGroupBlocks::startStep);
    Map<VllmRequest, Integer> scheduled = new LinkedHashMap<>();
    int before = preemptions;
    int budget = scheduleRunning(scheduled);
    if (preemptions == before) {
      admitWaiting(scheduled, budget);
    }
    scheduled.forEach(this::settle);
    return events.take();
  }

  private int scheduleRunning(Map<VllmRequest, Integer> scheduled) {
    int budget = options.maxTokensPerStep();
    for (int i = 0; i < running.size() && budget > 0; i++) {
      VllmRequest request = running.get(i);
      int tokens = chunk(request, request.computed, budget);
      if (tokens == 0) {
        continue;
      }
      while (!allocate(request, noHits(), 0, tokens)) {
        VllmRequest last = running.remove(running.size() - 1);
        preempt(last);
        if (last == request) {
          return budget;
        }
      }
      scheduled.put(request, tokens);
      budget -= tokens;
    }
    return budget;
  }

  private void admitWaiting(Map<VllmRequest, Integer> scheduled, int budgetLeft) {
    int budget = budgetLeft;
    while (!waiting.isEmpty() && budget > 0) {
      VllmRequest request = waiting.getFirst();
      VllmLookUp.Hit hit = lookUp.find(request.hashes(), (request.length() - 1) / size);
      events.matched(request, hit);
      request.junction = hit.longest() > hit.length() ? hit.longest() * size : 0;
      int tokens = chunk(request, hit.length() * size, budget);
      if (tokens == 0 || !allocate(request, hit.blocks(), hit.length() * size, tokens)) {
        return;
      }
      waiting.removeFirst();
      running.add(request);
      request.computed = hit.length() * size;
      scheduled.put(request, tokens);
      budget -= tokens;
    }
  }

  private List<List<Block>> noHits() {
    return Collections.nCopies(groups.size(), List.of());
  }

  /** Gives a request room for its next tokens; false if there is none. */
  private boolean allocate(VllmRequest request, List<List<Block>> hits, int matched, int tokens) {
    int computed = request.computed + matched;
    int end = computed + tokens;
    int needed = 0;
    for (int i = 0; i < groups.size(); i++) {
      groupBlocks.get(i).releaseSkipped(request, computed);
    }
    for (int i = 0; i < groups.size(); i++) {
      if (groupBlocks.get(i).mustWait(hits.get(i))) {
        return false;
      }
      needed += groupBlocks.get(i).needed(request, hits.get(i), computed, end);
    }
    if (needed > blocks.freeCount()) {
      return false;
    }
    if (matched > 0) {
      for (int i = 0; i < groups.size(); i++) {
        groupBlocks.get(i).addHits(request, hits.get(i), computed);
      }
    }
    groupBlocks.forEach(each -> each.allocate(request, end));
    int whole = Math.min(end, request.length()) / size;
    for (int i = 0; i < groups.size(); i++) {
      int first = request.tables.get(i).cached;
      if (first < whole) {
        events.stored(request, i, groupBlocks.get(i).cache(request, whole), first, whole);
      }
    }
    return true;
  }

  /** Tokens of a request in this step. With mamba, a chunk ends where its state can be cached. */
  private int chunk(VllmRequest request, int start, int budget) {
    int tokens = Math.min(request.length() - start, budget);
    int prefillEnd = Math.max(request.promptTokens, request.length() - 1);
    boolean mamba = groups.stream().anyMatch(group -> group.kind() == Kind.MAMBA);
    if (!mamba || start >= prefillEnd) {
      return tokens;
    }
    int end = start + tokens;
    if (end < prefillEnd) {
      int aligned = end / size * size;
      end = aligned > start || size <= options.maxTokensPerStep() ? aligned : end;
    }
    int lastState = request.length() / size * size - (options.eagle() ? size : 0);
    int[] stops = {
      start % size == 0 ? 0 : (start / size + 1) * size,
      lastState,
      request.junction < end ? start + (request.junction - start) / size * size : 0
    };
    int first = end;
    for (int stop : stops) {
      first = stop > start && stop < first ? stop : first;
    }
    return Math.max(first - start, 0);
  }

  private void settle(VllmRequest request, int tokens) {
    request.computed += tokens;
    if (request.computed < request.length()) {
      return;
    }
    request.decode(random);
    if (request.finished()) {
      running.remove(request);
      groupBlocks.forEach(each -> each.release(request));
      finished.add(request.allTokens());
    }
  }

  private void preempt(VllmRequest request) {
    groupBlocks.forEach(each -> each.release(request));
    request.computed = 0;
    waiting.addFirst(request);
    preemptions++;
  }

  /** Preempts all requests, forgets all blocks, and returns the events. */
  List<Object> reset() {
    while (!running.isEmpty()) {
      preempt(running.remove(running.size() - 1));
    }
    blocks.clear();
    return events.take();
  }

  /**
   * vLLM's own answer: blocks at the start of the tokens that need not be computed. The tokens may
   * match as a whole: the rule that a request computes its last token is not in it. With EAGLE one
   * of the blocks is the one that is dropped.
   */
  int lookUp(int[] tokens) {
    return lookUp.find(hashes(tokens), tokens.length / size).length();
  }

  /** vLLM's answer for a request of these tokens, the last of which is always computed. */
  int lookUpOfRequest(int[] tokens) {
    return lookUp.find(hashes(tokens), (tokens.length - 1) / size).length();
  }

  /** Hashes of the whole blocks of some tokens, as in events if read without a sign. */
  long[] hashes(int[] tokens) {
    return VllmRequest.hashes(tokens, size, root);
  }

  /** Whether a group has a block of this hash. */
  boolean holds(int group, long hash) {
    return blocks.find(group, hash) != null;
  }

  /** Tokens of the requests that ended since the last call, each with its answer. */
  List<int[]> takeFinished() {
    List<int[]> taken = List.copyOf(finished);
    finished.clear();
    return taken;
  }

  int unfinished() {
    return waiting.size() + running.size();
  }

  /** Blocks that were cached under a hash that their group had already. */
  int copies() {
    return blocks.copies();
  }

  int evictions() {
    return blocks.evictions();
  }

  int preemptions() {
    return preemptions;
  }

  /** Fails if a physical block is lost or used twice. */
  void check() {
    Map<Block, Integer> users = new HashMap<>();
    for (VllmRequest request : running) {
      for (VllmRequest.Table table : request.tables) {
        table.blocks.stream()
            .filter(block -> !block.isNull())
            .forEach(block -> users.merge(block, 1, Integer::sum));
      }
    }
    blocks.check(users);
  }
}
