package dev.kastor.operator.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What can be set on the operator; {@code docs/operator-configuration.md} explains each. */
@ConfigMapping(prefix = "kastor")
public interface OperatorConfig {
  /** Scheduling policy with its options, such as {@code kastor:hold=1000}. */
  @WithDefault("kastor")
  String policy();

  /** Folder with jars of policies. */
  @WithDefault("/app/plugins")
  Path plugins();

  /** Seed of the policy's random choices. */
  @WithDefault("1")
  long seed();

  /** Time between scheduling rounds. */
  @WithDefault("30s")
  Duration roundInterval();

  /** How long a round waits for more events after one that asks for it. */
  @WithDefault("100ms")
  Duration roundDelay();

  /** Extended resource that one replica occupies. */
  @WithDefault("kastor.dev/slot")
  String slotResource();

  /** Node label that holds the GPU type. */
  @WithDefault("kastor.dev/gpu-type")
  String gpuTypeLabel();

  /** Weights of queues, such as {@code research=3,night=0.5}; a queue not named has 1. */
  Optional<String> queues();

  /** Namespaces whose jobs are run; all without it. */
  Optional<List<String>> jobNamespaces();

  /** Highest priority that counts of jobs whose queue says none. */
  @WithDefault("1000")
  int maxPriority();

  /** When to advise more or fewer nodes, such as {@code 0.55:0.75:1-16}; empty for no advice. */
  Optional<String> nodeAdvice();

  /** Shortest time between two summaries of one job in its status. */
  @WithDefault("2s")
  Duration summaryInterval();

  /** PEM file of the authority that signed the agent API's certificate. */
  Optional<Path> caFile();

  /** Certificate and key of the HTTPS server. */
  Tls tls();

  /** PEM files of the HTTPS server, which is there when both are set. */
  interface Tls {
    /** Certificate and those of the authorities that lead to a trusted one. */
    Optional<Path> certificate();

    /** Private key of the certificate. */
    Optional<Path> key();
  }

  /** Shortest time between two forecasts of when jobs end; 0 for none. */
  @WithDefault("10s")
  Duration forecastInterval();

  /** When a job that trains without getting on is helped. */
  Hang hang();

  /** Settings of jobs that hang and of replicas that hold up the others. */
  interface Hang {
    /** Shortest time without a step after which a job hangs; 0 to look for none. */
    @WithDefault("60s")
    Duration timeout();

    /** The same while a replica evaluates, saves, loads or compiles, and after the last step. */
    @WithDefault("30m")
    Duration busyTimeout();

    /** A job hangs after this many of its usual steps at least. */
    @WithDefault("5")
    double steps();

    /** How many times longer than the others a replica computes that holds them up. */
    @WithDefault("1.5")
    double slowdown();

    /** For how long it has to before anybody is told; 0 to look for none. */
    @WithDefault("5m")
    Duration slowFor();

    /** Whether a replica that holds up the others is replaced, at most once an hour for a job. */
    @WithDefault("false")
    boolean replaceSlow();
  }

  /** When nodes are left or given up. */
  Node node();

  /** Settings of nodes that fail or are taken away. */
  interface Node {
    /** Keys of taints that say that a node is about to be taken away. */
    @WithDefault(
        "ToBeDeletedByClusterAutoscaler,karpenter.sh/disrupted,karpenter.sh/disruption,"
            + "aws-node-termination-handler/spot-itn,"
            + "aws-node-termination-handler/scheduled-maintenance,"
            + "aws-node-termination-handler/asg-lifecycle-termination,"
            + "aws-node-termination-handler/rebalance-recommendation,"
            + "cloud.google.com/impending-node-termination,"
            + "node.cloudprovider.kubernetes.io/shutdown,node.kubernetes.io/out-of-service")
    List<String> leaveTaints();

    /** How long all replicas of a node may be silent before the node is looked into. */
    @WithDefault("13s")
    Duration silence();

    /** How old the kubelet's lease must be beyond that for the node to be given up. */
    @WithDefault("13s")
    Duration leaseAge();

    /** How long a node may have fewer slots than its pods hold before any of them has to leave. */
    @WithDefault("3m")
    Duration shortagePatience();

    /** Whether pods of a node that is gone for certain are removed without its kubelet. */
    @WithDefault("false")
    boolean forceDelete();
  }

  /** Which of several operators decides. */
  LeaderElection leaderElection();

  /** Settings of the election of a leader. */
  interface LeaderElection {
    /** Whether there may be several operators; one without it takes itself to be the only one. */
    @WithDefault("false")
    boolean enabled();

    /** Name of the Lease, in the operator's own namespace. */
    @WithDefault("kastor-operator")
    String leaseName();

    /** How long a lease that nobody renews keeps others out. */
    @WithDefault("8s")
    Duration leaseDuration();

    /** How long after its last renewal a leader still writes. */
    @WithDefault("5s")
    Duration renewDeadline();

    /** Time between two looks at the lease. */
    @WithDefault("1s")
    Duration retryPeriod();

    /** The operator's own pod, which gets the leader's label. */
    Optional<String> podName();
  }

  /** What the agents' pods look like and how patient the operator is with them. */
  Agent agent();

  /** Settings of agents. */
  interface Agent {
    /** Container image. */
    @WithDefault("kastor/training-agent:0.1.0-SNAPSHOT")
    String image();

    /** Where agents reach the agent API, such as {@code https://host:port}. */
    @WithDefault("https://localhost:8443")
    String operatorUrl();

    /** Directory on the nodes that all of them share, for checkpoints. */
    Optional<String> checkpointHostPath();

    /** Claim in the job's namespace for checkpoints; comes before the host path. */
    Optional<String> checkpointClaim();

    /** Service account of the pods. */
    @WithDefault("default")
    String serviceAccount();

    /** Secrets of the job's namespace with which the image is pulled. */
    Optional<List<String>> imagePullSecrets();

    /** Arithmetic threads of a replica. */
    @WithDefault("1")
    int threads();

    /** Processor cores of a replica of a program, where its profile says none. */
    Optional<String> cpu();

    /** Memory of a replica of a program, where its profile says none. */
    Optional<String> memory();

    /** How long a replica that is asked to end may take, its checkpoint included. */
    @WithDefault("30s")
    Duration terminationGrace();

    /** Encryption of gradients and state between replicas. */
    @WithDefault("aes-gcm")
    RingEncryption ringEncryption();

    /** Ciphers between replicas. */
    enum RingEncryption {
      /** AES-256-GCM. */
      AES_GCM,
      /** ChaCha20-Poly1305. */
      CHACHA20,
      /** None. */
      NONE;

      /** As replicas read it. */
      public String setting() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
      }
    }

    /** How long a replica that is not wanted may take to leave by itself. */
    @WithDefault("30s")
    Duration leaveGrace();

    /** How long members may report a broken ring before the silent ones are left out. */
    @WithDefault("3s")
    Duration brokenGrace();

    /** How long kube-scheduler may find no room for a pod on the node that was chosen for it. */
    @WithDefault("15s")
    Duration bindPatience();

    /** How long a running replica may stay silent before its pod is replaced. */
    @WithDefault("90s")
    Duration silence();

    /** How long a restarted operator waits for replicas to report before it changes anything. */
    @WithDefault("15s")
    Duration recovery();

    /**
     * How long a move may wait for slots that others hold before the job stops and starts again.
     */
    @WithDefault("30s")
    Duration migrationPatience();

    /** Bad reports of a job in a minute after which its reports are not read; 0: never. */
    @WithDefault("20")
    int badReportsPerMinute();

    /** Requests of one replica in a second, four times as many at once; 0: any. */
    @WithDefault("50")
    int requestsPerSecond();

    /** Shortest time between two changes of the batch alone. */
    @WithDefault("10s")
    Duration batchInterval();
  }
}
