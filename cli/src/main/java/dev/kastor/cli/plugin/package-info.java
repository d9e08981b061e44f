/**
 * Plug-ins of users as commands find them. Entry type: {@link dev.kastor.cli.plugin.PluginJars}.
 *
 * <p>Depends on {@code cli.terminal}, and on local mode for the folder of the jars.
 */
@NullMarked
package dev.kastor.cli.plugin;

import org.jspecify.annotations.NullMarked;
