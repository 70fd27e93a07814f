package io.kvasir.cli.option;

import io.kvasir.engine.adp.AttentionDpConfig;
import java.lang.reflect.Field;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A block of a configuration file. The class that declares an option, or the declaration itself,
 * says in which block the option may stand; {@link InBlocks} says which commands have them.
 */
public enum Block {

  /** No block. */
  TOP("", "Address, port, paths, threads and start."),

  /** Served models. */
  MODELS("models", "Models: their tokenizers, or the file of one that llama.cpp serves."),

  /** The list of workers. */
  WORKERS("workers", "The engines, as a list: another name of the key worker."),

  /** Routers of a fleet. */
  ROUTERS("routers", "Routers among the workers, their shadows, and other gateways."),

  /** Workers with roles. */
  DISAGG("disagg", "Engines that serve prompts and answers apart."),

  /** Limits. */
  LIMITS("limits", "Limits of requests, clients, attempts and times."),

  /** Health of workers. */
  HEALTH("health", "Checks of the workers, and rest for those that fail."),

  /** Keys of clients. */
  KEYS("keys", "API keys of clients."),

  /** TLS of the public port. */
  TLS("tls", "TLS of the public port."),

  /** Pages in browsers. */
  CORS("cors", "Pages in browsers that may use the public port."),

  /** The admin port. */
  ADMIN("admin", "The port of metrics and operators, with its TLS."),

  /** Logs, traces and recordings. */
  OBSERVABILITY("observability", "The access log, traces, recordings, and headers that explain."),

  /** Ranks in the process. */
  EMBEDDED("embedded", "Ranks of this process: their number, pools and steps."),

  /** TensorRT-LLM's block, which all commands have. */
  ATTENTION_DP("attention_dp_config", "TensorRT-LLM's block of this name.");

  private final String key;
  private final String description;

  Block(String key, String description) {
    this.key = key;
    this.description = description;
  }

  /** {@return its key in the file; empty for none} */
  public String key() {
    return key;
  }

  /** {@return what is in it, as a sentence} */
  public String description() {
    return description;
  }

  /** {@return whether it is no mapping, but the list of the only option in it} */
  public boolean isList() {
    return this == WORKERS;
  }

  /** The block of an option. */
  static Block of(OptionSpec option) {
    if (AttentionDpConfig.keys().contains(Settings.key(option.longestName()))) {
      return ATTENTION_DP;
    }
    if (option.userObject() instanceof DeclaredValues values) {
      return values.block();
    }
    if (option.userObject() instanceof Field field) {
      Heading own = field.getAnnotation(Heading.class);
      return own == null ? of(field.getDeclaringClass()) : own.block();
    }
    return TOP;
  }

  /** The block of the options that a class declares, unless they say another one. */
  static Block of(Class<?> declaring) {
    Heading heading = declaring.getAnnotation(Heading.class);
    return heading == null ? TOP : heading.block();
  }
}
