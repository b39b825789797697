package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
)

// Tunnel is the tunnel through which a node sends packets.
type Tunnel struct{ ID, Port int }

// Change is a change of the tunnels through which nodes send packets, in a shoot with nodes; nil stands for none.
type Change struct{ From, To *Tunnel }

// Validate returns why the change is not possible, or nil. Everything else may change: the overlay on and off, who makes routes, families, MTU and the optional parts.
// What cannot change at once changes in stages in the controller. Between two tunnels there is no such stage: a node has one of them, and nodes with different ones do
// not reach each other.
func (c Change) Validate() *field.Error {
	if c.From == nil || c.To == nil || *c.From == *c.To {
		return nil
	}
	return field.Forbidden(configPath().Child("overlay", "vxlan"), fmt.Sprintf("cannot be changed while nodes send packets through it: "+
		"set id to %d and port to %d again, or set overlay.enabled to false first, and change it when that is done", c.From.ID, c.From.Port))
}

func tunnelOf(effective *v1alpha1.NetworkConfig) *Tunnel {
	if overlay := effective.Overlay; *overlay.Enabled {
		return &Tunnel{ID: *overlay.VXLAN.ID, Port: *overlay.VXLAN.Port}
	}
	return nil
}
