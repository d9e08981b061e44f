package dev.kastor.operator.web;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.bench.GlyphNetworks;
import dev.kastor.engine.export.ExportFormat;
import dev.kastor.engine.export.TrainedModel;
import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * A network for glyphs that was trained for some steps, with its file.
 *
 * @param file as {@code kastor export} writes it
 */
// The bytes are written once and never changed.
@SuppressWarnings("ArrayRecordComponent")
record ExportedGlyphs(String program, TrainedModel model, byte[] file) {
  static ExportedGlyphs train(String name, Map<String, String> given, int steps) throws Exception {
    Map<String, String> parameters = new HashMap<>(given);
    parameters.put("backend", "reference");
    TrainedModel model = GlyphNetworks.train(name, parameters, steps);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ExportFormat.ONNX.of(model).writeTo(out);
    return new ExportedGlyphs(name, model, out.toByteArray());
  }

  /** Logits by the engine, of images side by side. */
  float[] logits(float[] pixels) {
    return GlyphNetworks.logits(model, new ReferenceBackend(), pixels);
  }
}
