/**
 * Settings of the operator, and what follows from them alone: the policy, the clock, TLS files, the
 * form of log lines. Entry type: {@link dev.kastor.operator.config.OperatorConfig}.
 */
@NullMarked
package dev.kastor.operator.config;

import org.jspecify.annotations.NullMarked;
