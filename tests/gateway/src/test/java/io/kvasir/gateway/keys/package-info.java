/** Tests of the way of one request. */
package io.kvasir.gateway.keys;
