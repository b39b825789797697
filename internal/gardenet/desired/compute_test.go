package desired

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompute_Errors(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		want   string
	}{
		"a node has no range for pods before the API server assigns one": {
			change: func(input *Input) { input.Node.PodRanges = nil },
			want:   "node a has no range for pods yet (spec.podCIDRs)",
		},
		"a range of a family that the shoot lacks does not count": {
			change: func(input *Input) { onlyIPv4(input); input.Node.PodRanges = input.Node.PodRanges[1:] },
			want:   "node a has no range for pods yet (spec.podCIDRs)",
		},
		"a node has no address before its kubelet or its cloud reports one": {
			change: func(input *Input) { input.Node.Addresses = nil },
			want:   "node a has no address yet (status.addresses of type InternalIP)",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			input := dualStack()
			test.change(&input)
			state, err := Compute(input)
			require.EqualError(t, err, test.want)
			assert.Equal(t, State{}, state)
		})
	}
}

func TestCompute_Sysctls(t *testing.T) {
	const forward4, forward6 = "net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"
	tests := map[string]struct {
		change func(*Input)
		want   map[string]string
	}{
		"packets of pods may arrive by the tunnel and by each uplink": {
			change: func(input *Input) { input.Facts.Uplinks = []Uplink{{Name: "eth0"}, {Name: "bond0.7"}} },
			want: map[string]string{
				forward4: "1", forward6: "1",
				"net/ipv4/conf/gardenet0/rp_filter": "2", "net/ipv4/conf/eth0/rp_filter": "2", "net/ipv4/conf/bond0.7/rp_filter": "2",
			},
		},
		"the tunnel's filter is loose while uplinks are unknown": {
			change: func(input *Input) { input.Facts = Facts{} },
			want:   map[string]string{forward4: "1", forward6: "1", "net/ipv4/conf/gardenet0/rp_filter": "2"},
		},
		"without a tunnel there is one way": {change: withoutTunnel, want: map[string]string{forward4: "1", forward6: "1"}},
		"IPv6 has no such filter":           {change: onlyIPv6, want: map[string]string{forward6: "1"}},
		"IPv6 is not forwarded in a shoot without it": {
			change: func(input *Input) { withoutTunnel(input); onlyIPv4(input) },
			want:   map[string]string{forward4: "1"},
		},
		"connections are remembered as long as with kube-proxy": {
			change: func(input *Input) { onlyIPv6(input); input.Config.ServiceRouting = true },
			want: map[string]string{
				forward6: "1", "net/netfilter/nf_conntrack_tcp_timeout_close_wait": "3600", "net/netfilter/nf_conntrack_tcp_timeout_established": "86400",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, compute(t, test.change).Sysctls)
		})
	}
}
