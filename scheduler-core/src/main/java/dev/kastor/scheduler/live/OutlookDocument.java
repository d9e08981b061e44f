package dev.kastor.scheduler.live;

import dev.kastor.scheduler.goodput.NoiseCurve;
import dev.kastor.scheduler.goodput.Outlook;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a family's past says of a job's future, in a {@link LiveDocument}.
 *
 * @param noise gradient noise over the course of the work; absent where nobody met it
 * @param finishedSteps scale-invariant steps of the family's jobs that ended
 * @param confidence in both, in [0, 1]
 */
public record OutlookDocument(
    @Nullable CurveDocument noise, List<Double> finishedSteps, double confidence) {
  /** A curve by its buckets. */
  public record CurveDocument(List<Double> logNoiseScale, int seen, int initialBatch) {
    public CurveDocument {
      logNoiseScale = List.copyOf(logNoiseScale);
      if (logNoiseScale.size() != NoiseCurve.BUCKETS) {
        throw new IllegalArgumentException(
            "logNoiseScale must have %d numbers but has %d"
                .formatted(NoiseCurve.BUCKETS, logNoiseScale.size()));
      }
    }

    private static CurveDocument of(NoiseCurve curve) {
      return new CurveDocument(
          Arrays.stream(curve.logNoiseScale()).boxed().toList(),
          curve.seen(),
          curve.initialBatch());
    }

    private NoiseCurve curve() {
      return new NoiseCurve(
          logNoiseScale.stream().mapToDouble(each -> each).toArray(), seen, initialBatch);
    }
  }

  public OutlookDocument {
    finishedSteps = List.copyOf(finishedSteps);
  }

  static OutlookDocument of(Outlook outlook) {
    return new OutlookDocument(
        outlook.noise().map(CurveDocument::of).orElse(null),
        outlook.finishedSteps(),
        outlook.confidence());
  }

  Outlook outlook() {
    return new Outlook(
        Optional.ofNullable(noise).map(CurveDocument::curve), finishedSteps, confidence);
  }
}
