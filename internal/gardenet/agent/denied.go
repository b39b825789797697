package agent

import (
	"context"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// DeniedPacket is a packet that policies forbid.
type DeniedPacket struct {
	// Direction is "ingress" or "egress": that of the policies.
	Direction string
	From, To  netip.Addr
	// Protocol is a name such as "tcp", or a number.
	Protocol string
	// FromPort and ToPort are 0 for protocols without ports.
	FromPort, ToPort uint16
}

// logsDenied returns whether packets that policies forbid are logged.
func (a *Agent) logsDenied() bool { return a.enforces() && a.Config.NetworkPolicy.LogDenied > 0 }

// logDenied logs the packets that policies forbid, of which the rules bound how many there are, until the context ends.
func (a *Agent) logDenied(ctx context.Context) {
	for ctx.Err() == nil {
		if err := a.Denied(ctx, a.logPacket); err != nil {
			a.Log.Error(err, "Receiving denied packets failed", "retryAfter", maxRetry.String())
		}
		select {
		case <-ctx.Done():
		case <-time.After(maxRetry):
		}
	}
}

func (a *Agent) logPacket(packet DeniedPacket) {
	a.Log.Info("Policies denied a packet", "direction", packet.Direction, "protocol", packet.Protocol,
		"from", packet.From.String(), "fromPort", packet.FromPort, "fromPod", a.podOf(packet.From),
		"to", packet.To.String(), "toPort", packet.ToPort, "toPod", a.podOf(packet.To))
}

// podOf returns the namespace and name of the pod that has an address, or "".
func (a *Agent) podOf(address netip.Addr) string {
	text := address.String()
	for _, pod := range list[*corev1.Pod](a.caches.pods) {
		if !policy.HasOwnAddresses(pod) {
			continue
		}
		for _, ip := range pod.Status.PodIPs {
			if ip.IP == text {
				return pod.Namespace + "/" + pod.Name
			}
		}
	}
	return ""
}
