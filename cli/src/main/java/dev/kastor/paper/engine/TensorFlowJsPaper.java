package dev.kastor.paper.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.paper.Certainty;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Measured;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.Reproduction;
import dev.kastor.paper.Threshold;
import dev.kastor.paper.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** TensorFlow.js: models that a page computes, where the data are. */
public final class TensorFlowJsPaper implements Paper {
  private static final List<String> SCRIPTS =
      List.of("/app/onnx.js", "/app/network.js", "/app/imagemodel.js");

  /** Computes the images of each network and compares the logits with those of the engine. */
  private static final String PAGE =
      """
      import { readImageModel, answer } from "/app/imagemodel.js";
      export async function found() {
        const read = async name => (await fetch(name)).arrayBuffer();
        const largest = values => values.indexOf(Math.max(...values));
        const programs = await (await fetch("/programs.json")).json();
        const images = new Float32Array(await read("/images.f32"));
        const all = [];
        for (const program of programs) {
          const model = readImageModel(await read(`/${program}.onnx`));
          const wanted = new Float32Array(await read(`/${program}.f32`));
          const size = model.height * model.width;
          const classes = model.labels.length;
          const count = images.length / size;
          let same = 0;
          let difference = 0;
          let millis = 0;
          for (let i = 0; i < count; i++) {
            const begun = performance.now();
            const logits = answer(model, images.subarray(i * size, (i + 1) * size), "logits");
            millis += performance.now() - begun;
            const engine = wanted.subarray(i * classes, (i + 1) * classes);
            same += largest(logits) === largest(engine);
            logits.forEach((value, k) => {
              difference = Math.max(difference, Math.abs(value - engine[k]));
            });
          }
          all.push({ program, same: same / count, difference, millis: millis / count });
        }
        return all;
      }
      """;

  @Override
  public String name() {
    return "tensorflow-js";
  }

  @Override
  public String title() {
    return "TensorFlow.js (Smilkov et al., MLSys 2019)";
  }

  @Override
  public String description() {
    return "Trains glyph-mlp and glyph-cnn, exports them, and lets the script of the page draw.html"
        + " compute 1,000 held-out images in a headless Chromium of this machine.";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        Claim.of(
            "A trained model runs in the page, without installation and where the data are.",
            "abstract",
            Certainty.ABSTRACT,
            Threshold.atLeast(
                "share of images with the engine's answer in the page", 0.999, 0.99)));
  }

  @Override
  public Optional<Reproduction> reproduction() {
    return Optional.of(TensorFlowJsPaper::measure);
  }

  private static List<Measured> measure(Trial trial) throws PaperException, InterruptedException {
    int images = trial.reduced() ? 20 : 1000;
    int steps = trial.reduced() ? 10 : 300;
    try (HeadlessPage page = HeadlessPage.open()) {
      Map<String, byte[]> files = new HashMap<>();
      Installation installation = Installation.current();
      for (String script : SCRIPTS) {
        files.put(script, installation.pageFile(script));
      }
      List<String> programs = new ArrayList<>();
      List<String> arguments =
          List.of(page.folder().toString(), Integer.toString(images), Integer.toString(steps));
      for (JsonNode network : Benchmark.run(trial, "engine.bench.GlyphNetworks", arguments)) {
        programs.add(network.path("program").asText());
      }
      for (String name : names(programs)) {
        files.put("/" + name, Files.readAllBytes(page.folder().resolve(name)));
      }
      trial.progress().accept("%d images of each network in %s".formatted(images, page.browser()));
      files.put("/programs.json", new ObjectMapper().writeValueAsBytes(programs));
      return List.of(told(page.run(PAGE, files), images));
    } catch (IOException | LocalException e) {
      throw new PaperException(String.valueOf(e.getMessage()), e);
    }
  }

  private static List<String> names(List<String> programs) {
    List<String> names = new ArrayList<>(List.of("images.f32"));
    for (String program : programs) {
      names.add(program + ".onnx");
      names.add(program + ".f32");
    }
    return names;
  }

  private static Measured told(JsonNode found, int images) {
    double least = 1;
    List<String> each = new ArrayList<>();
    for (JsonNode network : found) {
      least = Math.min(least, network.path("same").asDouble(0));
      each.add(
          String.format(
              Locale.ROOT,
              "%s %.2f ms an image, logits within %.1e",
              network.path("program").asText(),
              network.path("millis").asDouble(),
              network.path("difference").asDouble()));
    }
    return Measured.single(
        each.isEmpty() ? Double.NaN : least,
        "%d images each; %s".formatted(images, String.join("; ", each)));
  }
}
