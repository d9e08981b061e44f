/**
 * Registry of all papers: {@link dev.kastor.paper.registry.Papers}. Depends on the packages of all
 * of them.
 */
@NullMarked
package dev.kastor.paper.registry;

import org.jspecify.annotations.NullMarked;
