/** Tests against an operator over HTTPS. */
@NullMarked
package dev.kastor.agent.membership;

import org.jspecify.annotations.NullMarked;
