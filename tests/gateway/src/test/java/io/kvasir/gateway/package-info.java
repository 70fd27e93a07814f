/** Tests of the gateway. */
package io.kvasir.gateway;
