/**
 * Command that fetches the recording of a cluster. Entry type: {@link
 * dev.kastor.cli.recording.RecordCommand}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.terminal}.
 */
@NullMarked
package dev.kastor.cli.recording;

import org.jspecify.annotations.NullMarked;
