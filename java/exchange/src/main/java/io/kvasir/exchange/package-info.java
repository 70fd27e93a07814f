/**
 * The ports of the data path: what a client's exchange and an upstream's reply look like to the
 * code between them. The HTTP library stays behind these ports.
 */
@NullMarked
package io.kvasir.exchange;

import org.jspecify.annotations.NullMarked;
