/** The loop, its checks, and builders for snapshots. */
@NullMarked
package dev.kastor.scheduler;

import org.jspecify.annotations.NullMarked;
