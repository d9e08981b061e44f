# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# What runs on a node: containerd, kubelet, kube-proxy and GPUs that do not exist. Sourced by machine.

ctr() {
  "$node/usr/bin/ctr" --address /run/containerd.sock --namespace k8s.io "$@"
}

start_containerd() {
  mkdir -p "$place/containerd" /run/containerd "$place/cni"
  # Where a process may not lower its own OOM score, runc could not start a single container without the restriction.
  cat >"$place/containerd.toml" <<CONFIG
version = 2
root = "$place/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause_image"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$state/registries"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$node/usr/lib/cni"
    conf_dir = "$place/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "$node/usr/sbin/runc"
CONFIG
  cat >"$place/cni/bridge.conflist" <<CONFIG
{"cniVersion": "1.0.0", "name": "e2e", "plugins": [{
  "type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": "/run/cni",
           "ranges": [[{"subnet": "$machine_pods"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
CONFIG
  daemon containerd "$node/usr/bin/containerd" --config "$place/containerd.toml"
  until_true 60 containerd ctr version
}

import_images() {
  [ ! -e "$place/imported" ] || return 0
  tar -C "$images" -cf - . | ctr images import - >>"$journal/images.log" 2>&1 ||
    die "containerd refused the images in $images; see $journal/images.log."
  touch "$place/imported"
}

# A service's address leads to a pod by rules of the kernel; on one bridge the answer finds back because it is masqueraded.
start_proxy() {
  cat >"$place/proxy.yaml" <<CONFIG
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clusterCIDR: 10.244.0.0/16
hostnameOverride: $machine_name
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
clientConnection: {kubeconfig: $state/proxy.kubeconfig}
nftables: {masqueradeAll: true, syncPeriod: 30s, minSyncPeriod: 100ms}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
CONFIG
  daemon kube-proxy "$kube/kube-proxy" --config "$place/proxy.yaml"
}

# A pod gets a changed Secret when the kubelet next looks at it: within syncFrequency, which is a minute unless said.
start_kubelet() {
  local pki=$state/pki
  cat >"$place/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $machine_address
healthzBindAddress: 127.0.0.1
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/$machine_name.crt
tlsPrivateKeyFile: $pki/$machine_name.key
containerRuntimeEndpoint: unix:///run/containerd.sock
clusterDNS: [$address]
clusterDomain: cluster.local
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup/$machine_name
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
evictionHard: {memory.available: 100Mi}
imageGCHighThresholdPercent: 100
maxPods: 200
nodeStatusUpdateFrequency: 2s
syncFrequency: 10s
podLogsDir: $logs/.pods-$machine_name
CONFIG
  daemon kubelet "$kube/kubelet" --config "$place/kubelet.yaml" --kubeconfig "$state/$machine_name.kubeconfig" \
    --hostname-override "$machine_name" --node-ip "$machine_address" --node-labels kastor.dev/gpu-type=fake
  daemon fakegpu "$kube/fakegpu" -n "$gpus" -dead "$place/dead-gpus"
}

one_node() {
  start_containerd
  import_images
  start_proxy
  start_kubelet
}
