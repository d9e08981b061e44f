package dev.kastor.crds.profile;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** What a platform team adds to the pods of the jobs that name it; no namespace owns it. */
@Group(TrainingJob.GROUP)
@Plural("clustertrainingprofiles")
@Version(TrainingJob.VERSION)
@AdditionalPrinterColumn(
    name = "Default",
    jsonPath = ".metadata.annotations.kastor\\.dev/default-profile",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
public final class ClusterTrainingProfile extends CustomResource<ProfileSpec, Void> {
  /** Annotation that makes a profile, with the value {@code true}, that of jobs naming none. */
  public static final String DEFAULT = "kastor.dev/default-profile";

  private static final long serialVersionUID = 1;
}
