package dev.kastor.operator.pods;

import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodPlace;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;

/**
 * A pod of a gang.
 *
 * @param view the pod
 * @param first number of the first pod of its start: pods of one start belong together
 * @param size pods of that start
 * @param gated whether it waits for the others of its start to be made
 * @param dismissed whether its deletion was asked for before it ended: however it ended then, its
 *     part was neither done nor did it fail
 */
public record GangPod(PodView view, long first, int size, boolean gated, boolean dismissed) {
  /** Its rank among the pods of its start. */
  public int rank() {
    return (int) (view.number() - first);
  }

  /**
   * A pod as a part of a gang; one that nobody knows the start of is a start of its own.
   *
   * @param next number above all that the job was given: a start beyond it was never made
   */
  static GangPod of(Pod pod, long next) {
    PodView view = PodView.of(pod);
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    long first = number(annotations, Labels.GANG_FIRST);
    long size = number(annotations, Labels.GANG_SIZE);
    boolean possible =
        first <= view.number() && view.number() < first + size && first + size <= next;
    return new GangPod(
        view,
        possible ? first : view.number(),
        possible ? Math.toIntExact(size) : 0,
        Gates.closed(pod),
        dismissed(pod, view));
  }

  private static boolean dismissed(Pod pod, PodView view) {
    // When all containers have ended, the kubelet takes the grace away just before the pod is gone:
    // the time is then that of its own word, and not when somebody asked.
    Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    boolean released = grace != null && grace == 0;
    return PodPlace.askedToLeave(pod)
        .filter(asked -> !view.ended() || released || !view.finished().isBefore(asked))
        .isPresent();
  }

  private static long number(Map<String, String> annotations, String key) {
    String text = annotations == null ? null : annotations.get(key);
    return text != null && text.matches("[0-9]{1,9}") ? Long.parseLong(text) : 0;
  }
}
