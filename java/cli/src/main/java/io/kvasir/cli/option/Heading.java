package io.kvasir.cli.option;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The heading in help of the options that a class declares. Classes may share one. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
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

  /** Heading of options that many commands have. */
  String GENERAL = "General";

  /** Heading of options that are about the requests of a replay. */
  String WORKLOAD = "Workload";

  /** {@return the heading, without a colon} */
  String value();
}
