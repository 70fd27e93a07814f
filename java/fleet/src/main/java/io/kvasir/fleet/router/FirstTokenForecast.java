package io.kvasir.fleet.router;

/**
 * When a rank is expected to give the first token of a request, in milliseconds from now, without
 * the way there and back.
 *
 * <p>Immutable.
 *
 * @param expectedMs the time by the policy's model
 * @param lowMs lower end of the interval that 90 % of the recent first tokens fell into
 * @param highMs its upper end
 */
public record FirstTokenForecast(double expectedMs, double lowMs, double highMs) {}
