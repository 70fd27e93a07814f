package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.simulator.replay.EngineDelays;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.replay.Sight;
import io.kvasir.timing.StepOverheads;
import io.kvasir.timing.StepTiming;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Writes the settings of a replay, except those at the top of its report: router, workload, ranks
 * and seed. The field names match the option names.
 */
final class SettingsJson {

  private static final double BYTES_PER_GB = 1e9;

  private SettingsJson() {}

  static void write(ReplayReport report, JsonGenerator json) throws IOException {
    ReplaySettings settings = report.result().settings();
    json.writeObjectFieldStart("config");
    for (Map.Entry<String, Object> parameter : report.workload().parameters().entrySet()) {
      json.writePOJOField(parameter.getKey(), parameter.getValue());
    }
    writeMode(json, settings.mode());
    json.writeNumberField("poolTokens", settings.pool().tokens());
    json.writeNumberField("tokensPerBlock", settings.pool().tokensPerBlock());
    json.writeStringField("hashFormat", settings.pool().hashFormat().id());
    writeGroups(settings.pool().groups(), json);
    writeExecutor(settings.executor(), json);
    json.writeStringField("waitingQueuePolicy", settings.routing().queuePolicy().id());
    writeRouting(settings.routing().config(), json);
    writeTiming("stepTiming", settings.timing(), json);
    writeEngines(settings, json);
    writeSight(settings.sight(), json);
    json.writeEndObject();
  }

  /** The cache groups of a hybrid model; nothing for other models. */
  static void writeGroups(List<PoolGroup> further, JsonGenerator json) throws IOException {
    if (!further.isEmpty()) {
      json.writeArrayFieldStart("groups");
      json.writeString(PoolGroup.FULL);
      for (PoolGroup group : further) {
        json.writeString(group.id());
      }
      json.writeEndArray();
    }
  }

  /** What engines do that routers do not expect; nothing if there is nothing. */
  private static void writeEngines(ReplaySettings settings, JsonGenerator json) throws IOException {
    if (!settings.engines().timing().equals(settings.timing())) {
      writeTiming("engineTiming", settings.engines().timing(), json);
    }
    if (!settings.engines().faults().faults().isEmpty()) {
      json.writeArrayFieldStart("engineFaults");
      for (EngineDelays.Fault fault : settings.engines().faults().faults()) {
        json.writeStartObject();
        json.writeNumberField("rank", fault.rank());
        if (Double.isInfinite(fault.factor())) {
          json.writeBooleanField("hang", true);
        } else {
          json.writeNumberField("factor", fault.factor());
        }
        json.writeNumberField("fromSeconds", fault.fromSeconds());
        json.writeNumberField("toSeconds", fault.toSeconds());
        if (fault.everySeconds() > 0) {
          json.writeNumberField("everySeconds", fault.everySeconds());
        }
        json.writeEndObject();
      }
      json.writeEndArray();
    }
  }

  /** What routers do not see; nothing if they see everything. */
  static void writeSight(Sight sight, JsonGenerator json) throws IOException {
    if (sight.foreignLoad() > 0) {
      json.writeNumberField("foreignLoad", sight.foreignLoad());
    }
    if (sight.forgottenIds() > 0) {
      json.writeNumberField("forgetIds", sight.forgottenIds());
    }
    if (sight.askedTokens() > 0) {
      json.writeStringField("answers", "unknown:" + sight.askedTokens());
    }
  }

  private static void writeTiming(String name, StepTiming timing, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(name);
    json.writeNumberField("prefillQuadratic", timing.prefillQuadratic());
    json.writeNumberField("prefillLinear", timing.prefillLinear());
    json.writeNumberField("prefillConstantMs", timing.prefillConstantMs());
    json.writeNumberField("decodeQuadratic", timing.decodeQuadratic());
    json.writeNumberField("decodeLinear", timing.decodeLinear());
    json.writeNumberField("decodeConstantMs", timing.decodeConstantMs());
    json.writeNumberField("decodeFloorMs", timing.decodeFloorMs());
    json.writeNumberField("decodeKvTokens", timing.decodeKvTokens());
    StepOverheads overheads = timing.overheads();
    if (!overheads.equals(StepOverheads.NONE)) {
      json.writeNumberField("decodeRequestMs", overheads.decodeRequestMs());
      json.writeNumberField("decodeGraphMultiple", overheads.decodeGraphMultiple());
      json.writeNumberField("allReduceMs", overheads.allReduceMs());
      json.writeNumberField("allReduceTokenMs", overheads.allReduceTokenMs());
      json.writeNumberField("mixedOverlap", overheads.mixedOverlap());
    }
    json.writeEndObject();
  }

  private static void writeExecutor(ExecutorOptions executor, JsonGenerator json)
      throws IOException {
    json.writeNumberField("maxNumTokens", executor.tokenBudget());
    json.writeNumberField("maxActiveRequests", executor.maxActiveRequests());
    json.writeStringField("capacitySchedulerPolicy", executor.capacityPolicy().id());
    json.writeBooleanField("enableBlockReuse", executor.enableBlockReuse());
  }

  private static void writeRouting(AttentionDpConfig config, JsonGenerator json)
      throws IOException {
    KvCacheRoutingOptions routing = config.kvCacheRouting();
    json.writeNumberField("kvCacheRoutingLoadBalanceWeight", routing.loadBalanceWeight());
    json.writeNumberField("kvCacheRoutingMatchRateThreshold", routing.matchRateThreshold());
    json.writeNumberField("kvCacheRoutingFairShareMultiplier", routing.fairShareMultiplier());
    json.writeBooleanField("kvCacheRoutingColdStartWarmup", routing.coldStartWarmup());
    json.writeBooleanField("kvCacheRoutingAccountForInTransfer", routing.accountForInTransfer());
    json.writeBooleanField("kvCacheRoutingFirstTurnRoundRobin", routing.firstTurnRoundRobin());
    json.writeNumberField("kvCacheRoutingMaxSessions", config.maxSessions());
    json.writeStringField("kvCacheRoutingNewConvPlacement", config.newConversationPlacement().id());
    json.writeBooleanField("enableKvCacheAwareRouting", config.enableKvCacheAwareRouting());
    json.writeBooleanField("kvCacheRoutingConversationAffinity", config.conversationAffinity());
    json.writeBooleanField("dkvTokenLoad", config.dkvTokenLoad());
    if (!config.projectedOmittedTerm().isEmpty()) {
      json.writeStringField("projectedOmittedTerm", config.projectedOmittedTerm());
    }
    json.writeBooleanField("enableBalance", config.enableBalance());
    json.writeNumberField("timeoutIters", config.timeoutIters());
    json.writeNumberField("batchingWaitIters", config.batchingWaitIters());
    json.writeNumberField("adpBalanceMinGenerationRequests", config.minGenerationRequests());
    json.writeNumberField("adpBalanceLowOccupancyTimeoutIters", config.lowOccupancyTimeoutIters());
  }

  private static void writeMode(JsonGenerator json, ReplayMode mode) throws IOException {
    json.writeStringField("mode", mode.id());
    if (mode instanceof ReplayMode.Apart apart) {
      json.writeNumberField("transferBandwidth", apart.transfer().bytesPerSecond() / BYTES_PER_GB);
      json.writeNumberField("kvBytesPerToken", apart.transfer().bytesPerToken());
    }
    if (mode instanceof ReplayMode.Context context) {
      json.writeNumberField(
          "transferBandwidth", context.transfer().bytesPerSecond() / BYTES_PER_GB);
      json.writeNumberField("kvBytesPerToken", context.transfer().bytesPerToken());
      json.writeNumberField("generationMsPerToken", context.generationMsPerToken());
    }
  }
}
