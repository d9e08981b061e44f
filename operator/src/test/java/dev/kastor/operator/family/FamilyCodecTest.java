package dev.kastor.operator.family;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.estimate.NoiseBucket;
import dev.kastor.scheduler.estimate.RememberedFamily;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FamilyCodecTest {
  private static final String GOLDEN =
      """
      {"schema":"kastor.dev/families/v1","families":[{"name":"team/resnet","maxProfiledReplicas":8,\
      "initialBatch":128,"trust":0.625,"heard":"2026-01-01T00:00:00Z","finishedSteps":[1000.5],\
      "rescalePauseMillis":[40,60],"restartPauseMillis":[12000],\
      "noise":[[3,512.25,8]],"profiles":{"":[[1,2,32,10,0.1,0.01]],"a100":[]}}]}\
      """;

  private static RememberedFamily family(String name, int profiles) {
    List<StepProfile> measured = new ArrayList<>();
    for (int i = 0; i < profiles; i++) {
      measured.add(new StepProfile(1, 2, 32 + i, 10, 0.1, 0.01));
    }
    SequencedMap<String, List<StepProfile>> byType = new LinkedHashMap<>();
    byType.put("", measured);
    byType.put("a100", List.of());
    return new RememberedFamily(
        name,
        byType,
        8,
        128,
        List.of(new NoiseBucket(3, 512.25, 8)),
        List.of(1000.5),
        List.of(Duration.ofMillis(40), Duration.ofMillis(60)),
        List.of(Duration.ofSeconds(12)),
        0.625,
        Instant.parse("2026-01-01T00:00:00Z"));
  }

  private static List<RememberedFamily> read(String text) {
    List<String> faults = new ArrayList<>();
    List<RememberedFamily> families = FamilyCodec.read(text, faults::add);
    assertThat(faults).isEmpty();
    return families;
  }

  @Test
  void theFormIsStable() {
    assertThat(FamilyCodec.write(List.of(family("team/resnet", 1)), 10_000)).isEqualTo(GOLDEN);
    assertThat(read(GOLDEN)).containsExactly(family("team/resnet", 1));
  }

  @Test
  void aDocumentWithoutPausesIsOfAnEarlierVersion() {
    String earlier =
        GOLDEN.replace("\"rescalePauseMillis\":[40,60],\"restartPauseMillis\":[12000],", "");
    assertThat(earlier).isNotEqualTo(GOLDEN);
    assertThat(read(earlier).getFirst().rescalePauses()).isEmpty();
  }

  @Test
  void familiesHeardOfLongestAgoAreLeftOutWhereSpaceEnds() {
    List<RememberedFamily> all = new ArrayList<>();
    for (int f = 0; f < 50; f++) {
      all.add(family("team/family-" + f, 100));
    }
    String text = FamilyCodec.write(all, 20_000);
    assertThat(text.getBytes(StandardCharsets.UTF_8).length).isBetween(15_000, 20_000);
    List<RememberedFamily> kept = read(text);
    assertThat(kept).isEqualTo(all.subList(50 - kept.size(), 50));
    assertThat(read(FamilyCodec.write(all, 200))).isEmpty();
  }

  @Test
  void manyFamiliesOfOneNamespaceLeaveSpaceForOthers() {
    List<RememberedFamily> all = new ArrayList<>();
    all.add(family("blue/oldest", 100));
    for (int f = 0; f < 50; f++) {
      all.add(family("red/family-" + f, 100));
    }
    assertThat(read(FamilyCodec.write(all, 20_000)))
        .extracting(RememberedFamily::name)
        .contains("blue/oldest", "red/family-49");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "trust":0.625                | "trust":7          | families[0]: trust must be in (0, 1] but is 7.0
          "trust":0.625                | "trust":"high"     | families[0].trust must be a number but is "high"
          "trust":0.625                | "t":1              | families[0].trust must be a number but is missing
          "name":"team/resnet"         | "name":""          | families[0]: name of a family must not be empty
          "heard":"2026-01-01T00:00:00Z" | "heard":"today"  | families[0].heard must be a time such as 2026-01-31T12:00:00Z but is "today"
          "initialBatch":128           | "initialBatch":1.5 | families[0].initialBatch must be an integer but is 1.5
          [40,60]                      | [40,-1]            | families[0]: rescalePauses must not be negative but are PT-0.001S
          [3,512.25,8]                 | [64,512.25,8]      | families[0].noise[0]: noise.index must be from 0 to 63 but is 64
          [1,2,32,10,0.1,0.01]         | [1,2,32]           | families[0].profiles[""][0] must be a list of 6 but is [1,2,32]
          [1,2,32,10,0.1,0.01]         | [1,2,32,10,0.1,"x"] | families[0].profiles[""][0][5] must be a number but is "x"
          """)
  void aFaultyFamilyIsLeftOutAndItsFaultNamed(String good, String bad, String fault) {
    String other = FamilyCodec.write(List.of(family("team/other", 1)), 10_000);
    String faulty = GOLDEN.replace(good, bad);
    assertThat(faulty).isNotEqualTo(GOLDEN);
    String both =
        faulty.substring(0, faulty.length() - 2) + "," + other.substring(other.indexOf('[') + 1);
    List<String> faults = new ArrayList<>();
    assertThat(FamilyCodec.read(both, faults::add)).containsExactly(family("team/other", 1));
    assertThat(faults).containsExactly(fault);
  }

  @Test
  void aFaultyDocumentHoldsNoFamilies() {
    List<String> faults = new ArrayList<>();
    assertThat(FamilyCodec.read("{\n\"schema\": kastor", faults::add)).isEmpty();
    assertThat(FamilyCodec.read("{\"schema\": \"v0\"}", faults::add)).isEmpty();
    assertThat(faults.getFirst()).startsWith("line 2: not valid JSON");
    assertThat(faults.getLast()).contains("schema must be kastor.dev/families/v1 but is \"v0\"");
  }
}
