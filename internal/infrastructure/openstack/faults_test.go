package openstack

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// shapes are shoots that together make every call that the driver knows.
func shapes() map[string]func(w *world) {
	return map[string]func(w *world){
		"default": func(*world) {},
		"dual stack with share network and selected floating subnet": func(w *world) {
			w.selectFloatingSubnet("public-*")
			w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
			w.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
			w.shoot.Spec.Networking.IPFamilies = append(w.shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
		},
		"given router, network and subnet": func(w *world) {
			network := w.plant("networks", fake.Attrs{"name": "theirs"})
			w.config.Networks = openstackv1alpha1.Networks{
				ID: &network, SubnetID: new(w.plantSubnet(network, "theirs", "10.250.64.0/20")), Router: &openstackv1alpha1.Router{ID: w.plantRouter("theirs")},
			}
		},
	}
}

// faults are the ways in which a call goes wrong.
func faults() map[string]wire.Fault {
	return map[string]wire.Fault{
		"refused":                         {Status: 500},
		"lost before its effect":          {Drop: wire.DropBefore},
		"answered badly after its effect": {Status: 504, AfterEffect: true},
		"lost after its effect":           {Drop: wire.DropAfter},
	}
}

// dieAt lets the process die at a call, before its effect or after it: from then on it neither reaches the cloud nor saves
// anything. restart is what follows.
func (w *world) dieAt(call int, phase wire.Phase) {
	w.dieWhen(func(event wire.Event) bool { return event.Phase == phase && event.Call.Seq == call+1 })
}

func (w *world) dieWhen(it func(event wire.Event) bool) {
	var dead atomic.Bool
	w.cloud.SetHook(func(event wire.Event) wire.Verdict {
		if it(event) {
			dead.Store(true)
		}
		if dead.Load() {
			return wire.Cut
		}
		return wire.Proceed
	})
	w.beforeSave = func() error {
		if dead.Load() {
			return errors.New("the process is dead")
		}
		return nil
	}
}

// mishaps are all the ways in which a call goes wrong, or the process at it.
func mishaps() map[string]func(w *world, call int) {
	all := map[string]func(w *world, call int){
		"killed before its effect": func(w *world, call int) { w.dieAt(call, wire.Before) },
		"killed after its effect":  func(w *world, call int) { w.dieAt(call, wire.After) },
	}
	for how, fault := range faults() {
		all[how] = func(w *world, call int) {
			fault.Skip = call
			w.cloud.Inject(fault)
		}
	}
	return all
}

// Whatever call goes wrong, in whatever way, and whether or not the process survives it: the next passes find what there
// is, nothing exists twice, and nothing is left behind, even when no other pass comes before the deletion.
func TestEveryCallMayFail(t *testing.T) {
	for shape, use := range shapes() {
		reference := newWorld(t)
		use(reference)
		reference.mustReconcile()
		log, want := reference.calls(), kinds(reference.there())
		for i, call := range log {
			for how, strike := range mishaps() {
				t.Run(fmt.Sprintf("%s: %s %s", shape, call.Name(), how), func(t *testing.T) {
					w := newWorld(t)
					use(w)
					empty := w.there()
					strike(w, i)
					_, _ = w.reconcile()
					w.restart()
					w.mustReconcile()
					assert.Equal(t, want, kinds(w.there()))
					w.mustDelete()
					w.unchanged(empty)
				})
				t.Run(fmt.Sprintf("%s, abandoned: %s %s", shape, call.Name(), how), func(t *testing.T) {
					w := newWorld(t)
					use(w)
					empty := w.there()
					strike(w, i)
					_, _ = w.reconcile()
					w.restart()
					w.mustDelete()
					w.unchanged(empty)
				})
			}
		}
	}
}

func TestEveryCallOfADeletionMayFail(t *testing.T) {
	for shape, use := range shapes() {
		bringUp := func(t *testing.T) (*world, fake.State) {
			w := newWorld(t)
			use(w)
			empty := w.there()
			w.mustReconcile()
			if shape == "default" {
				w.balancer(technicalID, w.state()["Subnet"])
			}
			w.cloud.ResetLog()
			return w, empty
		}
		reference, _ := bringUp(t)
		reference.mustDelete()
		for i, call := range reference.calls() {
			for how, strike := range mishaps() {
				t.Run(fmt.Sprintf("%s: %s %s", shape, call.Name(), how), func(t *testing.T) {
					t.Parallel() // most of them wait for the load balancer
					w, empty := bringUp(t)
					strike(w, i)
					_ = w.delete()
					w.restart()
					w.mustDelete()
					w.unchanged(empty)
				})
			}
		}
	}
}

// kinds counts what there is by kind.
func kinds(state fake.State) map[string]int {
	count := map[string]int{}
	for _, line := range state.List() {
		kind, _, _ := strings.Cut(line, " ")
		count[kind]++
	}
	return count
}
