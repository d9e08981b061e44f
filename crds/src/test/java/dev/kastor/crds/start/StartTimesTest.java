package dev.kastor.crds.start;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StartTimesTest {
  private static final Instant AT = Instant.parse("2026-11-26T18:00:00.250Z");

  @Test
  void aLineSaysAllThatIsKnown() {
    StartTimes times =
        new StartTimes(
            "bert-2",
            AT,
            Map.of(StartPhase.STATE, 200L, StartPhase.IMAGE, 1200L),
            "peers",
            OptionalLong.of(5750));
    assertThat(times.text())
        .isEqualTo("bert-2 2026-11-26T18:00:00.250Z image=1200 state=200 from=peers total=5750");
    assertThat(StartTimes.parse(times.text())).contains(times);
  }

  @Test
  void whatIsUnknownIsAbsent() {
    StartTimes times = new StartTimes("bert-2", AT, Map.of(), "", OptionalLong.empty());
    assertThat(StartTimes.parse(times.text())).contains(times);
  }

  @Test
  void aLaterVersionMayAddFields() {
    assertThat(StartTimes.parse("bert-2 2026-11-26T18:00:00Z image=1 colour=red"))
        .get()
        .returns(Map.of(StartPhase.IMAGE, 1L), StartTimes::millis);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "bert-2",
        "bert-2 yesterday image=1",
        "bert\u001b[2J 2026-11-26T18:00:00Z",
        "bert-2 2026-11-26T18:00:00Z image",
        "bert-2 2026-11-26T18:00:00Z from=\u001b[2J",
      })
  void textOfOthersIsNoStart(String text) {
    assertThat(StartTimes.parse(text)).isEmpty();
  }

  @Test
  void aNumberThatIsNoneIsUnknown() {
    assertThat(StartTimes.parse("bert-2 2026-11-26T18:00:00Z image=-1 total=1e9"))
        .get()
        .returns(Map.of(), StartTimes::millis)
        .returns(OptionalLong.empty(), StartTimes::total);
  }
}
