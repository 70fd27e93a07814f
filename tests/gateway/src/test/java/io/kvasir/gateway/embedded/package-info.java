/** Tests of the embedded ranks. */
package io.kvasir.gateway.embedded;
