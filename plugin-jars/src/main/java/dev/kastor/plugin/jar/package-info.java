/**
 * Plug-ins in jars: the one place that reads them from files, for commands, operator and agents.
 *
 * <p>Entry type: {@link dev.kastor.plugin.jar.PluginFolder}. Depends on {@code dev.kastor.plugin}.
 */
@NullMarked
package dev.kastor.plugin.jar;

import org.jspecify.annotations.NullMarked;
