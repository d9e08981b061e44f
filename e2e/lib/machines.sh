# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# Machines that are nodes of the cluster, as the control plane sees them: each lives in network, mount and process
# namespaces of its own and hangs on a cable. Sourced by inside and by fault.

machine_names=(alpha beta gamma delta)

# machine_address NAME and machine_pods NAME: where it is, and where its pods are
machine_number() {
  local i
  for i in "${!machine_names[@]}"; do
    if [ "${machine_names[i]}" = "$1" ]; then echo "$i" && return 0; fi
  done
  die "there is no node $1."
}
machine_address() { echo "10.250.0.$(($(machine_number "$1") + 11))"; }
machine_pods() { echo "10.244.$(machine_number "$1").0/24"; }

# in_machine NAME COMMAND...: runs it as if logged in there
in_machine() {
  nsenter --target "$(cat "$state/nodes/$1/init")" --mount --net --pid "${@:2}"
}

# Starts a machine; it is a node of the cluster some seconds later.
boot() {
  local name=$1 at=$state/nodes/$1 init there pods
  there=$(machine_address "$name")
  pods=$(machine_pods "$name")
  rm -f "$at/init"
  mkdir -p "$at"
  machine_name=$name machine_address=$there machine_pods=$pods \
    unshare --net --mount --pid --fork --kill-child=KILL --mount-proc "$e2e/machine" \
    >>"$logs/$name.log" 2>&1 </dev/null &
  echo $! >"$at/unshare"
  until init=$(cat "/proc/$(cat "$at/unshare")/task/$(cat "$at/unshare")/children" 2>/dev/null) && [ -n "$init" ]; do
    sleep 0.05
  done
  # The first child is the machine's first process, which has made its namespaces before it was.
  tr -d ' ' <<<"$init" >"$at/init"
  plug_in "$name"
}

# The cable: whatever is sent to the machine or its pods goes through it, and all it sends comes here.
plug_in() {
  local name=$1
  ip link delete "to-$name" 2>/dev/null || true
  ip link add "to-$name" type veth peer name eth0 netns "$(cat "$state/nodes/$name/init")"
  ip link set "to-$name" up
  route_to "$name"
}

# What is behind the cable; a cable that was cut leads nowhere until it is said again.
route_to() {
  local name=$1 there
  there=$(machine_address "$name")
  ip route replace "$there/32" dev "to-$name" src "$address"
  ip route replace "$(machine_pods "$name")" via "$there" dev "to-$name" onlink
  # The first machine also leads from here to the services.
  if [ "$name" = "${machine_names[0]}" ]; then
    ip route replace "$services" via "$there" dev "to-$name" onlink src "$address"
  fi
}

machine_ready() {
  local status
  status=$("$kube/kubectl" --kubeconfig "$state/admin.kubeconfig" get node "$1" \
    -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} {.status.allocatable.nvidia\.com/gpu}')
  [ "$status" = "True $gpus" ]
}

start_machines() {
  local name
  start_names
  for name in "${machine_names[@]:0:machines}"; do
    node_pki "$name" "$(machine_address "$name")"
    make_cgroups "$cgroup/$name"
    boot "$name"
  done
  for name in "${machine_names[@]:0:machines}"; do
    journal=$logs until_machine "$name"
    say "node $name is ready with $gpus GPUs"
  done
}

until_machine() {
  local left=600
  until machine_ready "$1" 2>/dev/null; do
    if [ ! -d "/proc/$(cat "$state/nodes/$1/init")" ] || ((left-- <= 0)); then
      tail -n 15 "$logs/$1.log" "$logs/$1/kubelet.log" >&2 || true
      die "node $1 did not get ready; its last words are above."
    fi
    sleep 0.2
  done
}
