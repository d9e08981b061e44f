/**
 * The command that says what would come of a change: {@code kastor whatif}. Entry type: {@link
 * dev.kastor.cli.whatif.WhatIfCommand}.
 *
 * <p>Depends on {@code cli.terminal}, {@code cli.connect}, {@code cli.manifest}, {@code cli.plugin}
 * and the simulator.
 */
@NullMarked
package dev.kastor.cli.whatif;

import org.jspecify.annotations.NullMarked;
