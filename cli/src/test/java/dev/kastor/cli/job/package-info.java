/** Tests of commands that submit and change jobs. */
@NullMarked
package dev.kastor.cli.job;

import org.jspecify.annotations.NullMarked;
