package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.SlotCount;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Nodes that take no further pods of a job: those that {@link NodeMatch} tells, and those that
 * kube-scheduler refused lately. Thread-safe.
 */
@Singleton
public final class ClosedNodes {
  /** For how long a node that kube-scheduler refused for a job is not tried again. */
  private static final Duration REMEMBERED = Duration.ofMinutes(5);

  /** Words of kube-scheduler that count nodes by what is wrong with them. */
  private static final Pattern OF_NODES = Pattern.compile("nodes are available: [0-9]");

  private static final PodNode NO_NODE = new PodNode("no-node", "no-node.kastor.dev");

  private record Rules(long generation, String profile, NodeMatch match) {}

  /**
   * A refusal of kube-scheduler.
   *
   * @param node the node as it was
   * @param pods uids of the pods that were there
   */
  private record Refused(String words, Instant until, Object node, Set<String> pods) {}

  private final ClusterCache cache;
  private final ProfileStore profiles;
  private final GangTemplate gangs;
  private final PodTemplate agents;
  private final InstantSource clock;
  private final Map<String, Rules> rules;
  private final Map<String, Map<String, Refused>> refused;

  public ClosedNodes(
      JobRecords records,
      ClusterCache cache,
      ProfileStore profiles,
      OperatorConfig config,
      InstantSource clock) {
    rules = records.part();
    refused = records.part();
    this.cache = cache;
    this.profiles = profiles;
    gangs = new GangTemplate(config);
    agents = new PodTemplate(config);
    this.clock = clock;
  }

  /**
   * Notes that kube-scheduler did not put a pod of the job on the node, in its words. That is
   * believed until a pod has left the node, or the node has changed. What it says of the pod alone,
   * such as a claim that does not exist, says nothing of the node.
   */
  public void refused(TrainingJob job, String node, String words) {
    if (!OF_NODES.matcher(words).find()) {
      return;
    }
    refused
        .computeIfAbsent(job.getMetadata().getUid(), uid -> new ConcurrentHashMap<>())
        .put(node, new Refused(words, clock.instant().plus(REMEMBERED), traits(node), pods(node)));
  }

  private boolean holds(String node, Refused refusal) {
    return clock.instant().isBefore(refusal.until())
        && refusal.node().equals(traits(node))
        && pods(node).containsAll(refusal.pods());
  }

  /** Traits of a node that kube-scheduler looks at. */
  private Object traits(String name) {
    return cache
        .node(name)
        .<Object>map(node ->
            Arrays.asList(
                node.getMetadata().getLabels(),
                node.getSpec(),
                node.getStatus() == null ? null : node.getStatus().getAllocatable()))
        .orElse(name);
  }

  private Set<String> pods(String node) {
    return cache.podsOn(node).stream()
        .filter(SlotCount::occupies)
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  /** The closed nodes among these, as they are now. */
  public Look look(Collection<Node> nodes) {
    return new Look(nodes);
  }

  /** Closed nodes at one moment; jobs with the same rules share a look. Not thread-safe. */
  public final class Look {
    private final Collection<Node> nodes;
    private final Map<String, NodeMatch.Left> left = new HashMap<>();
    private final Map<NodeMatch, Map<String, String>> byRules = new HashMap<>();

    private Look(Collection<Node> nodes) {
      this.nodes = nodes;
    }

    /** The nodes that take no further pods of the job, by name, with the words for it. */
    public Map<String, String> of(TrainingJob job) {
      Map<String, String> byMatch =
          rules(job).map(match -> byRules.computeIfAbsent(match, this::closed)).orElse(Map.of());
      Map<String, Refused> lately = refused.get(job.getMetadata().getUid());
      if (lately == null) {
        return byMatch;
      }
      lately.entrySet().removeIf(each -> !holds(each.getKey(), each.getValue()));
      Map<String, String> all = new TreeMap<>(byMatch);
      lately.forEach((node, each) -> all.put(node, each.words()));
      return all;
    }

    private Map<String, String> closed(NodeMatch match) {
      Map<String, String> closed = new TreeMap<>();
      for (Node node : nodes) {
        match
            .problem(node, left.computeIfAbsent(name(node), name -> left(node)))
            .ifPresent(words -> closed.put(name(node), words));
      }
      return closed;
    }

    /** Room beside pods of others: what jobs hold is the scheduler's to give, like their slots. */
    private NodeMatch.Left left(Node node) {
      return NodeMatch.Left.of(
          node,
          cache.podsOn(name(node)).stream()
              .filter(pod -> SlotCount.occupies(pod) && cache.maker(pod).isEmpty())
              .map(Pod::getSpec)
              .toList());
    }
  }

  private static String name(Node node) {
    return node.getMetadata().getName();
  }

  /** The rules of a job's pods; empty if none can be made. */
  private Optional<NodeMatch> rules(TrainingJob job) {
    Optional<ProfileStore.Applied> profile = profiles.of(job);
    if (profile.isEmpty()) {
      return Optional.empty();
    }
    String uid = job.getMetadata().getUid();
    Long said = job.getMetadata().getGeneration();
    long generation = said == null ? 0 : said;
    Rules known = rules.get(uid);
    if (known != null
        && known.generation() == generation
        && known.profile().equals(profile.get().version())) {
      return Optional.of(known.match());
    }
    try {
      Pod pod =
          job.getSpec().gang()
              ? gangs.pod(job, profile.get().spec(), 0, 0, PodCheck.least(job), NO_NODE)
              : agents.pod(job, profile.get().spec(), 0, NO_NODE);
      NodeMatch match = NodeMatch.of(pod.getSpec(), NO_NODE);
      rules.put(uid, new Rules(generation, profile.get().version(), match));
      return Optional.of(match);
    } catch (InvalidTemplate | IllegalArgumentException e) {
      // Whoever admits the job says so.
      return Optional.empty();
    }
  }
}
