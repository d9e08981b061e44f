/**
 * Gangs: jobs whose pods start and end together. Entry type: {@link
 * dev.kastor.operator.gang.GangSteering}.
 */
@NullMarked
package dev.kastor.operator.gang;

import org.jspecify.annotations.NullMarked;
