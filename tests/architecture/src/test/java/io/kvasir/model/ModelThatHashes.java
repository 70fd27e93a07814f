package io.kvasir.model;

import io.kvasir.hash.BlockHashes;

/**
 * Wrong on purpose: the model imports another package of ours.
 *
 * @param hashes what belongs downstream
 */
public record ModelThatHashes(BlockHashes hashes) {}
