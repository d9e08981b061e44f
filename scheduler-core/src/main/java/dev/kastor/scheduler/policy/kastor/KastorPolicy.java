package dev.kastor.scheduler.policy.kastor;

import dev.kastor.plugin.Options;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Kastor's own policy: GPUs have a price, in seconds of everybody's time, and each job gets what is
 * worth more than it costs. See {@code docs/policy.md}.
 */
final class KastorPolicy implements Policy {
  /** Assumed of a job that has not begun, where no other job says better. */
  private static final double UNKNOWN_SECONDS = 600;

  private static final double STRETCH_POWER = 2;
  private static final double LEAST_KEEP = 0.01;

  /** Times {@code minimumRun} for which replicas may start before what holds them counts as run. */
  private static final double STARTS = 2;

  private static final double NOTHING = 1e-6;

  private final Options options;
  private final double holdSeconds;
  private final boolean pricing;
  private final boolean ranking;
  private final boolean hysteresis;
  private final double fairness;
  private final double minimumRunSeconds;
  private final double solverSteps;
  private final OfferBook book;
  private final Moves moves;
  private final TrainedTime trained;

  KastorPolicy(Options options) {
    this.options = options;
    holdSeconds = options.get(KastorPlugin.HOLD);
    pricing = options.get(KastorPlugin.PRICING);
    ranking = options.get(KastorPlugin.RANKING);
    hysteresis = options.get(KastorPlugin.HYSTERESIS);
    fairness = options.get(KastorPlugin.FAIRNESS);
    minimumRunSeconds = options.get(KastorPlugin.MINIMUM_RUN);
    trained = new TrainedTime(STARTS * minimumRunSeconds);
    solverSteps = options.get(KastorPlugin.BUDGET);
    book = new OfferBook(options);
    moves = new Moves(options.get(KastorPlugin.MOVES_PER_NODE));
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    Decision decision = decide(snapshot);
    moves.note(snapshot.now(), decision.draft().movedFor().size());
    return decision.plan();
  }

  /**
   * What a change or a stop costs a job counts among jobs of its priority and of lower ones only:
   * where such costs keep a job of a higher priority from its GPUs, the round is decided without
   * them.
   */
  Decision decide(Snapshot snapshot) {
    trained.look(snapshot.jobs());
    Pools pools = Pools.of(snapshot.nodes(), options);
    Decision usual = decide(snapshot, pools, Integer.MIN_VALUE);
    OptionalInt claimant = usual.claimant();
    if (claimant.isEmpty()) {
      return usual;
    }
    int level = claimant.getAsInt();
    Decision yielding = decide(snapshot, pools, level);
    return yielding.speed(level) > usual.speed(level) * (1 + NOTHING) ? yielding : usual;
  }

  /** A decision in which the costs of jobs below a priority protect none of them. */
  private Decision decide(Snapshot snapshot, Pools pools, int priority) {
    List<Bid> bids = bids(snapshot, pools);
    bids.forEach(bid -> bid.yields = bid.job.spec().priority() < priority);
    int mostMoves = moves.left(snapshot.now(), snapshot.nodes().size());
    List<Bid> fixed = new ArrayList<>();
    for (Bid bid : bids) {
      if (bid.job.pinned()) {
        fixed.add(bid);
      }
    }
    Packing roomy = packing(pools, fixed, mostMoves);
    Rooms rooms = Rooms.of(snapshot);
    fixed.forEach(rooms::fix);
    rooms.claimMost(bids);
    List<Bid> open = new ArrayList<>();
    for (Bid bid : bids) {
      if (!bid.job.pinned()) {
        bid.settledSeconds = settled(bid);
        boolean settled =
            bid.settledSeconds > 0 && roomy.holds(bid.job.allocation()) && rooms.leaves(bid);
        if (settled) {
          roomy.fix(bid.job.allocation());
          rooms.fix(bid);
        } else {
          bid.settledSeconds = 0;
        }
        (settled ? fixed : open).add(bid);
      }
    }
    rooms.open(open);
    int[] capacity = Sharing.capacity(roomy.left(unit(open, pools)), open, pools);
    double[] price = new Prices(open, capacity, pools.money(), pricing, rooms).clear();
    open.forEach(bid -> value(bid, pools));
    rooms.claim(price);
    Shares.Given given = new Shares(open, capacity, price, solverSteps, rooms).divide();
    Draft draft = Draft.of(open, given.offer(), roomy, pools, rooms);
    if (draft.value() < Draft.ofHeld(open) && !Sharing.exceeded(open, capacity, pools)) {
      // Packing may move more than the shares foresaw: then those who run stay as they are.
      draft = better(draft, keeping(open, fixed, pools, price, rooms), open, rooms);
    }
    return new Decision(bids, fixed, draft, price, given, pools, rooms);
  }

  /** The other draft if it is worth more and meets no less of what queues claim. */
  private static Draft better(Draft draft, Draft other, List<Bid> open, Rooms rooms) {
    boolean more = other.value() > draft.value();
    return more && rooms.met(open, other.allocations()) >= rooms.met(open, draft.allocations())
        ? other
        : draft;
  }

  /**
   * For how long a job keeps what it holds whatever others bid: it has only just got it, or it ends
   * sooner than it could pause. One that is past the end of its declared work does not end soon.
   */
  private double settled(Bid bid) {
    if (bid.held < 0) {
      return 0;
    }
    double young = minimumRunSeconds - trained.seconds(bid.job);
    double left = bid.left(bid.offers.rate()[bid.held]);
    bid.ending = !bid.yields && bid.certain && bid.workLeft() && left <= bid.restartPause();
    return Math.max(0, bid.ending ? Math.max(young, left) : young);
  }

  /** Slots in whose multiples all of these jobs take slots: the remainder of a node is no use. */
  private static int unit(List<Bid> bids, Pools pools) {
    int unit = 0;
    for (Bid bid : bids) {
      for (int pool = 0; pool < pools.count() && unit != 1; pool++) {
        String type = pools.gpuType(pool);
        if (bid.job.spec().runsOn(type)) {
          unit = Sizes.common(unit, bid.job.spec().slotsPerReplica(type));
        }
      }
    }
    return Math.max(1, unit);
  }

  private static Packing packing(Pools pools, List<Bid> fixed, int mostMoves) {
    Packing packing = new Packing(pools, mostMoves);
    fixed.forEach(bid -> packing.fix(bid.job.allocation()));
    return packing;
  }

  /** All who hold something keep it, and the others share the rest. */
  private Draft keeping(List<Bid> open, List<Bid> fixed, Pools pools, double[] price, Rooms rooms) {
    int[] mark = rooms.mark();
    Packing packing = packing(pools, fixed, 0);
    List<Bid> waiting = new ArrayList<>();
    List<Bid> running = new ArrayList<>();
    for (Bid bid : open) {
      boolean keeps =
          bid.held >= 0
              && Rooms.fits(bid, bid.job.allocation().slots())
              && packing.keep(bid, bid.index, bid.offers.pool()[bid.held]);
      if (keeps) {
        Rooms.take(bid, bid.job.allocation().slots());
      }
      (keeps ? running : waiting).add(bid);
    }
    int[] offers =
        new Shares(
                waiting,
                Sharing.capacity(packing.left(unit(waiting, pools)), waiting, pools),
                price,
                solverSteps,
                rooms)
            .divide()
            .offer();
    rooms.reset(mark);
    return Draft.with(running, waiting, offers, packing, pools, rooms);
  }

  private List<Bid> bids(Snapshot snapshot, Pools pools) {
    List<JobState> jobs = snapshot.jobs();
    Offers[] offers = book.of(jobs, pools);
    Totals totals = new Totals(jobs);
    double[] remaining = new double[jobs.size()];
    double known = 0;
    int count = 0;
    for (int j = 0; j < remaining.length; j++) {
      remaining[j] = remaining(jobs.get(j), offers[j], totals);
      if (!Double.isNaN(remaining[j])) {
        known += Math.log(Math.max(1, remaining[j]));
        count++;
      }
    }
    double typical =
        count == 0 ? UNKNOWN_SECONDS : Math.min(UNKNOWN_SECONDS, Math.exp(known / count));
    double share = (double) snapshot.totalSlots() / Math.max(1, jobs.size());
    Priorities priorities = new Priorities(jobs);
    List<Bid> bids = new ArrayList<>(jobs.size());
    for (int j = 0; j < remaining.length; j++) {
      double left = Double.isNaN(remaining[j]) ? typical : remaining[j];
      JobState job = jobs.get(j);
      bids.add(
          new Bid(
              j,
              job,
              offers[j],
              held(job, offers[j], pools),
              left,
              certain(job),
              snapshot.queue(job.spec().queue()).weight()
                  * late(Stretch.of(job, offers[j], left, totals.fraction(job), share))
                  * priorities.weight(job)));
    }
    if (ranking) {
      Delays.set(bids);
    }
    return bids;
  }

  /** Whether it is known how much work is left, and from reports or a family how fast it goes. */
  private static boolean certain(JobState job) {
    return job.model().isPresent() && job.outlook().knowsTotal(job.reached());
  }

  /** Seconds left at the best size; not a number where nobody knows. */
  private static double remaining(JobState job, Offers offers, Totals totals) {
    if (job.model().isEmpty() || offers.fullRate() <= 0) {
      return Double.NaN;
    }
    Progress progress = job.reached();
    double total = totals.of(job, progress);
    if (total <= 0) {
      return Double.NaN;
    }
    double steps = Math.max(1, total - progress.scaleInvariantSteps());
    return steps * job.spec().batchLimits().initialGlobalBatch() / offers.fullRate();
  }

  /** Weight of a job's time by how late it is. */
  private double late(double stretch) {
    return Math.pow(Math.max(1, stretch / fairness), STRETCH_POWER);
  }

  private static int held(JobState job, Offers offers, Pools pools) {
    Allocation allocation = job.allocation();
    if (allocation.isEmpty()) {
      return -1;
    }
    int pool = pools.of(allocation);
    return pool < 0 ? -1 : offers.find(pool, allocation.slots());
  }

  private void value(Bid bid, Pools pools) {
    double stop = stop(bid);
    for (int o = 0; o < bid.value.length; o++) {
      double money = pools.money()[bid.offers.pool()[o]] * bid.offers.slots()[o];
      double gross = bid.worth * bid.offers.rate()[o];
      double restarted = changed(bid, gross, money, keep(bid, o, bid.restartPause()));
      bid.valueRestarted[o] = restarted;
      if (o == bid.held) {
        bid.value[o] = gross - money;
      } else if (live(bid, o, pools)) {
        bid.value[o] =
            changed(bid, gross, money, keep(bid, o, bid.rescalePause())) - starts(bid, o);
      } else {
        bid.value[o] = restarted;
      }
    }
    for (int o = 0; o < bid.value.length; o++) {
      bid.value[o] += stop;
      bid.valueRestarted[o] += stop;
    }
  }

  /**
   * What it costs to stop a job: the pause that its next start will take, of what it earns now. All
   * that it may hold is worth so much more, since to hold nothing is worth nothing. Who is past the
   * end of its declared work does not end soon.
   */
  private double stop(Bid bid) {
    double pause = bid.restartPause();
    if (bid.held < 0 || bid.yields || !hysteresis || pause <= 0) {
      return 0;
    }
    double rate = bid.offers.rate()[bid.held];
    double time = Math.sqrt(holdSeconds * pause);
    if (bid.certain && bid.workLeft()) {
      time = Math.min(time, bid.left(rate) + pause);
    }
    return bid.worth * rate * Math.min(1 - LEAST_KEEP, pause / time);
  }

  /**
   * What an offer is worth that the job does not hold. While it pauses its slots cost money too. A
   * job that holds nothing pays for a start whenever it starts: that is no reason to wait.
   */
  private static double changed(Bid bid, double gross, double money, double keep) {
    double net = gross - money;
    if (net <= 0) {
      return net;
    }
    return bid.held < 0 ? net * keep : Math.max(gross * keep - money, net * LEAST_KEEP);
  }

  /**
   * Cost of the start of replicas that are added: what they add is lost for as long as they start,
   * of the time over which a cluster changes. To a job that ends sooner they add nothing.
   */
  private double starts(Bid bid, int offer) {
    double start = bid.startSeconds();
    double more = bid.offers.rate()[offer] - bid.offers.rate()[bid.held];
    boolean grows = bid.offers.slots()[offer] > bid.offers.slots()[bid.held] && more > 0;
    if (!grows || bid.yields || !hysteresis || start <= 0) {
      return 0;
    }
    double time = Math.min(holdSeconds, bid.left(bid.offers.rate()[bid.held]));
    return bid.worth * more * Math.min(1, start / time);
  }

  /** Whether replicas that run may hand on what they know: those of another pool are elsewhere. */
  private static boolean live(Bid bid, int offer, Pools pools) {
    int pool = bid.offers.pool()[offer];
    return bid.held >= 0
        && (pool == bid.offers.pool()[bid.held] || pools.touches(bid.job.allocation(), pool));
  }

  /** What is left of an offer's value when a pause is paid for it. */
  private double keep(Bid bid, int offer, double pause) {
    if (bid.yields || !hysteresis || pause <= 0) {
      return 1;
    }
    double time =
        Math.min(Math.sqrt(holdSeconds * pause), bid.left(bid.offers.rate()[offer]) + pause);
    return Math.max(LEAST_KEEP, 1 - pause / time);
  }
}
