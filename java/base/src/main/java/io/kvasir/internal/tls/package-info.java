/** Certificates and private keys for TLS. */
@NullMarked
package io.kvasir.internal.tls;

import org.jspecify.annotations.NullMarked;
