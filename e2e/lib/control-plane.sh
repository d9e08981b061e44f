# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# etcd and the control plane of Kubernetes, on addresses of the namespace. Sourced by inside; see there for the variables.

# Flags beyond those below.
apiserver_more=()
controller_manager_more=()
scheduler_more=()

start_etcd() {
  daemon etcd "$kube/etcd" --data-dir "$state/etcd" --log-level warn --unsafe-no-fsync \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster default=http://127.0.0.1:2380
}

start_apiserver() {
  local pki=$state/pki
  daemon kube-apiserver "$kube/kube-apiserver" --etcd-servers http://127.0.0.1:2379 \
    --bind-address "$address" --advertise-address "$address" --secure-port 6443 --service-cluster-ip-range "$services" \
    --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" \
    --kubelet-preferred-address-types InternalIP --kubelet-certificate-authority "$pki/ca.crt" \
    --kubelet-client-certificate "$pki/apiserver-client.crt" --kubelet-client-key "$pki/apiserver-client.key" \
    --requestheader-client-ca-file "$pki/ca.crt" --requestheader-allowed-names front-proxy-client \
    --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group \
    --requestheader-extra-headers-prefix X-Remote-Extra- \
    --proxy-client-cert-file "$pki/front-proxy.crt" --proxy-client-key-file "$pki/front-proxy.key" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$pki/accounts.pub" \
    --service-account-signing-key-file "$pki/accounts.key" \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --profiling=false "${apiserver_more[@]}"
}

# controller NAME COMMAND...: one that reads a kubeconfig of its name and need not elect a leader
controller() {
  local name=$1 port=$2
  shift 2
  daemon "kube-$name" "$kube/kube-$name" --kubeconfig "$state/$name.kubeconfig" --leader-elect=false \
    --authentication-kubeconfig "$state/$name.kubeconfig" --authorization-kubeconfig "$state/$name.kubeconfig" \
    --bind-address 127.0.0.1 --secure-port "$port" --profiling=false "$@"
}

# Names of services, for the pods of all nodes.
start_names() {
  daemon names "$kube/names" --kubeconfig "$state/names.kubeconfig" --listen "$address:53"
}

start_controllers() {
  controller controller-manager 10257 --use-service-account-credentials --root-ca-file "$state/pki/ca.crt" \
    --service-account-private-key-file "$state/pki/accounts.key" "${controller_manager_more[@]}"
  controller scheduler 10259 "${scheduler_more[@]}"
}

control_plane() {
  start_etcd
  start_apiserver
  until_true 120 kube-apiserver curl --silent --fail --cacert "$state/pki/ca.crt" "$server/readyz"
  say "kube-apiserver is ready"
  start_controllers
}
