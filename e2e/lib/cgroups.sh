# shellcheck shell=bash
# Control groups, in which the kubelets put their pods: one tree, or one for each controller. Sourced.

# The folders of the hierarchies in which a kubelet's group lives: one for version 2, one for each controller before.
cgroup_folders() {
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    echo /sys/fs/cgroup
  else
    awk '$3 ~ /^cgroup2?$/ && $2 ~ "^/sys/fs/cgroup/" {print $2}' /proc/self/mounts
  fi
}

# Pods on all nodes are to get as much of busy processors as that many other processes would. Where the kernel groups
# processes by session, all of a session count as one: who runs tests beside the suite sets a smaller weight.
weight=${KASTOR_E2E_WEIGHT:-8}
[[ $weight =~ ^[1-9][0-9]?$ ]] || die "KASTOR_E2E_WEIGHT takes a number from 1 to 99, and is '$weight'."

make_cgroups() {
  local folder parent
  for folder in $(cgroup_folders); do
    parent=$(dirname "$folder/$1")
    mkdir -p "$folder/$1"
    # A new group of this controller can hold nothing until it is told which processors it has.
    if [ -f "$folder/cpuset.cpus" ]; then
      cat "$parent/cpuset.cpus" >"$folder/$1/cpuset.cpus"
      cat "$parent/cpuset.mems" >"$folder/$1/cpuset.mems"
    fi
    if [ -f "$folder/$1/cpu.shares" ]; then echo $((weight * 1024)) >"$folder/$1/cpu.shares"; fi
    if [ -f "$folder/$1/cpu.weight" ]; then echo $((weight * 100)) >"$folder/$1/cpu.weight"; fi
  done
}

# Processor time of all that ran in a group, in whole seconds; nothing where the kernel does not say.
cgroup_seconds() {
  local folder
  for folder in $(cgroup_folders); do
    if [ -f "$folder/$1/cpuacct.usage" ]; then
      awk '{printf "%.0f\n", $1 / 1e9}' "$folder/$1/cpuacct.usage"
      return
    elif grep -qs usage_usec "$folder/$1/cpu.stat"; then
      awk '$1 == "usage_usec" {printf "%.0f\n", $2 / 1e6}' "$folder/$1/cpu.stat"
      return
    fi
  done
}

remove_cgroups() {
  local folder
  for folder in $(cgroup_folders); do
    for _ in {1..50}; do
      [ -d "$folder/$1" ] || break
      find "$folder/$1" -depth -type d -exec rmdir {} + 2>/dev/null && break
      sleep 0.2
    done
    [ ! -d "$folder/$1" ] || say "could not remove $folder/$1"
  done
}
