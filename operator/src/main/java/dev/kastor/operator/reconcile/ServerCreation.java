package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.pods.PodNode;
import dev.kastor.operator.pods.PodTemplate;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.pods.WarmStartSource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Creation of the pods of parameter servers. A server holds no slot, so kube-scheduler chooses its
 * node, of those that are well.
 */
@Singleton
final class ServerCreation {
  private final ClusterCache cache;
  private final JobPods pods;
  private final PodCreation creation;
  private final NamedObjects named;
  private final DeviceMemory memory;
  private final NodeUses uses;
  private final ProfileStore profiles;
  private final PodTemplate template;

  ServerCreation(
      ClusterCache cache,
      JobPods pods,
      PodCreation creation,
      NamedObjects named,
      DeviceMemory memory,
      NodeUses uses,
      ProfileStore profiles,
      OperatorConfig config) {
    this.cache = cache;
    this.pods = pods;
    this.creation = creation;
    this.named = named;
    this.memory = memory;
    this.uses = uses;
    this.profiles = profiles;
    template = new PodTemplate(config);
  }

  /**
   * Makes missing servers; true if all could be made.
   *
   * @param replicas pods of the job's replicas
   * @param servers pods of its servers
   * @param missing indices of those to make
   * @throws Refusal if the API server does not take one of them; others may have been made
   */
  boolean make(
      TrainingJob asked, List<PodView> replicas, List<ServerPod> servers, List<Integer> missing) {
    TrainingJob job = memory.fitting(asked);
    Optional<ProfileStore.Applied> profile = profiles.of(job);
    // Its replicas tell of a profile that is gone.
    if (profile.isEmpty() || !named.ensure(job)) {
      return false;
    }
    List<PodView> all =
        Stream.concat(replicas.stream(), ServerPod.views(servers).stream()).toList();
    long number = creation.reserve(job, all, missing.size());
    Optional<WarmStartSource> other = creation.warmStart(job);
    List<PodNode> avoided = cache.nodes().stream().filter(this::ends).map(PodNode::of).toList();
    for (int index : missing) {
      Pod pod = template.server(job, profile.get().spec(), other, number, index, avoided);
      creation.make(job, number++, () -> pods.createServer(pod));
    }
    return true;
  }

  /** Whether kube-scheduler may put a pod on a node of which we know better. */
  private boolean ends(Node node) {
    return switch (uses.of(node)) {
      case LOST, LEAVE -> true;
      case OPEN, KEEP -> false;
    };
  }
}
