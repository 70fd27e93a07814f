package io.kvasir.cli.option;

import org.jspecify.annotations.Nullable;

/**
 * The class that declares an option, and the values that the option allows. Immutable.
 *
 * @param declaring the class
 * @param least the smallest number: a Long of integers, a Double of others; null if values are no
 *     numbers, or the range depends on other options
 * @param most the largest number likewise
 * @param closed whether only the values for completion are allowed
 * @param block the block of a configuration file in which the option may stand
 */
record DeclaredValues(
    Class<?> declaring,
    @Nullable Number least,
    @Nullable Number most,
    boolean closed,
    Block block) {}
