/** Tests of plug-ins of users. */
@NullMarked
package dev.kastor.cli.plugin;

import org.jspecify.annotations.NullMarked;
