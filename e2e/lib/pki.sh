# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# Keys, certificates and kubeconfigs of one cluster, made anew for each. Sourced; needs $state and $server.

# certificate NAME SUBJECT [ALTERNATIVE-NAMES]
certificate() {
  local at=$state/pki/$1
  openssl ecparam -name prime256v1 -genkey -noout -out "$at.key"
  openssl req -new -key "$at.key" -subj "$2" -out "$at.csr"
  printf 'keyUsage=critical,digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n%s\n' \
    "${3:+subjectAltName=$3}" >"$at.ext"
  openssl x509 -req -in "$at.csr" -CA "$state/pki/ca.crt" -CAkey "$state/pki/ca.key" -CAcreateserial -days 30 \
    -extfile "$at.ext" -out "$at.crt" 2>/dev/null
}

# key_store NAME: the key and the certificate of that name as Java reads them
key_store() {
  openssl pkcs12 -export -name "$1" -in "$state/pki/$1.crt" -inkey "$state/pki/$1.key" -passout "pass:$1" \
    -out "$state/pki/$1.p12"
}

# kubeconfig NAME: for who has the certificate of that name
kubeconfig() {
  cat >"$state/$1.kubeconfig" <<KUBECONFIG
apiVersion: v1
kind: Config
current-context: e2e
clusters: [{name: e2e, cluster: {server: "$server", certificate-authority-data: $(base64 -w0 "$state/pki/ca.crt")}}]
contexts: [{name: e2e, context: {cluster: e2e, user: $1}}]
users:
  - name: $1
    user:
      client-certificate-data: $(base64 -w0 "$state/pki/$1.crt")
      client-key-data: $(base64 -w0 "$state/pki/$1.key")
KUBECONFIG
}

# make_pki ADDRESS SERVICE: for a control plane at the address, whose Service has another
make_pki() {
  local address=$1 service=$2 name
  mkdir -p "$state/pki"
  openssl ecparam -name prime256v1 -genkey -noout -out "$state/pki/ca.key"
  openssl req -x509 -new -key "$state/pki/ca.key" -subj /CN=e2e-ca -days 30 -out "$state/pki/ca.crt"
  certificate apiserver /CN=kube-apiserver "DNS:kubernetes.default.svc,DNS:kubernetes.default,DNS:localhost,IP:127.0.0.1,IP:$address,IP:$service"
  certificate admin /O=system:masters/CN=admin
  certificate controller-manager /CN=system:kube-controller-manager
  certificate scheduler /CN=system:kube-scheduler
  certificate proxy /CN=system:kube-proxy
  certificate names /O=system:masters/CN=names
  certificate apiserver-client /O=system:masters/CN=kube-apiserver-kubelet-client
  certificate front-proxy /CN=front-proxy-client
  openssl genrsa -out "$state/pki/accounts.key" 2048 2>/dev/null
  openssl rsa -in "$state/pki/accounts.key" -pubout -out "$state/pki/accounts.pub" 2>/dev/null
  for name in admin controller-manager scheduler proxy names; do kubeconfig "$name"; done
}

# node_pki NAME ADDRESS
node_pki() {
  certificate "$1" "/O=system:nodes/CN=system:node:$1" "IP:$2,DNS:$1"
  kubeconfig "$1"
}
