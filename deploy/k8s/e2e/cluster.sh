#!/usr/bin/env bash
# A Kubernetes of one node on this machine, for the cluster test.
#
#   cluster.sh up      starts it; E2E_WORK names the work folder, in which build.sh has put the programs
#   cluster.sh down    ends every process and container that it started, and removes its namespace, mounts and cgroups
#   cluster.sh run CMD runs a command inside its network, with KUBECONFIG set
#
# It needs root with CAP_SYS_ADMIN and CAP_NET_ADMIN, cgroups that can be written, and containerd, runc, the standard CNI
# plugins (/usr/lib/cni), iptables, conntrack, iproute2, util-linux and openssl: on Debian
#   apt-get install containerd runc containernetworking-plugins iptables conntrack iproute2 openssl
# Everything runs in a network namespace of its own: nothing of it listens on, or changes, the network of this machine.
set -euo pipefail
: "${E2E_WORK:?name a work folder}"
work=$(cd "$E2E_WORK" && pwd); bin=$work/bin; run=$work/run; logs=$work/logs; pki=$work/pki
netns=privcom-e2e; ip=10.250.0.1
export PATH=$bin:/usr/sbin:/sbin:$PATH KUBECONFIG=$pki/admin.kubeconfig

inside() { nsenter --net=/run/netns/$netns -- "$@"; }
fail() { printf 'cluster: %s\n' "$*" >&2; exit 1; }

# daemon NAME CMD... starts a process whose pid "down" knows.
daemon() {
  local name=$1; shift
  setsid nsenter --net=/run/netns/$netns -- "$@" >"$logs/$name.log" 2>&1 </dev/null &
  echo $! >"$run/$name.pid"
}

# until SECONDS WHAT CMD... waits for a command to succeed.
await() {
  local seconds=$1 what=$2 i; shift 2
  for ((i = 0; i < seconds * 2; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.5; done
  fail "$what did not come up in $seconds s; see $logs"
}

certificates() {
  mkdir -p "$pki"; cd "$pki"
  test -s ca.crt || {
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=privcom-e2e-ca -keyout ca.key -out ca.crt
    openssl genrsa -out sa.key 2048; openssl rsa -in sa.key -pubout -out sa.pub
    sign() { # NAME SUBJECT EXTENSIONS
      openssl req -newkey rsa:2048 -nodes -subj "$2" -keyout "$1.key" -out "$1.csr"
      openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out "$1.crt" -extfile <(printf '%s\n' "$3")
    }
    sign apiserver /CN=kube-apiserver "subjectAltName=IP:$ip,IP:10.96.0.1,IP:127.0.0.1,DNS:kubernetes,DNS:kubernetes.default.svc"
    sign admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
    sign kubelet /CN=node0 "subjectAltName=IP:$ip,DNS:node0"
  } >"$logs/openssl.log" 2>&1
  kubectl config set-cluster e2e --server=https://$ip:6443 --certificate-authority="$pki/ca.crt" --embed-certs >/dev/null
  kubectl config set-credentials admin --client-certificate="$pki/admin.crt" --client-key="$pki/admin.key" --embed-certs >/dev/null
  kubectl config set-context e2e --cluster=e2e --user=admin --namespace=privcom >/dev/null; kubectl config use-context e2e >/dev/null
  cd - >/dev/null
}

configs() {
  mkdir -p "$work/etc/cni" "$work/containerd" "$work/kubelet" "$work/etcd"
  cat >"$work/etc/cni/10-bridge.conflist" <<C
{"cniVersion": "0.4.0", "name": "e2e", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$work/run/ipam", "ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
C
  # Where this machine may not lower OOM scores (no CAP_SYS_RESOURCE), containerd must not try.
  cat >"$work/etc/containerd.toml" <<C
version = 2
root = "$work/containerd/root"
state = "$work/containerd/state"
oom_score = 0
[grpc]
  address = "$run/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$work/etc/cni"
C
  cat >"$work/etc/kubelet.yaml" <<C
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
address: $ip
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
clusterDNS: [$ip]
clusterDomain: cluster.local
resolvConf: $work/etc/resolv.conf
containerRuntimeEndpoint: unix://$run/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /
failSwapOn: false
failCgroupV1: false
oomScoreAdj: 0
enforceNodeAllocatable: []
localStorageCapacityIsolation: true
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
serializeImagePulls: true
C
  echo "nameserver $ip" >"$work/etc/resolv.conf"
  cat >"$work/etc/Corefile" <<C
. {
  bind $ip
  errors
  health $ip:8181
  ready $ip:8182
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $KUBECONFIG
    ttl 2
  }
}
C
}

up() {
  test "$(id -u)" = 0 || fail "must run as root"
  for p in containerd ctr runc iptables conntrack ip nsenter openssl; do command -v $p >/dev/null || fail "$p is missing; see the head of $0"; done
  test -x /usr/lib/cni/bridge || fail "/usr/lib/cni/bridge is missing: install containernetworking-plugins"
  for p in kubelet kube-apiserver etcd coredns workflow-controller; do test -x "$bin/$p" || fail "$bin/$p is missing: run build.sh first"; done
  test ! -e /run/netns/$netns || fail "namespace $netns exists: run \"$0 down\" first"
  mkdir -p "$run" "$logs"
  ip netns add $netns
  inside ip link set lo up
  inside ip link add node0 type bridge; inside ip addr add $ip/24 dev node0; inside ip link set node0 up
  inside ip route add default dev node0
  inside sysctl -qw net.ipv4.ip_forward=1
  certificates; configs

  daemon etcd etcd --data-dir "$work/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync --log-level warn
  daemon containerd containerd --config "$work/etc/containerd.toml"
  daemon apiserver kube-apiserver --etcd-servers http://127.0.0.1:2379 --service-cluster-ip-range 10.96.0.0/16 --advertise-address $ip \
    --bind-address 0.0.0.0 --secure-port 6443 --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
    --client-ca-file "$pki/ca.crt" --authorization-mode Node,RBAC --service-account-key-file "$pki/sa.pub" \
    --service-account-signing-key-file "$pki/sa.key" --service-account-issuer https://kubernetes.default.svc \
    --kubelet-client-certificate "$pki/admin.crt" --kubelet-client-key "$pki/admin.key" --kubelet-certificate-authority "$pki/ca.crt" \
    --kubelet-preferred-address-types InternalIP --allow-privileged=false --v 1
  await 90 kube-apiserver inside kubectl get --raw /readyz
  daemon controller-manager kube-controller-manager --kubeconfig "$KUBECONFIG" --service-account-private-key-file "$pki/sa.key" \
    --root-ca-file "$pki/ca.crt" --cluster-cidr 10.244.0.0/24 --allocate-node-cidrs=false --leader-elect=false --use-service-account-credentials=true --v 1
  daemon scheduler kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false --v 1
  await 30 containerd ctr -a "$run/containerd.sock" version
  for i in "$work"/images/*.tar; do ctr -a "$run/containerd.sock" -n k8s.io images import "$i" >>"$logs/images.log"; done
  daemon kubelet kubelet --config "$work/etc/kubelet.yaml" --kubeconfig "$KUBECONFIG" --hostname-override node0 --node-ip $ip \
    --root-dir "$work/kubelet" --v 1
  daemon proxy kube-proxy --kubeconfig "$KUBECONFIG" --hostname-override node0 --cluster-cidr 10.244.0.0/24 --proxy-mode iptables \
    --conntrack-max-per-core 0 --v 1
  daemon coredns coredns -conf "$work/etc/Corefile"
  await 90 "the node" inside kubectl wait --for condition=Ready node/node0 --timeout 1s
  await 30 CoreDNS inside bash -c "exec 3<>/dev/tcp/$ip/53"
  printf 'cluster: Kubernetes %s is up, work folder %s\n' "$(inside kubectl version -o json | sed -n 's/.*"gitVersion": "\(.*\)".*/\1/p' | tail -1)" "$work"
}

# stop ends one process that "daemon" started, by its id.
stop() {
  local pid; pid=$(cat "$1" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$1"
}

down() {
  test -d "$run" || { echo "cluster: nothing to take down"; return; }
  for p in gateway argo proxy kubelet scheduler controller-manager; do stop "$run/$p.pid"; done
  local c=(ctr -a "$run/containerd.sock" -n k8s.io)
  local nets=""
  if "${c[@]}" version >/dev/null 2>&1; then
    nets=$(for t in $("${c[@]}" containers ls -q); do "${c[@]}" containers info "$t" | grep -o 'netns/cni-[0-9a-f-]*' || true; done | sort -u)
    for t in $("${c[@]}" tasks ls -q); do "${c[@]}" tasks kill -s SIGKILL "$t" >/dev/null 2>&1 || true; done
    sleep 1
    for t in $("${c[@]}" tasks ls -q); do "${c[@]}" tasks rm -f "$t" >/dev/null 2>&1 || true; done
    for t in $("${c[@]}" containers ls -q); do "${c[@]}" containers rm "$t" >/dev/null 2>&1 || true; done
  fi
  for p in coredns apiserver etcd containerd; do stop "$run/$p.pid"; done
  # Shims outlive containerd; each one names this work folder's socket.
  for p in /proc/[0-9]*; do
    if { tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null | grep -q "containerd-shim.*$run/containerd.sock"; then kill -9 "${p#/proc/}" 2>/dev/null || true; fi
  done
  awk -v w="$work/" 'index($2, w) == 1 { print $2 }' /proc/mounts | sort -r | while read -r m; do umount -l "$m" 2>/dev/null || true; done
  for n in $nets; do ip netns del "${n#netns/}" 2>/dev/null || true; done
  ip netns del $netns 2>/dev/null || true
  for g in /sys/fs/cgroup/*/kubepods /sys/fs/cgroup/kubepods; do
    test -d "$g" && find "$g" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
  rm -rf "$run" "$work/containerd" "$work/kubelet" "$work/etcd" "$work/etc" "$pki"
  echo "cluster: down; logs are in $logs"
}

case ${1-} in
up) up ;;
down) down ;;
run) shift; inside "$@" ;;
*) fail "usage: $0 up | down | run CMD..." ;;
esac
