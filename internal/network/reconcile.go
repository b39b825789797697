package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
)

const (
	// gateCheckTimeout bounds one check of a shoot, whose API server may not respond.
	gateCheckTimeout = 10 * time.Second
	// maxStages is more than any driver needs. It ends the transitions of a driver that never returns nil.
	maxStages = 16
	// applyTimeout is how long a reconciliation waits for gardener-resource-manager to apply the objects, or to report why it cannot. It applies one
	// object after the other, and what an object requires may be created only after the Network: definitions of kinds, nodes. The health check reports
	// what takes longer.
	applyTimeout = 2 * time.Second
	// annotationHibernated on the ManagedResource of the shoot records that the shoot is hibernated and has no nodes.
	annotationHibernated = "network.trellis.garden/hibernated"
)

// deployment is one reconciliation that deploys a network plugin into a shoot.
type deployment struct {
	*rendered
	rec         *reconciliation
	resources   managedresource.Store
	recorded    state
	gateTimeout time.Duration
	// waiting is what the current stage waits for; empty when there is none.
	waiting string
	// failed lists what gardener-resource-manager could not apply, and why.
	failed []string
	// routesNotChecked is true when the gate did not wait for routes, because nodes do not report them.
	routesNotChecked bool
}

// Reconcile hands the rendered objects to gardener-resource-manager and does not wait for nodes: there may be none yet. A change of the plugin's form is
// deployed stage by stage; the follow-up deploys the stages that are left when the reconciliation ends.
func (a *actuator) Reconcile(ctx context.Context, rec *reconciliation) error {
	resources := newStore(rec)
	rendered, err := a.render(ctx, rec, resources)
	if err != nil {
		return err
	}
	d := &deployment{rendered: rendered, rec: rec, resources: resources, recorded: stateOf(rec.Object), gateTimeout: a.gateTimeout}
	graph := contract.NewGraph("reconciling network")
	graph.Add(contract.Task{Name: "deploying the network plugin in the shoot", Do: d.deployShoot})
	graph.Add(contract.Task{Name: "deploying monitoring of the network in the seed", Do: d.deploySeed})
	if err := rec.StateRecorder.Run(ctx, graph); err != nil {
		return err
	}
	if err := d.checkApplied(ctx); err != nil {
		return err
	}
	return d.setStatus()
}

// deployShoot deploys stage after stage, and the wanted rendering when no stage is left.
func (d *deployment) deployShoot(ctx context.Context) error {
	for range maxStages {
		stage, err := d.nextStage()
		if err != nil {
			return err
		}
		if stage == nil {
			return d.deployRendering(ctx, d.wanted, nil)
		}
		if err := d.deployRendering(ctx, stage.Rendering, stage); err != nil {
			return err
		}
		if d.waiting, err = d.waitForGate(ctx, stage.Gate); err != nil {
			return fmt.Errorf("%s: %w", stage.Name, err)
		}
		if d.waiting != "" {
			d.waiting = fmt.Sprintf("%s: %s", stage.Name, d.waiting)
			return nil
		}
		form, err := encode(stage.Rendering.Form)
		if err != nil {
			return err
		}
		d.shoot.Deployed = Deployed{Form: form, RolledOut: true}
	}
	return fmt.Errorf("the network plugin did not reach the wanted form within %d stages", maxStages)
}

// nextStage returns the driver's next stage where something is deployed and there are nodes.
func (d *deployment) nextStage() (*Stage, error) {
	if d.shoot.Deployed.IsEmpty() || d.shoot.Hibernated {
		return nil, nil
	}
	stage, err := d.driver.Transition(d.shoot, d.wanted)
	if err != nil {
		return nil, fmt.Errorf("changing the network: %w", err)
	}
	if stage != nil && stage.Gate.Routes && !d.nodesReportRoutes() {
		withoutRoutes := *stage
		withoutRoutes.Gate.Routes, d.routesNotChecked = false, true
		stage = &withoutRoutes
	}
	return stage, nil
}

// nodesReportRoutes reports whether the route controller alone writes the condition NetworkUnavailable of nodes. Plugins write it, too, unless a policy
// denies that, and the route controller does not overwrite their value: then the condition does not show whether there is a route, and waiting for it
// would never end.
func (d *deployment) nodesReportRoutes() bool {
	return d.shoot.Infrastructure.RoutesReported && contract.MutatingAdmissionPolicies(d.rec.Cluster.Shoot.Spec.Kubernetes) != ""
}

// deployRendering deploys a rendering. It writes the state first: a form in the state that is not deployed yet is deployed again, while a deployed form
// that is not in the state would be replaced without stages.
func (d *deployment) deployRendering(ctx context.Context, rendering *Rendering, stage *Stage) error {
	next, err := newState(rendering, stage)
	if err != nil {
		return err
	}
	if err := d.removeRetired(ctx); err != nil {
		return err
	}
	if !next.same(d.recorded) {
		if err := d.rec.StateRecorder.RecordIntent(ctx, next); err != nil {
			return err
		}
		d.recorded = next
	}
	return d.resources.Apply(ctx, managedresource.Resource{
		Name: resourceShoot(d.rec.Object.Spec.Type), Objects: rendering.Shoot,
		Annotations: map[string]string{annotationHibernated: hibernatedValue(d.shoot)},
	})
}

func hibernatedValue(shoot *Shoot) string {
	if shoot.Hibernated {
		return "true"
	}
	return ""
}

// removeRetired deletes what another extension left in the seed, before the state records that the shoot is ours.
func (d *deployment) removeRetired(ctx context.Context) error {
	if len(d.shoot.Deployed.Objects) == 0 {
		return nil
	}
	for _, object := range d.wanted.Retired {
		if err := d.rec.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %T %s, which another extension left: %w", object, object.GetName(), err)
		}
	}
	return nil
}

// waitForGate waits for GateTimeout until the gate is open, and returns what it still waits for.
func (d *deployment) waitForGate(ctx context.Context, gate Gate) (waiting string, err error) {
	checker := gateChecker{reader: d.rec.Client, namespace: d.rec.Object.Namespace, networkType: d.rec.Object.Spec.Type}
	end := time.Now().Add(d.gateTimeout)
	err = contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, gateCheckTimeout)
		defer cancel()
		if waiting, err = checker.check(ctx, gate); !time.Now().Before(end) {
			return "", err
		}
		return waiting, err
	})
	return waiting, err
}

func (d *deployment) deploySeed(ctx context.Context) error {
	return d.resources.Apply(ctx, managedresource.Resource{
		Name: resourceSeed(d.rec.Object.Spec.Type), Seed: true, Objects: d.wanted.Seed,
	})
}

// checkApplied reports what gardener-resource-manager could not apply. In a stage the gate does so, and in a hibernated shoot gardener-resource-manager
// does not run. What is still being applied at the timeout is not reported as failed, since no later reconciliation might correct that.
func (d *deployment) checkApplied(ctx context.Context) error {
	if d.waiting != "" || d.shoot.Hibernated {
		return nil
	}
	end := time.Now().Add(min(applyTimeout, d.gateTimeout))
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		var waiting []string
		d.failed = nil
		for _, name := range []string{resourceShoot(d.rec.Object.Spec.Type), resourceSeed(d.rec.Object.Spec.Type)} {
			resource, err := d.resources.Get(ctx, name)
			if err != nil {
				return "", err
			}
			if resource == nil {
				missing := fmt.Sprintf("ManagedResource %s does not exist any more", name)
				waiting, d.failed = append(waiting, missing), append(d.failed, missing)
				continue
			}
			if reason := managedresource.ApplyPendingReason(resource); reason != "" {
				waiting = append(waiting, reason)
			}
			if reason := managedresource.ApplyFailureReason(resource); reason != "" {
				d.failed = append(d.failed, reason)
			}
		}
		if !time.Now().Before(end) {
			return "", nil
		}
		return strings.Join(waiting, "; "), nil
	})
}

// setStatus writes what is deployed now, and what is left to do.
func (d *deployment) setStatus() error {
	status, err := encodeStatus(d.wanted.Status)
	if err != nil {
		return err
	}
	d.rec.Object.Status.ProviderStatus = status
	d.rec.Object.Status.IPFamilies = slices.Clone(d.shoot.Families)
	d.rec.Messages = append(d.rec.Messages, d.wanted.Messages...)
	d.rec.Messages = append(d.rec.Messages, d.failed...)
	if d.routesNotChecked {
		d.rec.Messages = append(d.rec.Messages, "routes to pods were not waited for: nodes report them only on some infrastructures, "+
			"and where the shoot's kube-apiserver serves MutatingAdmissionPolicies, from Kubernetes 1.36 on")
	}
	if d.waiting != "" {
		d.rec.Messages = append(d.rec.Messages, "the network is being changed, "+d.waiting)
	}
	return nil
}

func encodeStatus(status runtime.Object) (*runtime.RawExtension, error) {
	if status == nil {
		return nil, nil
	}
	if status.GetObjectKind().GroupVersionKind().Empty() {
		return nil, errors.New("encoding provider status: it has no kind")
	}
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encoding provider status: %w", err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}

// isBetweenStages reports whether the last reconciliation ended in a stage.
func isBetweenStages(object *extensionsv1alpha1.Network) bool { return stateOf(object).Stage != nil }

// isGateOpen reports whether the shoot's nodes have reached that stage. They have not if the shoot cannot be checked.
func isGateOpen(ctx context.Context, reader client.Reader, object *extensionsv1alpha1.Network) (bool, error) {
	checker := gateChecker{reader: reader, namespace: object.Namespace, networkType: object.Spec.Type}
	waiting, err := checker.check(ctx, stateOf(object).Stage.Gate)
	return waiting == "", err
}
