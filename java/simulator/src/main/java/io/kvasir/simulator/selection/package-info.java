/**
 * Who chooses the instance for a request in an evaluation, and what each of them knows: {@link
 * io.kvasir.simulator.selection.SelectorKind} names the {@link
 * io.kvasir.simulator.selection.InstanceSelector}s that are compared.
 *
 * <p>They are told what happens when they can know it, by whoever owns the clock. The package knows
 * nothing of replays or of how results are shown.
 */
package io.kvasir.simulator.selection;
