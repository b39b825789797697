package calico

import (
	"encoding/json"
	"fmt"
	"slices"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

const (
	never  = string(calicov1alpha1.PoolModeNever)
	always = string(calicov1alpha1.PoolModeAlways)

	backendBird  = string(calicov1alpha1.BackendBird)
	backendVXLAN = string(calicov1alpha1.BackendVXLAN)
	backendNone  = string(calicov1alpha1.BackendNone)
)

// deployedForm returns the form of what is in the shoot, nil if Calico is not deployed.
func deployedForm(deployed network.Deployed) (*form, error) {
	if len(deployed.Form) == 0 {
		return recognize(deployed.Objects)
	}
	read := &form{}
	if err := json.Unmarshal(deployed.Form, read); err != nil {
		return nil, fmt.Errorf("reading the form of the network that is deployed: %w", err)
	}
	return read, nil
}

// nodeFeatures are what nodes must have so that packets between pods arrive.
type nodeFeatures struct{ ipip, vxlan, bird, calicoIPAM bool }

// requiredFeatures returns what all nodes must have because of the pools. Only BIRD programs routes for IP-in-IP; VXLAN needs addresses for its tunnels,
// which only calico-ipam assigns.
func (f form) requiredFeatures() nodeFeatures {
	var n nodeFeatures
	for _, pool := range []encapsulation{f.IPv4.orNever(), f.IPv6.orNever()} {
		if pool.IPIP != never {
			n.ipip, n.bird = true, true
		}
		if pool.VXLAN != never {
			n.vxlan, n.calicoIPAM = true, true
		}
	}
	return n
}

// availableFeatures returns what nodes of the form have.
func (f form) availableFeatures() nodeFeatures {
	return nodeFeatures{ipip: f.IPIP, vxlan: f.VXLAN, bird: f.Backend == backendBird, calicoIPAM: f.IPAM == calicov1alpha1.IPAMCalico}
}

// covers reports whether n has everything that is required.
func (n nodeFeatures) covers(needed nodeFeatures) bool {
	return (n.ipip || !needed.ipip) && (n.vxlan || !needed.vxlan) && (n.bird || !needed.bird) && (n.calicoIPAM || !needed.calicoIPAM)
}

// orNever treats a family that is not deployed as one without tunnels.
func (e *encapsulation) orNever() encapsulation {
	if e == nil {
		return encapsulation{IPIP: never, VXLAN: never}
	}
	return *e
}

// native reports whether no packets go through tunnels.
func (f form) native() bool { return f.requiredFeatures() == nodeFeatures{} }

func (f form) samePools(other form) bool {
	return f.IPv4.orNever() == other.IPv4.orNever() && f.IPv6.orNever() == other.IPv6.orNever()
}

// nodes returns the part of the form that concerns only nodes.
func (f form) nodes() form {
	f.IPv4, f.IPv6, f.Typha, f.TyphaIPAM, f.WaitsForRoutes, f.UpstreamIPIP = nil, nil, false, "", false, false
	return f
}

// typhaIPAM returns the IPAM whose address ranges Typha sends to nodes.
func (f form) typhaIPAM() string {
	if f.TyphaIPAM != "" {
		return f.TyphaIPAM
	}
	return f.IPAM
}

// same compares all fields.
func (f form) same(other form) bool {
	return f.samePools(other) && f.nodes() == other.nodes() && f.Typha == other.Typha && f.typhaIPAM() == other.typhaIPAM()
}

// comparableTo returns the form with those fields taken from the goal that change without stages: families, and how a node handles its own packets. How
// Services are routed must fit kube-proxy at any time, not only at the end.
func (f form) comparableTo(goal form) form {
	f.BPF, f.NFTables, f.WireGuard = goal.BPF, goal.NFTables, goal.WireGuard
	f.IPv4, f.IPv6 = f.IPv4.ifWanted(goal.IPv4), f.IPv6.ifWanted(goal.IPv6)
	return f
}

// ifWanted drops a family that is not wanted any more, and takes a new one from the goal: no node uses it yet.
func (e *encapsulation) ifWanted(wanted *encapsulation) *encapsulation {
	if wanted == nil || e == nil {
		return wanted
	}
	return e
}

// wider returns the backend that has the features of both.
func wider(one, other string) string {
	ascending := []string{backendNone, backendVXLAN, backendBird}
	if slices.Index(ascending, one) >= slices.Index(ascending, other) {
		return one
	}
	return other
}
