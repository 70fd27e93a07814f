/**
 * Requests whose prompt one worker computes and whose answer another one generates: what the router
 * of each side sees of them, and when one worker serves the whole request instead.
 */
@NullMarked
package io.kvasir.fleet.router.legs;

import org.jspecify.annotations.NullMarked;
