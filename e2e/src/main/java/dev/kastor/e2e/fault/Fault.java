package dev.kastor.e2e.fault;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Something that can go wrong. */
public enum Fault {
  /** The process of a replica is killed. */
  AGENT_KILLED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Optional<Pod> pod = ground.any(ground.replicas());
      return pod.isPresent() ? Optional.of(killed("replica ", pod.get())) : Optional.empty();
    }
  },

  /** The pod of a replica is deleted. */
  POD_DELETED {
    @Override
    Optional<Wound> at(Ground ground) {
      return ground
          .any(ground.replicas())
          .map(pod -> {
            ground.client().pods().resource(pod).delete();
            return Wound.passing("pod " + nameOf(pod) + " is deleted");
          });
    }
  },

  /** Two replicas of a job do not reach one another for a while. */
  AGENTS_APART {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      List<Pod> replicas = ground.replicas();
      Optional<Pod> one =
          ground.any(replicas.stream().filter(pod -> !peers(pod, replicas).isEmpty()).toList());
      Optional<Pod> other = one.flatMap(pod -> ground.any(peers(pod, replicas)));
      if (other.isEmpty()) {
        return Optional.empty();
      }
      String pod = nameOf(one.get());
      String address = other.get().getStatus().getPodIP();
      Script.run("part", pod, address);
      return Optional.of(
          new Wound(
              "%s and %s do not reach one another".formatted(pod, nameOf(other.get())),
              "",
              ground.seconds(4, 12),
              () -> Script.run("join", pod, address)));
    }
  },

  /** The process of the operator that leads is killed. */
  OPERATOR_KILLED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Optional<Pod> leader = ground.leader();
      return leader.isPresent() ? Optional.of(killed("operator ", leader.get())) : Optional.empty();
    }
  },

  /** The operator that leads stands still for so long that another one takes over, and goes on. */
  LEADER_STALLED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Optional<Pod> leader = ground.leader();
      if (leader.isEmpty()) {
        return Optional.empty();
      }
      int seconds = ground.random().nextInt(11, 16);
      Script.run("pause", nameOf(leader.get()), Integer.toString(seconds));
      return Optional.of(
          Wound.passing(
              "operator %s stood still for %d s".formatted(nameOf(leader.get()), seconds)));
    }
  },

  /** The lease says that nobody leads. */
  LEASE_LOST {
    @Override
    Optional<Wound> at(Ground ground) {
      return ground.client().leases().inNamespace(ground.system()).list().getItems().stream()
          .findFirst()
          .map(lease -> {
            ground
                .client()
                .leases()
                .inNamespace(ground.system())
                .withName(nameOf(lease))
                // Whatever its holder writes at the same moment.
                .patch(
                    PatchContext.of(PatchType.JSON_MERGE),
                    "{\"spec\": {\"holderIdentity\": \"somebody-else\"}}");
            return Wound.passing("the lease is somebody else's");
          });
    }
  },

  /** A kubelet is down for a while; containers go on. */
  KUBELET_STOPPED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      String node = ground.any(ground.nodes()).orElseThrow();
      Script.run("stop", node, "kubelet");
      return Optional.of(
          new Wound(
              "the kubelet of %s is down".formatted(node),
              node,
              ground.seconds(5, 12),
              () -> Script.run("start", node, "kubelet")));
    }
  },

  /** A container runtime is killed and starts again. */
  CONTAINERD_RESTARTED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      String node = ground.any(ground.nodes()).orElseThrow();
      Script.run("restart", node, "containerd");
      return Optional.of(Wound.passing("containerd of %s is killed".formatted(node)));
    }
  },

  /** The API server is killed and starts again. */
  APISERVER_RESTARTED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Script.run("restart", "control-plane", "kube-apiserver");
      return Optional.of(Wound.passing("kube-apiserver is killed"));
    }
  },

  /** The store of the API server answers late for a while. */
  ETCD_SLOW {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      String seconds = Integer.toString(ground.random().nextInt(6, 13));
      Script.run("slow", "etcd", seconds);
      return Optional.of(Wound.passing("etcd was slow for %s s".formatted(seconds)));
    }
  },

  /** A node is drained, as before maintenance, and may be used again later. */
  NODE_DRAINED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Optional<String> node = ground.busyNode();
      if (node.isEmpty()) {
        return Optional.empty();
      }
      Script.run("drain", node.get());
      return Optional.of(
          new Wound(
              "node %s is drained".formatted(node.get()),
              node.get(),
              ground.seconds(5, 15),
              () -> Script.run("uncordon", node.get())));
    }
  },

  /**
   * A Node object is deleted while its pods run; the kubelet registers it again some time later.
   */
  NODE_DELETED {
    @Override
    Optional<Wound> at(Ground ground) {
      return ground
          .busyNode()
          .map(node -> {
            ground.client().nodes().withName(node).delete();
            return new Wound(
                "node %s is deleted".formatted(node),
                node,
                ground.seconds(3, 10),
                () -> Script.run("restart", node, "kubelet"));
          });
    }
  },

  /** A node is cut off the network for a while. */
  NODE_UNPLUGGED {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Optional<String> node = ground.busyNode();
      if (node.isEmpty()) {
        return Optional.empty();
      }
      Script.run("unplug", node.get());
      return Optional.of(
          new Wound(
              "nothing reaches node %s".formatted(node.get()),
              node.get(),
              ground.seconds(4, 12),
              () -> Script.run("plug", node.get())));
    }
  },

  /** All processes of a node are killed. */
  NODE_OFF {
    @Override
    Optional<Wound> at(Ground ground) throws IOException, InterruptedException {
      Optional<String> node = ground.busyNode();
      if (node.isEmpty()) {
        return Optional.empty();
      }
      Script.run("off", node.get());
      return Optional.of(
          new Wound(
              "node %s is off".formatted(node.get()),
              node.get(),
              ground.seconds(25, 35),
              () -> Script.run("boot", node.get())));
    }
  };

  /** Lets it happen; empty if there is nothing that it could happen to. */
  public Optional<Wound> strike(Ground ground) throws IOException, InterruptedException {
    try {
      return at(ground);
    } catch (Script.Gone e) {
      // It ended between our look and the blow: an earlier fault may still be at work.
      return Optional.empty();
    }
  }

  /** All of them. */
  public static List<Fault> all() {
    return List.of(values());
  }

  abstract Optional<Wound> at(Ground ground) throws IOException, InterruptedException;

  private static Wound killed(String what, Pod pod) throws IOException, InterruptedException {
    Script.run("kill", nameOf(pod));
    return Wound.passing("%s%s is killed".formatted(what, nameOf(pod)));
  }

  private static String nameOf(io.fabric8.kubernetes.api.model.HasMetadata object) {
    return object.getMetadata().getName();
  }

  /** The other replicas of a replica's job. */
  private static List<Pod> peers(Pod one, List<Pod> replicas) {
    return replicas.stream()
        .filter(peer -> !nameOf(peer).equals(nameOf(one)) && jobOf(peer).equals(jobOf(one)))
        .toList();
  }

  private static String jobOf(Pod pod) {
    return pod.getMetadata().getLabels().getOrDefault("kastor.dev/job", "");
  }
}
