/** Which worker serves a request: workers and their health, fleets by model, retries, admission. */
@NullMarked
package io.kvasir.gateway.route;

import org.jspecify.annotations.NullMarked;
