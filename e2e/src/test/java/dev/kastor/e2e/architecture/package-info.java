/**
 * Rules for the packages of all modules. Entry type: {@link
 * dev.kastor.e2e.architecture.CompiledModules}, which has ArchUnit read all classes once.
 */
@NullMarked
package dev.kastor.e2e.architecture;

import org.jspecify.annotations.NullMarked;
