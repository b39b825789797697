# Lets the kernel log which packets of this node are too big for somebody on their way: that is how a wrong MTU shows.

# backend says by which of the two iptables kubelet has left its mark.
backend() {
  for variant in nft legacy; do
    if { "iptables-$variant-save" -t mangle; "ip6tables-$variant-save" -t mangle; } 2>/dev/null | grep -qE '^:KUBE-(IPTABLES-HINT|KUBELET-CANARY)'; then
      echo "$variant"
      return
    fi
  done
  echo nft
}

# log takes a command, a family, and what packets that say so look like. The comment is upstream's, so that its rule is taken for ours.
log() {
  command=$1 family=$2
  shift 2
  set -- OUTPUT "$@" -m comment --comment "gardener log mtu problems for $family" -j LOG --log-prefix "PACKET-TOO-BIG "
  "$command" -w -t filter -C "$@" 2>/dev/null || "$command" -w -t filter -I "$@" || echo "packets that are too big are not logged: $command"
}

variant=$(backend)
log "iptables-$variant" ipv4 -p icmp --icmp-type fragmentation-needed
log "ip6tables-$variant" ipv6 -p ipv6-icmp --icmpv6-type packet-too-big
