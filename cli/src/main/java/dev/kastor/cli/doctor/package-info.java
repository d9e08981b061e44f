/**
 * Checks of an installation, and a bundle of files for support. Entry types: {@link
 * dev.kastor.cli.doctor.Doctor}, {@link dev.kastor.cli.doctor.SupportBundle}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.terminal}.
 */
@NullMarked
package dev.kastor.cli.doctor;

import org.jspecify.annotations.NullMarked;
