package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.TrainingJob;

/**
 * Job whose parameters another job of its namespace begins with.
 *
 * @param job which it is; its folder of checkpoints has its name and uid
 * @param profile that applies to it and may say where its checkpoints are
 */
public record WarmStartSource(TrainingJob job, ProfileSpec profile) {}
