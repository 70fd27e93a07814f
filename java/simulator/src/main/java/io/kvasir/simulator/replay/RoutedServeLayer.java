package io.kvasir.simulator.replay;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.trtllm.DisaggParams;
import io.kvasir.fleet.router.trtllm.KvCacheAwareRouter;
import io.kvasir.fleet.router.trtllm.ServeChoice;
import io.kvasir.fleet.router.trtllm.ServePorts;
import io.kvasir.fleet.router.trtllm.ServeReason;
import io.kvasir.fleet.router.trtllm.ServeRequest;
import io.kvasir.fleet.router.trtllm.ServeRouter;
import io.kvasir.fleet.router.trtllm.ServerDescription;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A serve router over instances named i0, i1 and so on. It sees what it would see in front of real
 * ones: a request's tokens and conversation, the ends of requests, and the instances' block events
 * some time after they happened.
 *
 * <p>What the router makes of a conversation goes on to the rank. Confined to the thread that
 * drives the replay.
 */
final class RoutedServeLayer implements ServeLayer {

  private final ServeSettings settings;
  private final ServeRouter router;
  private final Map<String, Integer> instances = new LinkedHashMap<>();
  private final List<WorkerBlocks> blocks = new ArrayList<>();
  private final List<Deque<News>> news = new ArrayList<>();
  private final Long2ObjectOpenHashMap<ServeChoice> inFlight = new Long2ObjectOpenHashMap<>();
  private final Map<ServeReason, Long> decisions = new EnumMap<>(ServeReason.class);

  /** Events on their way to the router. */
  private record News(long dueNs, List<BlockEvent> events) {}

  RoutedServeLayer(ServeSettings settings, ReplaySettings each) {
    if (settings.followsBlocks() && each.hashFormat() != ServeSettings.BLOCK_NAMES) {
      throw new IllegalArgumentException(
          settings.router().id()
              + " needs blocks named "
              + ServeSettings.BLOCK_NAMES.id()
              + ", not "
              + each.hashFormat().id());
    }
    this.settings = settings;
    for (int instance = 0; instance < settings.instances(); instance++) {
      instances.put(name(instance), instance);
      blocks.add(new WorkerBlocks(each.ranks()));
      news.add(new ArrayDeque<>());
    }
    List<String> servers = List.copyOf(instances.keySet());
    this.router = settings.router().create(servers, settings.args(), ServePorts.NONE);
    if (router instanceof KvCacheAwareRouter follows) {
      ServerDescription description =
          new ServerDescription(each.tokensPerBlock(), TrtllmHash.V1_BLOCK_KEY.algorithm());
      servers.forEach(server -> follows.prepare(server, description));
    }
  }

  private static String name(int instance) {
    return "i" + instance;
  }

  @Override
  public int instances() {
    return instances.size();
  }

  @Override
  public boolean followsBlocks() {
    return settings.followsBlocks();
  }

  @Override
  public Served serve(HashedRequest hashed, long nowNs) {
    deliverNews(nowNs);
    Request request = hashed.request();
    ServeRequest asked =
        ServeRequest.of(Prompt.of(request.tokens()))
            .withConversation(request.conversationId())
            .withScope(request.scope());
    ServeChoice choice = router.next(asked, null);
    inFlight.put(request.id(), choice);
    decisions.merge(choice.explanation().reason(), 1L, Long::sum);
    DisaggParams params = DisaggParams.of(request).withConversation(asked, choice);
    Request atRank = params.applyTo(request.toBuilder()).build();
    return new Served(instances.get(choice.server()), new HashedRequest(atRank, hashed.hashes()));
  }

  private void deliverNews(long nowNs) {
    if (router instanceof KvCacheAwareRouter follows) {
      for (int instance = 0; instance < news.size(); instance++) {
        Deque<News> due = news.get(instance);
        while (!due.isEmpty() && due.peek().dueNs() <= nowNs) {
          follows.onEvents(name(instance), due.remove().events());
        }
      }
    }
  }

  @Override
  public void onEnded(Request request, boolean success, long atNs) {
    router.finish(inFlight.remove(request.id()), success);
  }

  @Override
  public void onIterated(int instance, IteratedWorker ran, long endNs) {
    if (followsBlocks()) {
      WorkerBlocks held = blocks.get(instance);
      ran.drainBlocks(held);
      onBlocks(instance, held.take(), endNs);
    }
  }

  /** Takes note of what an instance came to hold at a moment, never before an earlier one of it. */
  void onBlocks(int instance, List<BlockEvent> events, long nowNs) {
    if (!events.isEmpty()) {
      news.get(instance).add(new News(nowNs + settings.eventDelayNs(), events));
    }
  }

  @Override
  public ServeResult result() {
    Map<String, Long> byName = new LinkedHashMap<>();
    decisions.forEach((reason, count) -> byName.put(reason.id(), count));
    return new ServeResult(
        settings.instances(),
        settings.router().id(),
        settings.args(),
        settings.followsBlocks(),
        settings.eventDelayNs(),
        byName);
  }
}
