# Gives packets of pods to the DNS servers of their node the node's address: those servers may answer to nodes alone. What the node's
# resolv.conf says now is what holds; the rules are replaced as a whole, in a chain of their own. Without POD_CIDRS there are none any
# more, and that is all.
#
# POD_CIDRS, INTERVAL (seconds) and RESOLV_CONF come from the environment.
chain=UPSTREAM-DNS
resolv_conf=${RESOLV_CONF:-/etc/resolv.conf}
trap 'exit 0' TERM INT

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

# of_family keeps the words that are addresses or ranges of family 4 or 6.
of_family() {
  for word in $2; do
    case "$1$word" in
    6*:*) echo "${word%\%*}" ;;
    6*) ;;
    4*:*) ;;
    4*) echo "$word" ;;
    esac
  done
}

# foreign are the rules that upstream's container made, as lines that delete them.
foreign() {
  "$1" -w -t nat -S POSTROUTING 2>/dev/null | sed -n '/calico masquerade non-cluster/s/^-A/-D/p'
}

# replace writes the rules of one family, and makes sure that packets come by them before all others.
replace() {
  rules=
  for server in $(of_family "$2" "$servers"); do
    for pods in $(of_family "$2" "$POD_CIDRS"); do
      rules="$rules-A $chain -s $pods -d $server ! -o cali+ -m comment --comment \"pods to DNS servers of the node\" -j MASQUERADE
"
    done
  done
  printf '*nat\n:%s - [0:0]\n%s\n%sCOMMIT\n' "$chain" "$(foreign "$1")" "$rules" | "$1-restore" -w --noflush || return
  "$1" -w -t nat -C POSTROUTING -j "$chain" 2>/dev/null || "$1" -w -t nat -I POSTROUTING 1 -j "$chain"
}

# remove takes everything back.
remove() {
  old=$(foreign "$1")
  if "$1" -w -t nat -C POSTROUTING -j "$chain" 2>/dev/null; then
    printf '*nat\n:%s - [0:0]\n%s\n-D POSTROUTING -j %s\n-X %s\nCOMMIT\n' "$chain" "$old" "$chain" "$chain" | "$1-restore" -w --noflush
  elif [ -n "$old" ]; then
    printf '*nat\n%s\nCOMMIT\n' "$old" | "$1-restore" -w --noflush
  fi
}

if [ -z "$POD_CIDRS" ]; then
  variant=$(backend)
  for command in "iptables-$variant" "ip6tables-$variant"; do
    remove "$command" || echo "could not remove rules: $command"
  done
  exit 0
fi

while true; do
  # A file that is not there, or being written, changes nothing.
  if servers=$(sed -n 's/^[[:space:]]*nameserver[[:space:]]\{1,\}\([^[:space:]]*\).*/\1/p' "$resolv_conf" 2>/dev/null) && [ -n "$servers" ]; then
    variant=$(backend)
    replace "iptables-$variant" 4
    [ -z "$(of_family 6 "$POD_CIDRS")" ] || replace "ip6tables-$variant" 6
  fi
  sleep "${INTERVAL:-60}" &
  wait $!
done
