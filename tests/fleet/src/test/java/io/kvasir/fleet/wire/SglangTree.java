package io.kvasir.fleet.wire;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * SGLang's radix tree, with the events that it publishes: a store for each page of a new node, a
 * removal for each page of an evicted one. A split has no event.
 *
 * <p>With a window, as in SGLang's {@code SWARadixCache}, the pages of the window's layers are
 * freed apart. An inner node then keeps those of full attention and no event says so. A prefix is
 * reused up to the end of a node if since the last such node, or from the beginning on, no part of
 * the window is missing.
 */
final class SglangTree {

  private final int size;
  private final int capacity;
  private final int window;
  private final int windowCapacity;
  private final Node root = new Node(null, List.of(), 0);
  private final List<Object> events = new ArrayList<>();
  private int pages;
  private int windowPages;
  private long clock;

  private static final class Node {
    private Node parent;
    private List<List<Integer>> key;

    /** The hash of the page before the first. */
    private final long before;

    private final Map<List<Integer>, Node> children = new HashMap<>();
    private boolean windowFreed;
    private long used;

    Node(Node parent, List<List<Integer>> key, long before) {
      this.parent = parent;
      this.key = key;
      this.before = before;
    }
  }

  /**
   * An empty tree.
   *
   * @param size tokens of a page
   * @param capacity pages that it keeps between requests
   * @param window tokens of a window; 0 for full attention in all layers
   * @param windowCapacity pages of the window's layers that it keeps between requests
   */
  SglangTree(int size, int capacity, int window, int windowCapacity) {
    this.size = size;
    this.capacity = capacity;
    this.window = window;
    this.windowCapacity = windowCapacity;
  }

  /** Caches a finished request, then evicts what is too much. */
  void insert(int[] tokens) {
    clock++;
    List<List<Integer>> rest = pages(tokens);
    Node node = root;
    while (!rest.isEmpty()) {
      Node child = node.children.get(rest.get(0));
      if (child == null) {
        child = new Node(node, rest, last(node));
        node.children.put(rest.get(0), child);
        stored(child);
        pages += rest.size();
        windowPages += rest.size();
        rest = List.of();
      } else {
        int common = common(child.key, rest);
        child = common < child.key.size() ? split(child, common) : child;
        if (child.windowFreed) {
          child.windowFreed = false; // the request computed it again
          windowPages += common;
        }
        rest = rest.subList(common, rest.size());
      }
      child.used = clock;
      node = child;
    }
    evict();
  }

  /** {@return how many pages a request would reuse} */
  int match(int[] tokens) {
    List<List<Integer>> rest = pages(tokens);
    Node node = root;
    int matched = 0;
    int usable = 0;
    int sinceGap = Integer.MAX_VALUE / 2; // nothing is missing from the beginning on
    while (!rest.isEmpty()) {
      Node child = node.children.get(rest.get(0));
      if (child == null) {
        break;
      }
      int common = common(child.key, rest);
      matched += common;
      sinceGap = child.windowFreed ? 0 : sinceGap + common * size;
      usable = sinceGap >= window ? matched : usable;
      if (common < child.key.size()) {
        break;
      }
      rest = rest.subList(common, rest.size());
      node = child;
    }
    return usable;
  }

  /** Drops everything. */
  void reset() {
    root.children.clear();
    pages = 0;
    windowPages = 0;
    events.add(Packed.event("AllBlocksCleared"));
  }

  /** The events since the last call. */
  List<Object> take() {
    List<Object> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  private List<List<Integer>> pages(int[] tokens) {
    List<List<Integer>> all = new ArrayList<>();
    for (int from = 0; from + size <= tokens.length; from += size) {
      all.add(Arrays.stream(tokens, from, from + size).boxed().toList());
    }
    return all;
  }

  private static int common(List<List<Integer>> a, List<List<Integer>> b) {
    int i = 0;
    while (i < a.size() && i < b.size() && a.get(i).equals(b.get(i))) {
      i++;
    }
    return i;
  }

  /** Makes a node of the first pages, and returns it. */
  private Node split(Node child, int at) {
    Node upper = new Node(child.parent, child.key.subList(0, at), child.before);
    upper.windowFreed = child.windowFreed;
    upper.used = child.used;
    Node lower = new Node(upper, child.key.subList(at, child.key.size()), last(upper));
    lower.windowFreed = child.windowFreed;
    lower.used = child.used;
    lower.children.putAll(child.children);
    lower.children.values().forEach(each -> each.parent = lower);
    upper.children.put(lower.key.get(0), lower);
    upper.parent.children.put(upper.key.get(0), upper);
    return upper;
  }

  private void evict() {
    while (window > 0 && windowPages > windowCapacity) {
      Node oldest = oldest(false);
      if (oldest.children.isEmpty()) {
        remove(oldest);
      } else {
        oldest.windowFreed = true;
        windowPages -= oldest.key.size();
      }
    }
    while (pages > capacity) {
      remove(oldest(true));
    }
  }

  private Node oldest(boolean leaf) {
    List<Node> found = new ArrayList<>();
    Deque<Node> open = new ArrayDeque<>(root.children.values());
    while (!open.isEmpty()) {
      Node node = open.pop();
      open.addAll(node.children.values());
      if (leaf ? node.children.isEmpty() : !node.windowFreed) {
        found.add(node);
      }
    }
    return found.stream().min(Comparator.comparingLong(node -> node.used)).orElseThrow();
  }

  /** Removes a leaf, and the nodes before it that lack the window and have become leaves. */
  private void remove(Node leaf) {
    Node node = leaf;
    do {
      long hash = node.before;
      for (List<Integer> page : node.key) {
        hash = hash(hash, page);
        events.add(Packed.removed(List.of(hash), "medium", "GPU"));
      }
      pages -= node.key.size();
      windowPages -= node.windowFreed ? 0 : node.key.size();
      node.parent.children.remove(node.key.get(0));
      node = node.parent;
    } while (node != root && node.windowFreed && node.children.isEmpty());
  }

  private void stored(Node node) {
    long parent = node.before;
    for (List<Integer> page : node.key) {
      long hash = hash(parent, page);
      events.add(
          Packed.stored(
              List.of(hash),
              parent == 0 ? null : parent,
              page,
              size,
              "lora_id",
              null,
              "medium",
              "GPU"));
      parent = hash;
    }
  }

  private static long last(Node node) {
    long hash = node.before;
    for (List<Integer> page : node.key) {
      hash = hash(hash, page);
    }
    return hash;
  }

  /** SGLang's are signed too; the function does not matter. */
  private static long hash(long parent, List<Integer> page) {
    long hash = parent;
    for (int token : page) {
      hash = (hash ^ token) * 0x9E37_79B9_7F4A_7C15L;
      hash ^= hash >>> 29;
    }
    return hash == 0 ? 1 : hash;
  }
}
