/** An operator for tests: the agent API over HTTPS, without Kubernetes. */
@NullMarked
package dev.kastor.agent.operator;

import org.jspecify.annotations.NullMarked;
