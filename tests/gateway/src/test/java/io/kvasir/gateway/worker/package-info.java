/** Tests of what is known of engines. */
package io.kvasir.gateway.worker;
