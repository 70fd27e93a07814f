/** Tests of how prompts move between workers. */
package io.kvasir.gateway.disagg;
