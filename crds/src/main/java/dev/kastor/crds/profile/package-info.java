/**
 * Profiles: what a platform team adds to the pods of training jobs.
 *
 * <p>Entry type: {@link dev.kastor.crds.profile.ClusterTrainingProfile}. Depends on no other kind.
 */
@NullMarked
package dev.kastor.crds.profile;

import org.jspecify.annotations.NullMarked;
