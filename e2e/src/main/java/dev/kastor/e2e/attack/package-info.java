/**
 * A tenant who attacks: strategies with all rights of the tenant role, and a scenario that looks
 * from outside whether his neighbour, his own objects and the operator stay as they should. Uses
 * the chart, the watcher and played agents; nothing depends on it.
 */
@NullMarked
package dev.kastor.e2e.attack;

import org.jspecify.annotations.NullMarked;
