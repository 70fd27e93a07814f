package io.kvasir.fleet.router;

/**
 * When a rank is expected to give the first token of a request: milliseconds from its placement
 * until the token reaches the router.
 *
 * <p>Immutable.
 *
 * @param expectedMs the time by the policy's model
 * @param lowMs lower end of the interval around it that has covered 90 % of the recent first
 *     tokens; a guess until enough answers have streamed
 * @param highMs its upper end
 * @param likelihood how likely the request is to meet its targets, 0 to 1; 1 if it has none
 */
public record FirstTokenForecast(
    double expectedMs, double lowMs, double highMs, double likelihood) {}
