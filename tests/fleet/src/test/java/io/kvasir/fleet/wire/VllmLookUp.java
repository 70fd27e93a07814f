package io.kvasir.fleet.wire;

import io.kvasir.fleet.wire.VllmCache.Group;
import io.kvasir.fleet.wire.VllmCache.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The longest usable prefix over all groups, by vLLM's own search.
 *
 * <p>Groups of one kind and window are searched together. Each kind takes the length found so far
 * and shortens it; the round is repeated until no kind does. Full attention comes first and is
 * searched once, because a prefix of its match is a match. With EAGLE the attention groups match
 * one block more and drop it, once for each length; draft models have no mamba layers, so a mamba
 * group drops nothing.
 */
final class VllmLookUp {

  /**
   * What was found.
   *
   * @param blocks of each group, one for each position; the null block where none is needed
   * @param length in blocks
   * @param longest the longest length that any group allowed, in blocks
   */
  record Hit(List<List<VllmBlocks.Block>> blocks, int length, int longest) {}

  /** Positions that a kind needs. */
  private record Span(int first, int end) {}

  private record Kindred(Group group, List<Integer> indexes) {}

  private final VllmBlocks blocks;
  private final List<Kindred> kindreds;
  private final int groups;
  private final int size;
  private final boolean eagle;

  VllmLookUp(VllmBlocks blocks, List<Group> groups, int size, boolean eagle) {
    this.blocks = blocks;
    this.groups = groups.size();
    this.size = size;
    this.eagle = eagle;
    Map<Group, Kindred> byGroup = new LinkedHashMap<>();
    for (int i = 0; i < groups.size(); i++) {
      byGroup
          .computeIfAbsent(groups.get(i), group -> new Kindred(group, new ArrayList<>()))
          .indexes()
          .add(i);
    }
    kindreds = new ArrayList<>(byGroup.values());
    kindreds.sort(Comparator.comparing(each -> each.group().kind() != Kind.FULL));
  }

  /**
   * Searches.
   *
   * @param max most blocks that may be matched, the one that EAGLE drops included
   */
  Hit find(long[] hashes, int max) {
    List<List<VllmBlocks.Block>> found = new ArrayList<>();
    for (int i = 0; i < groups; i++) {
      found.add(List.of());
    }
    boolean simple = kindreds.size() == 2 && kindreds.get(0).group().kind() == Kind.FULL;
    Set<Kindred> dropped = new HashSet<>();
    int full = -1;
    int longest = 0;
    int length = max;
    while (true) {
      int current = length;
      for (Kindred each : kindreds) {
        if (each.group().kind() == Kind.FULL && full >= 0) {
          current = Math.min(current, full);
          continue;
        }
        boolean drop = eagle && !dropped.contains(each);
        boolean peek = drop && each.group().kind() != Kind.MAMBA;
        int end = search(each, hashes, peek ? Math.min(current + 1, max) : current, drop, found);
        if (drop) {
          dropped.add(each);
        } else if (end < current) {
          dropped.clear();
        }
        full = each.group().kind() == Kind.FULL ? end : full;
        current = end;
        longest = Math.max(longest, current);
      }
      boolean settled = current >= length || simple;
      length = Math.min(current, length);
      if (settled) {
        break;
      }
    }
    int end = length;
    found.replaceAll(each -> each.size() > end ? each.subList(0, end) : each);
    return new Hit(found, length, longest);
  }

  /** Searches one kind, puts its blocks into {@code found}, and returns the length. */
  private int search(
      Kindred kindred, long[] hashes, int max, boolean drop, List<List<VllmBlocks.Block>> found) {
    Span span =
        switch (kindred.group().kind()) {
          case FULL -> fromStart(kindred, hashes, max);
          case WINDOW -> window(kindred, hashes, max, drop);
          case MAMBA -> lastState(kindred, hashes, max);
        };
    boolean dropped = drop && kindred.group().kind() != Kind.MAMBA && span.end() > 0;
    int end = dropped ? span.end() - 1 : span.end();
    for (int index : kindred.indexes()) {
      List<VllmBlocks.Block> row = new ArrayList<>();
      for (int i = 0; i < end; i++) {
        VllmBlocks.Block block = i < span.first() ? null : blocks.find(index, hashes[i]);
        row.add(block == null ? blocks.nullBlock() : block);
      }
      found.set(index, row);
    }
    return end;
  }

  private Span fromStart(Kindred kindred, long[] hashes, int max) {
    int end = 0;
    while (end < max && holds(kindred, hashes[end])) {
      end++;
    }
    return new Span(0, end);
  }

  /** The last run that covers a window, or else the run at the start. */
  private Span window(Kindred kindred, long[] hashes, int max, boolean drop) {
    int need = windowBlocks(kindred.group().window(), size) + (drop ? 1 : 0);
    int run = 0;
    for (int i = max - 1; i >= 0; i--) {
      run = holds(kindred, hashes[i]) ? run + 1 : 0;
      if (run > 0 && run >= need) {
        return new Span(i, i + run);
      }
    }
    return new Span(0, run);
  }

  private Span lastState(Kindred kindred, long[] hashes, int max) {
    for (int i = max - 1; i >= 0; i--) {
      if (holds(kindred, hashes[i])) {
        return new Span(i, i + 1);
      }
    }
    return new Span(0, 0);
  }

  private boolean holds(Kindred kindred, long hash) {
    return kindred.indexes().stream().allMatch(index -> blocks.find(index, hash) != null);
  }

  /** Blocks before a position that a window needs: the token at the position is in it too. */
  static int windowBlocks(int window, int size) {
    return (window - 1 + size - 1) / size;
  }
}
