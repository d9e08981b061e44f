package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.Sentences;
import dev.kastor.engine.nn.SentenceClassifier;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.train.ProgramException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;

/** Classifies sentences of unequal length with an LSTM or a GRU. */
final class SentenceProgram extends NetworkProgram {
  SentenceProgram() {
    super(
        "text-rnn",
        "Classifies the sentences of a file, byte by byte, with an LSTM or a GRU.",
        defaults());
  }

  private static SequencedMap<String, String> defaults() {
    SequencedMap<String, String> defaults = new LinkedHashMap<>();
    defaults.put("data", "");
    defaults.put("holdOutEvery", "10");
    defaults.put("context", "128");
    defaults.put("cell", "lstm");
    defaults.put("embedding", "32");
    defaults.put("width", "96");
    defaults.put("optimizer", "adam");
    return defaults;
  }

  @Override
  public Set<String> pathParameters() {
    return Set.of("data");
  }

  private record Settings(
      Path data, int holdOutEvery, int context, Recurrent.Cell cell, int embedding, int width) {
    static Settings of(Parameters parameters) throws ProgramException {
      return new Settings(
          parameters.path("data"),
          parameters.integer("holdOutEvery", 2, 1_000_000),
          parameters.integer("context", 2, 1024),
          cell(parameters),
          parameters.integer("embedding", 1, 1024),
          parameters.integer("width", 1, 4096));
    }

    private static Recurrent.Cell cell(Parameters parameters) throws ProgramException {
      return switch (parameters.text("cell")) {
        case "lstm" -> Recurrent.Cell.LSTM;
        case "gru" -> Recurrent.Cell.GRU;
        default -> throw parameters.wrong("cell", "lstm or gru");
      };
    }
  }

  @Override
  protected OptionalLong glance(Parameters parameters) throws ProgramException {
    Settings settings = Settings.of(parameters);
    try {
      return OptionalLong.of(
          Sentences.glance(settings.data, settings.context, settings.holdOutEvery));
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
  }

  @Override
  protected Task task(Parameters parameters) throws ProgramException {
    Settings settings = Settings.of(parameters);
    Sentences sentences;
    try {
      sentences = Sentences.read(settings.data, settings.context, settings.holdOutEvery);
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
    SentenceClassifier network =
        new SentenceClassifier(
            settings.context,
            settings.embedding,
            settings.width,
            settings.cell,
            sentences.labels().size(),
            true);
    return new Task(
        network,
        sentences.training(),
        sentences.heldOut(),
        new Inputs.Sentences(settings.context),
        sentences.labels());
  }
}
