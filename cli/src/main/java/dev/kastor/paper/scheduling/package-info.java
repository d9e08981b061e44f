/**
 * Papers about scheduling, whose claims are measured by replays: {@link
 * dev.kastor.paper.scheduling.PolluxPaper}, {@link dev.kastor.paper.scheduling.SiaPaper}. Depends
 * on {@code paper} and the simulator; only the registry of papers may depend on it.
 */
@NullMarked
package dev.kastor.paper.scheduling;

import org.jspecify.annotations.NullMarked;
