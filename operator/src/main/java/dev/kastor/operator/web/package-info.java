/**
 * The web page's back end: what the operator knows, as JSON, and live as Server-Sent Events.
 *
 * <p>{@link dev.kastor.operator.web.OverviewResource} serves {@code /api/v1}; the page itself is
 * static. Everything is read-only and comes from watches of the cluster and from {@link
 * dev.kastor.operator.history.JobHistory}. {@link dev.kastor.operator.web.PageGuard} decides who
 * may read.
 */
@NullMarked
package dev.kastor.operator.web;

import org.jspecify.annotations.NullMarked;
