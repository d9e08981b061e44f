/**
 * Readers of profiles: files and folders that say how applications train.
 *
 * <p>Entry type: {@link dev.kastor.traces.profile.Applications}. Depends on the traces package and
 * on measured applications.
 */
@NullMarked
package dev.kastor.traces.profile;

import org.jspecify.annotations.NullMarked;
