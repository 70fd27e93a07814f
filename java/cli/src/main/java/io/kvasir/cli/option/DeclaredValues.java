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
 */
record DeclaredValues(
    Class<?> declaring, @Nullable Number least, @Nullable Number most, boolean closed) {}
