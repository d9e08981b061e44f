package dev.kastor.crds;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** A deep-learning training job that Kastor sizes, places and keeps alive. */
@Group(TrainingJob.GROUP)
@Version(TrainingJob.VERSION)
@ShortNames("tj")
public final class TrainingJob extends CustomResource<TrainingJobSpec, TrainingJobStatus>
    implements Namespaced {
  public static final String GROUP = "kastor.dev";
  public static final String VERSION = "v1alpha1";

  private static final long serialVersionUID = 1;
}
