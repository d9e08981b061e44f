/**
 * Training with variables that servers keep and workers share (Abadi et al., OSDI 2016, sections
 * 2.1 and 4.4): in steps that all take together, some workers being spare, or whenever one is done.
 */
@NullMarked
package dev.kastor.engine.parameters;

import org.jspecify.annotations.NullMarked;
