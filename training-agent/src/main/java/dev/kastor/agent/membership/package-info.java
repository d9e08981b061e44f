/**
 * What the operator wants of this replica, kept up to date in the background.
 *
 * <p>Entry type {@link dev.kastor.agent.membership.MembershipClient}. Training asks it between
 * steps and never waits for the network.
 */
@NullMarked
package dev.kastor.agent.membership;

import org.jspecify.annotations.NullMarked;
