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
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// shootVariants are shoots that together make every call that the driver knows.
func shootVariants() map[string]func(env *environment) {
	return map[string]func(env *environment){
		"default": func(*environment) {},
		"dual stack with share network and selected floating subnet": func(env *environment) {
			env.selectFloatingSubnet("public-*")
			env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
			env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
			env.shoot.Spec.Networking.IPFamilies = append(env.shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
		},
		"given router, network and subnet": func(env *environment) {
			network := env.plant("networks", fake.Attrs{"name": "theirs"})
			env.config.Networks = openstackv1alpha1.Networks{
				ID: &network, SubnetID: new(env.plantSubnet(network, "theirs", "10.250.64.0/20")), Router: &openstackv1alpha1.Router{ID: env.plantRouter("theirs")},
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

// killAt lets the process die at a call, before its effect or after it: from then on it neither reaches the cloud nor saves
// anything. restart is what follows.
func (env *environment) killAt(call int, phase wire.Phase) {
	env.killWhen(func(event wire.Event) bool { return event.Phase == phase && event.Call.Seq == call+1 })
}

func (env *environment) killWhen(condition func(event wire.Event) bool) {
	var killed atomic.Bool
	env.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if condition(event) {
			killed.Store(true)
		}
		if killed.Load() {
			return wire.DropConnection
		}
		return wire.Proceed
	})
	env.beforeSave = func() error {
		if killed.Load() {
			return errors.New("the process is dead")
		}
		return nil
	}
}

// callFailures are all the ways in which a call goes wrong, or the process at it.
func callFailures() map[string]func(env *environment, call int) {
	all := map[string]func(env *environment, call int){
		"killed before its effect": func(env *environment, call int) { env.killAt(call, wire.Before) },
		"killed after its effect":  func(env *environment, call int) { env.killAt(call, wire.After) },
	}
	for how, fault := range faults() {
		all[how] = func(env *environment, call int) {
			fault.Skip = call
			env.cloud.Inject(fault)
		}
	}
	return all
}

// Whatever call goes wrong, in whatever way, and whether or not the process survives it: the next passes find what there
// is, nothing exists twice, and nothing is left behind, even when no other pass comes before the deletion.
func TestDriver_ReconcileWithFaults(t *testing.T) {
	variants := shootVariants()
	variants["default, whose floating network is known"] = (*environment).findFloatingNetworkBefore
	for variant, use := range variants {
		reference := newEnvironment(t)
		use(reference)
		reference.mustReconcile()
		log, want := reference.takeCalls(), countByKind(reference.resources())
		for i, call := range log {
			for how, inject := range callFailures() {
				t.Run(fmt.Sprintf("%s: %s %s", variant, call.Name(), how), func(t *testing.T) {
					env := newEnvironment(t)
					use(env)
					empty := env.resources()
					inject(env, i)
					_, _ = env.reconcile()
					env.restart()
					env.mustReconcile()
					assert.Equal(t, want, countByKind(env.resources()))
					env.mustDelete()
					env.assertUnchanged(empty)
				})
				t.Run(fmt.Sprintf("%s, abandoned: %s %s", variant, call.Name(), how), func(t *testing.T) {
					env := newEnvironment(t)
					use(env)
					empty := env.resources()
					inject(env, i)
					_, _ = env.reconcile()
					env.restart()
					env.mustDelete()
					env.assertUnchanged(empty)
				})
			}
		}
	}
}

func TestDriver_DeleteWithFaults(t *testing.T) {
	const withRoute = "default, with a route to a node that was left"
	variants := shootVariants()
	variants[withRoute] = variants["default"]
	for variant, use := range variants {
		bringUp := func(t *testing.T) (*environment, fake.State) {
			env := newEnvironment(t)
			use(env)
			empty := env.resources()
			env.mustReconcile()
			switch variant {
			case "default":
				env.createLoadBalancer(technicalID, env.state()["Subnet"])
			case withRoute:
				env.addRoute()
			}
			env.cloud.ResetLog()
			return env, empty
		}
		reference, _ := bringUp(t)
		reference.mustDelete()
		for i, call := range reference.takeCalls() {
			for how, inject := range callFailures() {
				t.Run(fmt.Sprintf("%s: %s %s", variant, call.Name(), how), func(t *testing.T) {
					t.Parallel() // most of them wait for the load balancer
					env, empty := bringUp(t)
					inject(env, i)
					_ = env.delete()
					env.restart()
					env.mustDelete()
					env.assertUnchanged(empty)
				})
			}
		}
	}
}

// countByKind counts what there is by kind.
func countByKind(state fake.State) map[string]int {
	count := map[string]int{}
	for _, line := range state.List() {
		kind, _, _ := strings.Cut(line, " ")
		count[kind]++
	}
	return count
}
