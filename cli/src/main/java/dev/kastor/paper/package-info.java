/**
 * What the papers of research systems claim and how Kastor measures it: {@link
 * dev.kastor.paper.Paper}, a plug-in with claims whose thresholds are fixed before a run. Depends
 * on {@code plugin} and, for the machine, {@code bench}.
 */
@NullMarked
package dev.kastor.paper;

import org.jspecify.annotations.NullMarked;
