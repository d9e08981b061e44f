package dev.kastor.engine.program;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.train.ProgramException;

/** The parameter {@code backend}, the same in all programs. */
final class BackendParameter {
  private BackendParameter() {}

  static Backend choose(Parameters parameters) throws ProgramException {
    return switch (parameters.text("backend")) {
      case "auto", "reference" -> new ReferenceBackend();
      default -> throw parameters.wrong("backend", "one of auto, reference");
    };
  }
}
