package dev.kastor.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.local.Paces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PaceFileTest {
  private static final String ROWS =
      """
      application,gpuType,alphaCompute,betaCompute,alphaNetwork,betaNetwork,alphaLocal,betaLocal,gamma,initialBatch,maxBatch,minAtomicBatch,maxAtomicBatch,maxReplicas,totalSteps,epochs,restartSeconds,noiseScale
      cnn,,0.08,0.0004,0.03,0.003,0.03,0.003,1.5,64,512,8,256,4,125,10,9,0:60
      """;

  @TempDir Path folder;

  private String file(String text) throws IOException {
    return Files.writeString(folder.resolve("paces.csv"), text).toString();
  }

  @Test
  void passesTakeTheTimesOfTheFile() throws IOException {
    Paces paces = PaceFile.read(file(ROWS));
    Map<String, String> given = paces.of(Map.of("KASTOR_JOB_SPEC", "{}"), List.of("cnn.py"));
    assertThat(given.getOrDefault("KASTOR_PACE", "").split(" "))
        .extracting(Double::parseDouble)
        .containsExactly(0.08, 0.0004);
  }

  @Test
  void whatIsWrongIsNamedWithItsPlace() throws IOException {
    String bad = file(ROWS.replace("0.0004", "fast"));
    assertThatThrownBy(() -> PaceFile.read(bad))
        .isInstanceOf(CliException.class)
        .hasMessageContainingAll("--paced", "paces.csv", "betaCompute");
    String twice = file(ROWS + "cnn,a100,1,1,0,0,0,0,1,64,512,8,256,,,,,\n");
    assertThatThrownBy(() -> PaceFile.read(twice)).hasMessageContaining("on 2 GPU types");
    assertThatThrownBy(() -> PaceFile.read(folder.resolve("none.csv").toString()))
        .hasMessageContaining("none.csv");
  }
}
