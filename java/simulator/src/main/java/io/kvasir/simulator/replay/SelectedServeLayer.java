package io.kvasir.simulator.replay;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.selection.InstanceLoad;
import io.kvasir.simulator.selection.InstanceSelector;
import io.kvasir.simulator.selection.SelectorSettings;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A selector over instances of one rank. Answers stream through it, so it knows of tokens and ends
 * at once; of blocks and loads it learns when their delay is over.
 *
 * <p>Confined to the thread that drives the replay. Owns the selector.
 */
final class SelectedServeLayer implements ServeLayer {

  private final SelectorSettings settings;
  private final InstanceSelector selector;
  private final DelayedEvents news = new DelayedEvents();
  private final Long2IntOpenHashMap prefilling = new Long2IntOpenHashMap();
  private final int[] prompts;
  private final Map<String, Long> decisions = new TreeMap<>();

  SelectedServeLayer(SelectorSettings settings, ReplaySettings each) {
    if (each.ranks() != 1) {
      throw new IllegalArgumentException(
          "a selector needs instances of 1 rank, not " + each.ranks());
    }
    this.settings = settings;
    this.prompts = new int[settings.instances()];
    prefilling.defaultReturnValue(-1);
    this.selector = settings.kind().create(settings, each.hashFormat(), each.tokensPerBlock());
  }

  @Override
  public int instances() {
    return settings.instances();
  }

  @Override
  public boolean followsBlocks() {
    return settings.kind().followsBlocks();
  }

  @Override
  public Served serve(HashedRequest request, long nowNs) {
    news.tellUntil(nowNs);
    int chosen = selector.select(request, nowNs);
    decisions.merge(
        prompts[chosen]++ == 0 ? ServeResult.FREE : ServeResult.BEHIND_PROMPTS, 1L, Long::sum);
    prefilling.put(request.request().id(), chosen);
    return new Served(chosen, request);
  }

  @Override
  public void onToken(Request request, long atNs) {
    news.send(
        atNs,
        () -> {
          endPrompt(request);
          selector.onToken(request, atNs);
        });
  }

  @Override
  public void onEnded(Request request, boolean success, long atNs) {
    news.send(
        atNs,
        () -> {
          endPrompt(request);
          selector.onEnded(request, atNs);
        });
    news.tellUntil(atNs);
  }

  private void endPrompt(Request request) {
    int instance = prefilling.remove(request.id());
    if (instance >= 0) {
      prompts[instance]--;
    }
  }

  @Override
  public void onIterated(int instance, IteratedWorker ran, long endNs) {
    if (settings.kind().pollsLoads()) {
      InstanceLoad load = ran.load();
      news.send(endNs, () -> selector.onLoad(instance, load, endNs));
    }
    if (followsBlocks()) {
      List<BlockEvent> events = new ArrayList<>();
      ran.drainBlocks((rank, event) -> events.add(event));
      long knownNs = endNs + settings.eventDelayNs();
      news.send(knownNs, () -> selector.onEvents(instance, events, knownNs));
    }
  }

  @Override
  public ServeResult result() {
    return new ServeResult(
        settings.instances(),
        settings.kind().id(),
        Map.of(),
        followsBlocks(),
        settings.eventDelayNs(),
        decisions);
  }

  @Override
  public void close() {
    selector.close();
  }
}
