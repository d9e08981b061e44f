/** Tests of elastic training with several replicas in one process. */
@NullMarked
package dev.kastor.agent.trainer;

import org.jspecify.annotations.NullMarked;
