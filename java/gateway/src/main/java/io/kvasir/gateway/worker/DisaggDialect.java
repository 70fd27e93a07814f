package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** The protocol by which KV moves from a worker of role prefill to one of role decode. */
public enum DisaggDialect {
  /** vLLM's NixlConnector: prefill, then decode, which pulls the blocks. */
  NIXL(EngineFlavor.VLLM),
  /** vLLM's NixlPushConnector: both at once; prefill pushes the blocks. */
  NIXL_PUSH(EngineFlavor.VLLM),
  /** vLLM's MooncakeConnector: both at once, through a bootstrap server. */
  MOONCAKE(EngineFlavor.VLLM),
  /** SGLang: both at once; they meet in a room of the prefill worker's bootstrap server. */
  BOOTSTRAP(EngineFlavor.SGLANG),
  /** TensorRT-LLM's disaggregated parameters: context first, or generation first. */
  TRTLLM(EngineFlavor.TRTLLM);

  /** Protocols of engines that the gateway does not speak. */
  private static final Set<String> UNSUPPORTED =
      Set.of("moriio", "p2pnccl", "offloading", "lmcache", "ec");

  private final EngineFlavor flavor;

  DisaggDialect(EngineFlavor flavor) {
    this.flavor = flavor;
  }

  /** {@return the name in options} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@return the kind of engine that speaks it} */
  public EngineFlavor flavor() {
    return flavor;
  }

  /** The dialect of an engine whose operator states none. */
  static DisaggDialect of(EngineFlavor flavor) {
    return switch (flavor) {
      case VLLM -> NIXL;
      case SGLANG -> BOOTSTRAP;
      case TRTLLM -> TRTLLM;
    };
  }

  /** The names of the dialects of an engine. */
  static String ids(EngineFlavor flavor) {
    return list(Arrays.stream(values()).filter(each -> each.flavor == flavor).toList());
  }

  /** The names of all dialects. */
  static String ids() {
    return list(List.of(values()));
  }

  private static String list(List<DisaggDialect> dialects) {
    return dialects.stream().map(DisaggDialect::id).collect(Collectors.joining(", "));
  }

  /** Whether a name is that of a protocol that engines have and the gateway does not. */
  static boolean isUnsupported(String name) {
    return UNSUPPORTED.contains(name.toLowerCase(Locale.ROOT).replaceAll("[-_]", ""));
  }
}
