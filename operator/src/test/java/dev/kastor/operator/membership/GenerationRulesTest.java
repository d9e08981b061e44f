package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GenerationRulesTest {
  private final RuledJob job = new RuledJob();

  @Test
  void startsOnlyWhenTheWholeGangIsReady() {
    job.target(2).pod("a", "n1").pod("b", "n1");
    job.ready("a");
    assertThat(job.next()).isEmpty();
    job.ready("b");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "b");
    assertThat(job.next()).isEmpty();
  }

  @Test
  void membersTrainOnUntilAllJoinersAreReady() {
    job.running("a");
    job.target(3).pod("b", "n1").pod("c", "n1");
    job.ready("b");
    assertThat(job.next()).isEmpty();
    job.ready("c");
    assertThat(job.publish().members()).hasSize(3);
  }

  @Test
  void shrinksAtOnce() {
    job.running("a", "b", "c");
    job.target(1);
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a");
  }

  @Test
  void givesSlotsBackBeforeNewOnesAreThere() {
    job.running("a", "b");
    job.target(2).unwanted("b").pod("c", "n2");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a");
    job.ready("c");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "c");
  }

  @Test
  void whoIsEvictedIsLeftOutAtOnce() {
    job.running("a", "b");
    job.evicted("a");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("b");
  }

  @Test
  void allWhoAreEvictedStopAtACheckpointAndTheNextBeginThere() {
    job.running("a", "b");
    job.evicted("a").evicted("b");
    assertThat(job.publish().action()).isEqualTo(Action.STOP);
    assertThat(job.next()).as("once is enough").isEmpty();
    job.pod("c", "n2").pod("d", "n2").ready("c").ready("d");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("c", "d");
  }

  @Test
  void survivorsGoOnWithoutTheDead() {
    job.running("a", "b", "c");
    job.dies("b");
    Membership next = job.publish();
    assertThat(next.members()).extracting(Member::pod).containsExactly("a", "c");
    assertThat(next.generation()).isEqualTo(2);
  }

  @Test
  void tooFewSurvivorsWaitForTheReplacement() {
    job.elasticity(new Elasticity.Elastic(2, 4, new AllowedReplicas.Any()));
    job.running("a", "b");
    job.dies("b");
    job.pod("c", "n1");
    assertThat(job.next()).isEmpty();
    job.ready("c");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "c");
  }

  @Test
  void aBrokenRingWithoutADeathGoesOnWithoutTheSilent() {
    job.running("a", "b", "c");
    job.broken("a").broken("c");
    assertThat(job.next()).isEmpty();
    job.wait(10);
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "c");
  }

  @Test
  void aBrokenRingIsConnectedAgainWithTheSilentWhereTheOthersAreTooFew() {
    job.elasticity(new Elasticity.Elastic(2, 4, new AllowedReplicas.Any()));
    job.running("a", "b");
    job.broken("a");
    assertThat(job.next()).isEmpty();
    job.wait(10);
    Membership next = job.publish();
    assertThat(next.members()).extracting(Member::pod).containsExactly("a", "b");
    assertThat(next.generation()).isEqualTo(2);
    assertThat(job.next()).as("once is enough").isEmpty();
  }

  @Test
  void aBrokenRingThatAllReportIsConnectedAgain() {
    job.running("a", "b");
    job.broken("a").broken("b");
    job.wait(10);
    Membership next = job.publish();
    assertThat(next.members()).hasSize(2);
    assertThat(next.generation()).isEqualTo(2);
  }

  @Test
  void stopsOnceWhenNothingIsGiven() {
    job.running("a", "b");
    job.target(0);
    assertThat(job.publish().action()).isEqualTo(Action.STOP);
    assertThat(job.next()).isEmpty();
  }

  @Test
  void aMoveWaitsForTheNewPodsAndStopsIfTheyDoNotCome() {
    job.running("a");
    job.target(1).unwanted("a").pod("b", "n2");
    job.migrating();
    assertThat(job.next()).isEmpty();
    job.wait(60);
    assertThat(job.publish().action()).isEqualTo(Action.STOP);
  }

  @Test
  void aMoveSwitchesWhenTheNewPodIsReady() {
    job.running("a");
    job.target(1).unwanted("a").pod("b", "n2");
    job.migrating();
    job.ready("b");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("b");
  }

  @Test
  void aMoveGoesOnWithThoseForWhomThereIsRoom() {
    job.running("a", "b");
    job.target(4).unwanted("a").unwanted("b").pod("c", "n2").pod("d", "n2").full(true);
    job.migrating();
    job.ready("c");
    assertThat(job.next()).as("d is not ready yet").isEmpty();
    job.ready("d");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("c", "d");
    job.dies("a").dies("b").full(false).pod("e", "n2").pod("f", "n2");
    job.training("c").training("d").ready("e").ready("f");
    assertThat(job.publish().members()).hasSize(4);
  }

  @Test
  void aMoveWithoutAnyRoomStopsAtOnce() {
    job.running("a", "b");
    job.target(2).unwanted("a").unwanted("b").full(true);
    job.migrating();
    assertThat(job.publish().action()).isEqualTo(Action.STOP);
    assertThat(job.next()).as("once is enough").isEmpty();
    job.dies("a").dies("b").full(false).pod("c", "n2").pod("d", "n2").ready("c").ready("d");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("c", "d");
  }

  @Test
  void aMoveStopsIfThoseForWhomThereIsRoomAreTooFew() {
    job.elasticity(new Elasticity.Elastic(2, 4, new AllowedReplicas.Any()));
    job.running("a", "b");
    job.target(2).unwanted("a").pod("c", "n2").unwanted("c").full(true);
    assertThat(job.publish().action()).isEqualTo(Action.STOP);
  }

  @Test
  void aBetterBatchIsAGenerationOfTheSameMembers() {
    job.running("a", "b");
    job.better(new BatchPlan(64, 1));
    Membership next = job.publish();
    assertThat(next.members()).extracting(Member::pod).containsExactly("a", "b");
    assertThat(next.batchPlan()).isEqualTo(new BatchPlan(64, 1));
  }

  @Test
  void ringKeepsTheReplicasOfANodeTogether() {
    job.target(4).pod("a", "n2").pod("b", "n1").pod("c", "n2").pod("d", "n1");
    List.of("a", "b", "c", "d").forEach(job::ready);
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "c", "b", "d");
  }

  @Test
  void workersBeginOnceAllServersListen() {
    job.servers(2, Map.of(0, "s:1"));
    job.target(1).pod("a", "n1").ready("a");
    assertThat(job.next()).isEmpty();
    job.servers(2, Map.of(0, "s:1", 1, "t:1"));
    Membership first = job.publish();
    assertThat(first.members()).extracting(Member::pod).containsExactly("a");
    assertThat(first.serversOrNone())
        .extracting(ParameterServer::index, ParameterServer::address)
        .containsExactly(tuple(0, "s:1"), tuple(1, "t:1"));
    assertThat(job.next()).isEmpty();
  }

  @Test
  void aServerAtAnotherAddressIsANewGenerationOfTheSameMembers() {
    job.servers(1, Map.of(0, "s:1"));
    job.running("a", "b");
    job.servers(1, Map.of());
    job.broken("a").broken("b").wait(10);
    assertThat(job.next()).as("nobody can train without it").isEmpty();
    job.servers(1, Map.of(0, "s:2"));
    Membership next = job.publish();
    assertThat(next.members()).extracting(Member::pod).containsExactly("a", "b");
    assertThat(next.serversOrNone()).extracting(ParameterServer::address).containsExactly("s:2");
  }

  @Test
  void aWorkerThatIsSlowToNoticeADeadServerStays() {
    job.servers(1, Map.of(0, "s:1"));
    job.running("a", "b", "c");
    job.servers(1, Map.of());
    job.broken("a").broken("c").wait(60);
    job.servers(1, Map.of(0, "s:2"));
    assertThat(job.publish().members()).hasSize(3);
  }

  @Test
  void oneBrokenWorkerBeginsAgainWithTheOthers() {
    job.servers(1, Map.of(0, "s:1"));
    job.running("a", "b", "c");
    job.broken("b");
    assertThat(job.next()).isEmpty();
    job.wait(10);
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "b", "c");
  }

  @Test
  void workersGoAndComeWhileServersStay() {
    job.servers(1, Map.of(0, "s:1"));
    job.running("a", "b");
    job.dies("b");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a");
    job.pod("c", "n1").ready("c").training("a");
    assertThat(job.publish().members()).extracting(Member::pod).containsExactly("a", "c");
    job.evicted("a").evicted("c");
    assertThat(job.next()).as("the server has the state, so nothing has to be saved").isEmpty();
    job.pod("d", "n2").pod("e", "n2").ready("d").ready("e");
    Membership next = job.publish();
    assertThat(next.members()).extracting(Member::pod).containsExactly("d", "e");
    assertThat(next.serversOrNone()).hasSize(1);
  }

  @Test
  void serversStopWithTheMembers() {
    job.servers(1, Map.of(0, "s:1"));
    job.running("a");
    job.target(0).servers(0, Map.of());
    Membership stop = job.publish();
    assertThat(stop.action()).isEqualTo(Action.STOP);
    assertThat(stop.serversOrNone()).isEmpty();
  }

  /** Whatever happens in whichever order, the rules hold after each event and it ends well. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void holdsInEveryInterleaving(long seed) {
    new RandomLife(seed).live(500);
  }
}
