/** Tests of the embedded ranks. */
package io.kvasir.embedded;
