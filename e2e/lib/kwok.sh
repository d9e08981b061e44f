# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# A control plane without a node: kwok plays as many as a scenario makes, and pods on them. Sourced by inside.

# What the parts of the control plane are told beyond what they are told for a real node. The limits are those of
# clients on a cluster of this size; nodes that are played do not renew leases, so nobody may miss them; and the audit
# log says what the operator asked for, seen from the other side.
scale_settings() {
  cat >"$state/audit.yaml" <<CONFIG
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, users: ["system:serviceaccount:kastor-system:kastor-kastor"]}
  - {level: None}
CONFIG
  apiserver_more=(--audit-policy-file "$state/audit.yaml" --audit-log-path "$state/audit.log" --audit-log-maxsize 1000)
  controller_manager_more=(--kube-api-qps 500 --kube-api-burst 1000 --node-monitor-grace-period 24h
    --controllers node-lifecycle-controller,garbage-collector-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller)
  scheduler_more=(--kube-api-qps 1000 --kube-api-burst 2000)
}

start_kwok() {
  certificate kwok /O=system:masters/CN=kwok
  kubeconfig kwok
  daemon kwok "$kwok/kwok" --kubeconfig "$state/kwok.kubeconfig" --config "$e2e/kwok/stages.yaml" --manage-all-nodes \
    --node-lease-duration-seconds 0 --node-ip "$address" --server-address 127.0.0.1:10247
  until_true 60 kwok curl --silent --fail http://127.0.0.1:10247/healthz
  # The operator runs beside the cluster, and agents that are played reach it here.
  certificate operator /CN=kastor "DNS:localhost,IP:127.0.0.1"
  say "kwok plays nodes"
}
