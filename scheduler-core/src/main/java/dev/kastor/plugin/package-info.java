/**
 * Plug-ins of every kind: what one is called, which options it has, and where all of a kind are
 * found.
 *
 * <p>Entry types: {@link dev.kastor.plugin.Plugin}, which a kind such as policies extends, and
 * {@link dev.kastor.plugin.Registry}, which lists the built-in ones and those of a class loader. A
 * host writes a choice as {@code name:option=value:option=value}. Depends on the JDK alone; files
 * are read by the hosts.
 */
@NullMarked
package dev.kastor.plugin;

import org.jspecify.annotations.NullMarked;
