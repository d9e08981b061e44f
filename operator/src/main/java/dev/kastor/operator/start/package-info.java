/**
 * Starts of replicas: how long each part took. Entry type: {@link
 * dev.kastor.operator.start.ReplicaStarts}.
 */
@NullMarked
package dev.kastor.operator.start;

import org.jspecify.annotations.NullMarked;
