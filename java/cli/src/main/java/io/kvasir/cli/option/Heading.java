package io.kvasir.cli.option;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The heading in help of the options that a class declares, and their block in files. Classes may
 * share both. A field that picocli reads as an option can have another block than its class.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD})
public @interface Heading {

  /** Heading of options that are about devices and the size of KV. */
  String DEVICES = "Devices and KV memory";

  /** Heading of options that are about a fleet. */
  String FLEET = "Fleet of workers";

  /** Heading of options that are about a gateway and its workers. */
  String GATEWAY = "Gateway and workers";

  /** Heading of options that are about embedded ranks, or a model in a file. */
  String MODEL = "Embedded ranks, or a model in a file";

  /** Heading of options that are about several processes. */
  String PROCESSES = "Several processes";

  /** Heading of options of a gateway's limits. */
  String LIMITS = "Limits and timeouts";

  /** Heading of options that many commands have. */
  String GENERAL = "General";

  /** Heading of options that are about the requests of a replay. */
  String WORKLOAD = "Workload";

  /** {@return the heading, without a colon} */
  String value();

  /** {@return the block of a configuration file in which the options may stand} */
  Block block() default Block.TOP;
}
