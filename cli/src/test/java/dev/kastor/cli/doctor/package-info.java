/** Tests of checks and support bundles. */
@NullMarked
package dev.kastor.cli.doctor;

import org.jspecify.annotations.NullMarked;
