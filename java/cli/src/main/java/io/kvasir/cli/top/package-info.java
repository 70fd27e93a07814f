/**
 * The screen of {@code kvasir top}. A {@link io.kvasir.cli.top.Look} has what the admin port of a
 * gateway answered, {@link io.kvasir.cli.top.Rates} what has changed since the look before, and
 * {@link io.kvasir.cli.top.Screen} makes lines of both. It must not know how a gateway is asked, or
 * what a terminal is.
 */
@NullMarked
package io.kvasir.cli.top;

import org.jspecify.annotations.NullMarked;
