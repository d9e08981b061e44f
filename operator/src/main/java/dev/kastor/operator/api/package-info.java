/**
 * The agent API over HTTPS: {@link dev.kastor.operator.api.AgentApi}, who may call it ({@link
 * dev.kastor.operator.api.AgentIdentity}) and what a body may hold ({@link
 * dev.kastor.operator.api.ReportReader}); and the metrics page.
 */
@NullMarked
package dev.kastor.operator.api;

import org.jspecify.annotations.NullMarked;
