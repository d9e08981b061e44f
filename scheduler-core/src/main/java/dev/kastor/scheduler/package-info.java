/**
 * The scheduler: what it knows of jobs and nodes, what it decides, and the one loop that both hosts
 * share.
 *
 * <p>All types are in the packages below; a test forbids cycles among them. From low to high:
 * {@code goodput} predicts, {@code model} says what a policy sees, {@code plan} what it answers;
 * {@code policy} holds the policies, {@code loop} runs one of them, {@code estimate} fits the
 * predictions to reports, and {@code advice} says how many nodes there should be. Nothing here
 * knows Kubernetes, files or clocks.
 */
@NullMarked
package dev.kastor.scheduler;

import org.jspecify.annotations.NullMarked;
