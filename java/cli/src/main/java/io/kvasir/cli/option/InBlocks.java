package io.kvasir.cli.option;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A command in whose file of {@code --config} options may stand in the blocks of {@link Block}.
 * Without it, only TensorRT-LLM's {@code attention_dp_config} is a block.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface InBlocks {}
