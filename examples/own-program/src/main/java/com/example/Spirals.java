package com.example;

import dev.kastor.engine.data.Examples;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.program.NetworkProgram;
import dev.kastor.engine.program.Parameters;
import dev.kastor.engine.train.ProgramException;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Tells points of two intertwined spirals apart. */
public final class Spirals extends NetworkProgram {
  private static final double TURNS = 1.5;

  public Spirals() {
    super(
        "spirals",
        "Tells points of two intertwined spirals apart.",
        Map.of("hidden", "64,64", "points", "4000", "noise", "0.02"));
  }

  @Override
  protected Task task(Parameters parameters) throws ProgramException {
    int points = parameters.integer("points", 100, 1_000_000);
    double noise = parameters.decimal("noise", 0, 1);
    return new Task(
        new Mlp(2, parameters.widths("hidden", 1, 8), 2),
        Points.draw(parameters.seed(), points, noise),
        Points.draw(parameters.seed() + 1, points / 4, noise),
        // For kastor export and kastor predict; a task can go without both.
        new Inputs.Numbers(List.of("x", "y"), new float[] {0, 0}, new float[] {1, 1}),
        List.of("first", "second"));
  }

  /** Points of the plane, and which spiral each is of. */
  private record Points(float[] coordinates, int[] spirals) implements Examples {
    static Points draw(long seed, int count, double noise) {
      SplittableRandom random = new SplittableRandom(seed);
      float[] coordinates = new float[2 * count];
      int[] spirals = new int[count];
      for (int i = 0; i < count; i++) {
        spirals[i] = i % 2;
        double along = Math.sqrt(random.nextDouble());
        double angle = 2 * Math.PI * TURNS * along + Math.PI * spirals[i];
        coordinates[2 * i] = (float) (along * Math.cos(angle) + noise * random.nextGaussian());
        coordinates[2 * i + 1] = (float) (along * Math.sin(angle) + noise * random.nextGaussian());
      }
      return new Points(coordinates, spirals);
    }

    @Override
    public int examples() {
      return spirals.length;
    }

    @Override
    public void gather(int[] examples, float[] features, int[] targets) {
      for (int i = 0; i < examples.length; i++) {
        System.arraycopy(coordinates, 2 * examples[i], features, 2 * i, 2);
        targets[i] = spirals[examples[i]];
      }
    }
  }
}
