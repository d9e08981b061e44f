package dev.kastor.cli.why;

import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.view.JobView;
import dev.kastor.scheduler.model.ReasonNumber;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Counterfactual of a decision: what would have to be different for a job to get more GPUs than it
 * has. Made from the numbers that any policy may tell ({@link ReasonNumber}), for one in which a
 * job gets GPUs whose price its bid covers.
 */
final class Counterfactual {
  private final JobView job;
  private final Decision decision;
  private final List<String> sentences = new ArrayList<>();
  private final List<String> figures = new ArrayList<>();

  private Counterfactual(JobView job, Decision decision) {
    this.job = job;
    this.decision = decision;
  }

  /** Sentences; none if nothing is known. */
  static List<String> of(JobView job, Decision decision) {
    return told(job, decision).sentences;
  }

  /** Bids and prices behind the sentences; none if nothing is known. */
  static List<String> figures(JobView job, Decision decision) {
    return told(job, decision).figures;
  }

  private static Counterfactual told(JobView job, Decision decision) {
    Counterfactual told = new Counterfactual(job, decision);
    told.tell();
    return told;
  }

  private void tell() {
    if (job.ended()) {
      return;
    }
    if (job.phase().equals("Suspended")) {
      say("It is suspended. Let it go on with: kastor resume %s".formatted(job.name()));
      return;
    }
    if (job.pinned() != null && decision.replicas() > 0) {
      say(
          "It is pinned (%s). Let the scheduler decide: kastor pin %s --unpin"
              .formatted(job.pinned(), job.name()));
      return;
    }
    if (decision.reason().equals("NoFittingNodes")) {
      say(
          "It needs at least %d replicas%s. Lower that with kastor scale %s --min N, or add nodes of a type that it runs on%s."
              .formatted(
                  job.minReplicas(),
                  job.each(),
                  job.name(),
                  job.slotsPerReplica() == 1
                      ? ""
                      : ", with at least %d GPUs each".formatted(job.slotsPerReplica())));
      return;
    }
    if (QuotaCounterfactual.sentences(job, decision).map(sentences::addAll).isPresent()) {
      return;
    }
    if (decision.replicas() == 0) {
      waits();
    } else {
      runs();
    }
  }

  private void waits() {
    Optional<Double> bid = decision.number(ReasonNumber.BID_PER_SLOT);
    Optional<Double> price = decision.number(ReasonNumber.PRICE_PER_SLOT);
    Optional<Double> slots = decision.number(ReasonNumber.LEAST_SLOTS);
    if (bid.isEmpty() || price.isEmpty() || slots.isEmpty()) {
      return;
    }
    figures.add(
        "It bids %s for each of %s, and a GPU costs %s (job-seconds saved per GPU-second)."
            .formatted(Format.number(bid.get()), gpus(slots.get()), Format.number(price.get())));
    say(
        "It needs %s%s."
            .formatted(
                gpus(slots.get()),
                switch (decision.ahead()) {
                  case 0 -> "";
                  case 1 -> ", and 1 job that waits is ahead of it";
                  default -> ", and %d jobs that wait are ahead of it".formatted(decision.ahead());
                }));
    compare(bid.get(), price.get(), "It starts");
    decision
        .number(ReasonNumber.MONEY_PER_HOUR)
        .ifPresent(money ->
            say("Its least size costs %s an hour in money.".formatted(Format.number(money))));
    if (slots.get() > 1 && job.minReplicas() > 1) {
      say(smaller(job));
    }
  }

  /** Advice for a job that needs several replicas at once. */
  static String smaller(JobView job) {
    // Bounds that are one cannot be parted, as those of a gang.
    return job.minReplicas() == job.maxReplicas()
        ? "With fewer replicas it fits earlier: kastor scale %s --replicas N".formatted(job.name())
        : "With a lower minimum it fits earlier: kastor scale %s --min N".formatted(job.name());
  }

  private void runs() {
    Optional<Double> price = decision.number(ReasonNumber.PRICE_PER_SLOT);
    Optional<Double> more = decision.number(ReasonNumber.MORE_SLOTS);
    Optional<Double> bid = decision.number(ReasonNumber.BID_PER_MORE_SLOT);
    if (more.isPresent() && bid.isPresent() && price.isPresent()) {
      if (bid.get() <= 0) {
        say("%s would not make up for the pause, even free of charge.".formatted(more(more.get())));
      } else {
        figures.add(
            "It bids %s for each of %s, and a GPU costs %s (job-seconds saved per GPU-second)."
                .formatted(Format.number(bid.get()), more(more.get()), Format.number(price.get())));
        decision
            .number(ReasonNumber.QUOTA_PRICE_PER_SLOT)
            .filter(part -> part > 0)
            .ifPresent(part -> {
              say("Others of its queue or of the queue's cohort want the same quota.");
              figures.add("Of that price %s is for the quota.".formatted(Format.number(part)));
            });
        compare(bid.get(), price.get(), "It grows");
      }
    } else if (job.replicas() >= job.maxReplicas()) {
      say(
          "It has the %d replicas that it may have. Let it have more: kastor scale %s --max N"
              .formatted(job.maxReplicas(), job.name()));
    }
    decision
        .number(ReasonNumber.NEXT_IN_LINE_PER_SLOT)
        .ifPresent(next ->
            figures.add(
                "The next in line for what it has bids %s for each GPU."
                    .formatted(Format.number(next))));
  }

  private void compare(double bid, double price, String then) {
    if (bid <= 0) {
      say("%s when it is expected to gain from more GPUs; now it is not.".formatted(then));
    } else if (bid < price) {
      say(
          "%s when other jobs end or nodes come; sooner in a queue of %s times the weight (kastor queue) or with a higher priority, each level of which counts ten times."
              .formatted(then, Format.number(price / bid)));
    } else {
      say("%s as soon as GPUs that fit are free.".formatted(then));
    }
  }

  private static String gpus(double count) {
    return count == 1 ? "1 GPU" : "%d GPUs".formatted(Math.round(count));
  }

  private static String more(double count) {
    return count == 1 ? "1 more GPU" : "%d more GPUs".formatted(Math.round(count));
  }

  private void say(String sentence) {
    sentences.add(sentence);
  }
}
