package dev.kastor.paper.registry;

import static dev.kastor.paper.Certainty.ABSTRACT;
import static dev.kastor.paper.Certainty.CODE;
import static dev.kastor.paper.Certainty.NOTES;
import static dev.kastor.paper.Certainty.RECALLED;
import static dev.kastor.paper.Certainty.TEXT;

import dev.kastor.paper.Certainty;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PlannedPaper;
import java.util.ArrayList;
import java.util.List;

/** Research systems that are not hosted yet, by the part of Kastor that will host them. */
final class PlannedPapers {
  private static final String CODEC =
      "A gradient codec can be plugged in, and this one is not built.";
  private static final String ORDER = "The order of transfers cannot be replaced yet.";
  private static final String LEVELS =
      "The collective hierarchical sums in two levels, nodes and replicas, and not in more; nothing"
          + " is measured on GPUs.";
  private static final String PERIOD =
      "A sync policy can be plugged in, and none changes its period yet.";
  private static final String MEAN =
      "Gradients are averaged; another aggregation cannot be plugged in yet.";
  private static final String PLANS = "A pass cannot be planned or rewritten by a plug-in yet.";
  private static final String LOOP = "The training loop has no hooks yet.";
  private static final String GATE = "Nothing is checked before or after a training yet.";
  private static final String PROGRAM = "There is no such program yet.";

  private PlannedPapers() {}

  static List<Paper> all() {
    List<Paper> papers = new ArrayList<>(communication());
    papers.addAll(planning());
    papers.addAll(trainingLoop());
    papers.addAll(programs());
    return papers;
  }

  private static Paper paper(
      String name, String title, String missing, Certainty certainty, String sentence) {
    String source =
        switch (certainty) {
          case TEXT -> "the paper";
          case ABSTRACT -> "abstract";
          case CODE -> "code and documentation of the authors";
          case NOTES -> "notes of others on the paper";
          case RECALLED -> "the paper, not at hand";
        };
    return new PlannedPaper(name, title, missing, Claim.unmeasured(sentence, source, certainty));
  }

  private static List<Paper> communication() {
    return List.of(
        paper(
            "3lc",
            "3LC (Lim, Andersen and Kaminsky, MLSys 2019)",
            CODEC,
            ABSTRACT,
            "State changes become 39 to 107 times smaller; ResNet-110 trains 16 to 23 times faster"
                + " on ten GPUs with limited bandwidth, at nearly the same accuracy."),
        paper(
            "p3",
            "P3, priority-based parameter propagation (Jayarajan et al., MLSys 2019)",
            ORDER,
            ABSTRACT,
            "Throughput grows by up to 25 % (ResNet-50), 38 % (Sockeye) and 66 % (VGG-19)."),
        paper(
            "tictac",
            "TicTac (Hashemi, Abdu Jyothi and Campbell, MLSys 2019)",
            ORDER,
            ABSTRACT,
            "An order of transfers raises throughput by up to 37.7 % in inference and 19.2 % in"
                + " training."),
        paper(
            "blueconnect",
            "BlueConnect (Cho et al., MLSys 2019)",
            LEVELS,
            ABSTRACT,
            "The overhead of synchronisation falls by 87 % with ResNet-50 on 192 GPUs."),
        paper(
            "adacomm",
            "AdaComm (Wang and Joshi, MLSys 2019)",
            PERIOD,
            ABSTRACT,
            "The same training loss is reached in a third of the time of synchronous SGD."),
        paper(
            "aggregathor",
            "AggregaThor (Damaskinos et al., MLSys 2019)",
            MEAN,
            ABSTRACT,
            "Aggregation that tolerates wrong workers costs 19 % (weak) and 43 % (strong) of"
                + " overhead."));
  }

  private static List<Paper> planning() {
    return List.of(
        paper(
            "graphpipe",
            "GraphPipe (ASPLOS 2025)",
            PLANS,
            TEXT,
            "A pipeline whose stages are a graph has up to 1.6 times the throughput of a chain,"
                + " and is found 9 to 21 times faster."),
        paper(
            "flexflow",
            "FlexFlow (MLSys 2019)",
            PLANS,
            NOTES,
            "Strategies that a simulator finds train 1.3 to 3.3 times faster than data parallelism"
                + " and those of experts."),
        paper(
            "metaflow",
            "MetaFlow (MLSys 2019)",
            PLANS,
            ABSTRACT,
            "Rewritten graphs are 1.1 to 1.6 times faster in inference and 1.1 to 1.2 times in"
                + " training."),
        paper(
            "bn-restructuring",
            "Restructuring batch normalisation (MLSys 2019)",
            PLANS,
            ABSTRACT,
            "DenseNet-121 trains 25.7 % faster on a chip multiprocessor."),
        paper(
            "harmony",
            "Harmony (VLDB 2022)",
            PLANS,
            ABSTRACT,
            "Throughput is up to 7.6 times that of baselines with virtualised memory, with up to"
                + " two orders of magnitude less swapping."),
        paper(
            "rnn-serving",
            "Serving recurrent networks on a spatial accelerator (Zhao et al., MLSys 2019)",
            "A spatial accelerator cannot be had here; a tiled kernel for the CPU is planned.",
            ABSTRACT,
            "A loop over units is 30 times faster than a V100, in the geometric mean, at batch"
                + " size 1."));
  }

  private static List<Paper> trainingLoop() {
    return List.of(
        paper(
            "selective-backprop",
            "Selective-Backprop (Jiang et al.)",
            LOOP,
            ABSTRACT,
            "The target error is reached up to 3.5 times faster than by plain SGD."),
        paper(
            "mltuner",
            "MLtuner (Cui, Ganger and Gibbons)",
            LOOP,
            TEXT,
            "Tuning on branches of the running training is 9 times faster than Hyperband to 76 %"
                + " on CIFAR-10."),
        paper(
            "yellowfin",
            "YellowFin (Zhang and Mitliagkas, MLSys 2019)",
            LOOP,
            ABSTRACT,
            "Momentum SGD that tunes itself is up to 3.28 times faster than Adam in synchronous"
                + " training and 2.69 times in asynchronous."),
        paper(
            "dropback",
            "Dropback (Golub, Lemieux and Lis, MLSys 2019)",
            LOOP,
            ABSTRACT,
            "ResNet-18 trains on ImageNet with 11.7 times fewer weights without a loss of"
                + " accuracy."),
        paper(
            "biggraph",
            "PyTorch-BigGraph (Lerer et al., MLSys 2019)",
            LOOP,
            CODE,
            "More than a million edges a second are trained on one machine with 100 negatives"
                + " each."),
        paper(
            "ternary-trees",
            "Ternary hybrid neural-tree networks (Gope et al.)",
            LOOP,
            ABSTRACT,
            "Keyword spotting needs 11.1 % fewer operations and a model that is 52.2 % smaller, at"
                + " a negligible loss."),
        paper(
            "compress-or-not",
            "To compress or not to compress (Shumailov et al.)",
            LOOP,
            ABSTRACT,
            "Adversarial examples transfer between compressed networks and the uncompressed one."),
        paper(
            "discrete-attacks",
            "Discrete adversarial attacks (Lei et al., MLSys 2019)",
            LOOP,
            TEXT,
            "Paraphrases chosen by the gradient lower the accuracy of a news classifier from"
                + " 93.1 to 35.4 %."));
  }

  private static List<Paper> programs() {
    return List.of(
        paper(
            "data-validation",
            "Data validation for machine learning (Breck et al., MLSys 2019)",
            GATE,
            ABSTRACT,
            "A schema checks several petabytes a day for hundreds of product teams."),
        paper(
            "easeml-ci",
            "Continuous integration of models, ease.ml/ci (Renggli et al., MLSys 2019)",
            GATE,
            NOTES,
            "What is known of the difference between two models cuts the labels that a reliable"
                + " test needs."),
        paper(
            "rlgraph",
            "RLgraph (Schaarschmidt et al., MLSys 2019)",
            "Jobs have no roles of different sizes yet.",
            RECALLED,
            "Components that are built from their spaces alone sample faster than RLlib's."),
        paper(
            "federated",
            "Federated learning at scale (Bonawitz et al., MLSys 2019)",
            PROGRAM,
            NOTES,
            "Rounds succeed although 6 to 10 % of the devices drop out, where 1.3 times as many as"
                + " needed are chosen."),
        paper(
            "filterforward",
            "FilterForward (Canel et al., MLSys 2019)",
            PROGRAM,
            NOTES,
            "Microclassifiers on one base network beat pixel classifiers from 4 applications on,"
                + " with 4 times the throughput at 20."),
        paper(
            "adascale-video",
            "AdaScale for video (Chin, Ding and Marculescu, MLSys 2019)",
            PROGRAM,
            ABSTRACT,
            "On ImageNet VID the mean precision is 1.3 points higher at 1.6 times the speed."),
        paper(
            "catdet",
            "CaTDet (Mao, Kong and Dally, MLSys 2019)",
            PROGRAM,
            ABSTRACT,
            "On KITTI a tracker saves 5.1 to 8.7 times the operations at the same precision, for"
                + " 0.3 frames of delay."));
  }
}
