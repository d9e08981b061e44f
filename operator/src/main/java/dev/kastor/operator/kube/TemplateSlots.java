package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Slots that a job's template asks for, as the job's {@code elastic.slotsPerReplica} where its
 * owner left that out: from there on nobody has to read templates to know how large a replica is.
 *
 * <p>Templates are read before anybody checked them: what makes no sense counts nothing here, and
 * is refused when pods are made of it.
 */
final class TemplateSlots {
  private static final BigDecimal MOST = BigDecimal.valueOf(Integer.MAX_VALUE);

  private TemplateSlots() {}

  /** The job, whose spec says how many slots a replica takes. */
  static TrainingJob written(TrainingJob job, String slotResource) {
    TrainingJobSpec spec = job.getSpec();
    if (spec != null && spec.template() != null && !said(spec.elastic())) {
      int slots = slots(spec.template(), slotResource);
      if (slots > 1) {
        job.setSpec(spec.withSlotsPerReplica(slots));
      }
    }
    return job;
  }

  private static boolean said(@Nullable ElasticSpec elastic) {
    return elastic != null && elastic.slotsPerReplica() != null;
  }

  private static int slots(Map<String, Object> template, String slotResource) {
    long slots = 0;
    if (template.get("spec") instanceof Map<?, ?> spec
        && spec.get("containers") instanceof List<?> containers) {
      for (Object container : containers) {
        if (container instanceof Map<?, ?> fields
            && fields.get("resources") instanceof Map<?, ?> resources) {
          slots +=
              Math.max(
                  amount(resources.get("limits"), slotResource),
                  amount(resources.get("requests"), slotResource));
        }
      }
    }
    return Math.clamp(slots, 0, Integer.MAX_VALUE);
  }

  private static long amount(@Nullable Object amounts, String slotResource) {
    Object amount = amounts instanceof Map<?, ?> map ? map.get(slotResource) : null;
    if (amount == null) {
      return 0;
    }
    try {
      BigDecimal number = new Quantity(String.valueOf(amount)).getNumericalAmount();
      return number.max(BigDecimal.ZERO).min(MOST).intValue();
    } catch (IllegalArgumentException e) {
      // No quantity: the API server says so when it is asked to make such a pod.
      return 0;
    }
  }
}
