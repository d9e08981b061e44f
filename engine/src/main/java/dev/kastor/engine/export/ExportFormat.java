package dev.kastor.engine.export;

import java.io.IOException;
import java.io.OutputStream;

/** File format of exported models. */
public enum ExportFormat {
  /** Parameters by name, as training code of today reads them. */
  SAFETENSORS {
    @Override
    public Content of(TrainedModel model) {
      return out -> Safetensors.write(model, out);
    }
  },
  /** Parameters with the graph that computes logits and probabilities. */
  ONNX {
    @Override
    public Content of(TrainedModel model) throws ExportException {
      return OnnxModel.of(model)::writeTo;
    }
  },
  /** Parameters by name, as NumPy reads them. */
  NPZ {
    @Override
    public Content of(TrainedModel model) {
      return out -> Npz.write(model, out);
    }
  };

  /** Content of a file. */
  @FunctionalInterface
  public interface Content {
    /** Writes all of it; the stream is not closed. */
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * A model as a file.
   *
   * @throws ExportException if the format cannot have the model
   */
  public abstract Content of(TrainedModel model) throws ExportException;
}
