package dev.kastor.engine.program;

import dev.kastor.engine.data.ImageSet;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Scores;
import dev.kastor.engine.train.Trainable;
import java.util.stream.IntStream;

/** An image classifier bound to its images. */
final class ImageTrainable implements Trainable {
  private static final int EVALUATION_BATCH = 250;

  private final GraphModel model;
  private final LabelledImages images;
  private Batch buffer = new Batch(0, new float[0], new int[0]);

  ImageTrainable(GraphModel model, LabelledImages images) {
    this.model = model;
    this.images = images;
  }

  @Override
  public int trainingExamples() {
    return images.training().examples();
  }

  @Override
  public float[] parameters() {
    return model.parameters();
  }

  @Override
  public float[] statistics() {
    return model.statistics();
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
    return model.pass(gather(images.training(), examples), gradient, batchStatistics);
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    model.applyStatistics(meanBatchStatistics);
  }

  @Override
  public Metric evaluate() {
    ImageSet heldOut = images.heldOut();
    Scores scores = Scores.NONE;
    for (int from = 0; from < heldOut.examples(); from += EVALUATION_BATCH) {
      int to = Math.min(heldOut.examples(), from + EVALUATION_BATCH);
      scores = scores.plus(model.score(gather(heldOut, IntStream.range(from, to).toArray())));
    }
    return new Metric("accuracy", scores.accuracy(), true);
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    model.warmUp(atomicBatchSize);
  }

  @Override
  public void close() {
    model.close();
  }

  private Batch gather(ImageSet set, int[] examples) {
    if (buffer.examples() != examples.length) {
      buffer =
          new Batch(
              examples.length,
              new float[Math.multiplyExact(examples.length, set.features())],
              new int[examples.length]);
    }
    set.gather(examples, buffer.features(), buffer.targets());
    return buffer;
  }
}
