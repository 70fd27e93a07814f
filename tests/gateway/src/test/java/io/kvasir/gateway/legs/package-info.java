/**
 * Stand-ins of the engines' protocols for prefill and decode apart, written from the specification
 * alone. They share no class with the gateway or with the stand-ins of {@code kvasir engine}.
 */
package io.kvasir.gateway.legs;
