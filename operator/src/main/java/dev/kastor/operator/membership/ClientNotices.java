package dev.kastor.operator.membership;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.ToldLast;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaState;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names of the software of a generation's members, and notices of those that a person looks at. */
@Singleton
final class ClientNotices {
  /** Most different ones that a status lists. */
  private static final int MOST = 8;

  private static final Pattern PROTOCOL = Pattern.compile("(?:^| )protocol/([0-9]{1,9})(?: |$)");

  private final EventRecorder events;
  private final ToldLast unnamed;
  private final ToldLast newer;

  ClientNotices(JobRecords records, EventRecorder events) {
    this.events = events;
    unnamed = new ToldLast(records);
    newer = new ToldLast(records);
  }

  /** Different names among the members, in the order of their ranks. */
  static List<String> of(Membership generation, Map<String, Replica> replicas) {
    return clients(generation, replicas)
        .filter(client -> !client.isEmpty())
        .distinct()
        .limit(MOST)
        .toList();
  }

  /** Version of the agent API that a client says it speaks; 0 if it says none. */
  static int protocol(String client) {
    Matcher found = PROTOCOL.matcher(client);
    return found.find() ? Integer.parseInt(found.group(1)) : 0;
  }

  /** Tells the job's owner of members that do not name their software, or whose is newer. */
  void tell(TrainingJob job, Membership generation, Map<String, Replica> replicas) {
    generation.members().stream()
        .map(Member::pod)
        .filter(pod -> client(pod, replicas).isEmpty())
        .findFirst()
        .filter(pod -> unnamed.isNew(job, ""))
        .ifPresent(pod ->
            events.warning(
                job,
                "ClientUnknown",
                "%s does not say which client of the agent protocol it runs, so its version is in no report of a defect. Let it send the parameter client, as in NAME/VERSION, with each poll."
                    .formatted(pod)));
    clients(generation, replicas)
        .filter(client -> protocol(client) > Membership.PROTOCOL)
        .findFirst()
        .filter(client -> newer.isNew(job, client))
        .ifPresent(client ->
            events.normal(
                job,
                "ClientNewer",
                "The replicas run %s. This operator speaks version %d of the agent protocol, which KASTOR_PROTOCOL tells them, and serves them by it. Upgrade the operator for what came later."
                    .formatted(client, Membership.PROTOCOL)));
  }

  private static Stream<String> clients(Membership generation, Map<String, Replica> replicas) {
    return generation.members().stream().map(member -> client(member.pod(), replicas));
  }

  private static String client(String pod, Map<String, Replica> replicas) {
    Replica replica = replicas.get(pod);
    ReplicaState said = replica == null ? null : replica.state();
    return said == null ? "" : said.client();
  }
}
