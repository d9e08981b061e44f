/**
 * Kastor's own policy: a market in which jobs bid for GPUs with the time that progress saves.
 *
 * <p>{@code KastorPolicy} makes a {@code Bid} of each job from what the {@code OfferBook} says it
 * may get; {@code Prices} clear the market and say what progress is worth; {@code Shares} gives
 * each bid one of its offers; {@code Packing} finds nodes; {@code Explanations} says why.
 */
@NullMarked
package dev.kastor.scheduler.policy.kastor;

import org.jspecify.annotations.NullMarked;
