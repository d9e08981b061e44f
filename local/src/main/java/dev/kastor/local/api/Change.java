package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * One step in the life of an object; the objects must not be modified.
 *
 * @param revision grows by one with every change of any object
 * @param type kind of the object
 * @param before the object before; null when it was created
 * @param after the object after; null when it was removed
 * @param last the newest state: {@code after}, or for a removal the last state with the removal's
 *     revision
 */
public record Change(
    long revision,
    ResourceType type,
    @Nullable ObjectNode before,
    @Nullable ObjectNode after,
    ObjectNode last) {}
