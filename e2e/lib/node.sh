# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# One node: containerd, kubelet, kube-proxy, cluster DNS and GPUs that do not exist. Sourced by inside.

ctr() {
  "$node/usr/bin/ctr" --address /run/containerd.sock --namespace k8s.io "$@"
}

start_containerd() {
  mkdir -p "$state/containerd" /run/containerd "$state/cni"
  # Where a process may not lower its own OOM score, runc could not start a single container without the restriction.
  cat >"$state/containerd.toml" <<CONFIG
version = 2
root = "$state/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause_image"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$node/usr/lib/cni"
    conf_dir = "$state/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "$node/usr/sbin/runc"
CONFIG
  cat >"$state/cni/bridge.conflist" <<CONFIG
{"cniVersion": "1.0.0", "name": "e2e", "plugins": [{
  "type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": "/run/cni",
           "ranges": [[{"subnet": "$pods"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
CONFIG
  daemon containerd "$node/usr/bin/containerd" --config "$state/containerd.toml"
  until_true 60 containerd ctr version
}

import_images() {
  tar -C "$images" -cf - . | ctr images import - >>"$logs/images.log" 2>&1 ||
    die "containerd refused the images in $images; see $logs/images.log."
}

# A service's address leads to a pod by rules of the kernel; on one bridge the answer finds back because it is masqueraded.
start_proxy() {
  cat >"$state/proxy.yaml" <<CONFIG
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clusterCIDR: $pods
hostnameOverride: $node_name
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
clientConnection: {kubeconfig: $state/proxy.kubeconfig}
nftables: {masqueradeAll: true, syncPeriod: 30s, minSyncPeriod: 100ms}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
CONFIG
  daemon kube-proxy "$kube/kube-proxy" --config "$state/proxy.yaml"
  daemon names "$kube/names" --kubeconfig "$state/names.kubeconfig" --listen "$address:53"
}

start_kubelet() {
  local pki=$state/pki
  cat >"$state/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
healthzBindAddress: 127.0.0.1
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/$node_name.crt
tlsPrivateKeyFile: $pki/$node_name.key
containerRuntimeEndpoint: unix:///run/containerd.sock
clusterDNS: [$address]
clusterDomain: cluster.local
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
evictionHard: {memory.available: 100Mi}
imageGCHighThresholdPercent: 100
maxPods: 200
nodeStatusUpdateFrequency: 2s
podLogsDir: $logs/pods
CONFIG
  daemon kubelet "$kube/kubelet" --config "$state/kubelet.yaml" --kubeconfig "$state/$node_name.kubeconfig" \
    --hostname-override "$node_name" --node-ip "$address" --node-labels kastor.dev/gpu-type=fake
  daemon fakegpu "$kube/fakegpu" -n "$gpus" -dead "$state/dead-gpus"
}

node_ready() {
  local status
  status=$("$kube/kubectl" --kubeconfig "$state/admin.kubeconfig" get node "$node_name" \
    -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} {.status.allocatable.nvidia\.com/gpu}')
  [ "$status" = "True $gpus" ]
}

one_node() {
  start_containerd
  import_images
  say "containerd has the images"
  start_proxy
  start_kubelet
  until_true 120 kubelet node_ready
  say "node $node_name is ready with $gpus GPUs"
}
