package worker

import (
	"context"
	"fmt"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// reconcileFlow is one reconciliation that creates or updates machines.
type reconcileFlow struct {
	store
	rec       *reconciliation
	driver    Driver
	shoot     *Shoot
	intervals Intervals
	// startedAt is the start of the reconciliation: the cause of an earlier failure may be removed since.
	startedAt time.Time
	// hibernated is true if the shoot must have no machines.
	hibernated bool
	// saved are the machines of a shoot that is restored, else nil.
	saved *machineState
	// restoring is the part of saved that is restored, by the name of the MachineDeployment.
	restoring map[string]*deploymentState
	// status is the driver's part of the provider status.
	status runtime.Object
	wanted []deployment
	// published is true once gardenlet can read the pools' MachineDeployments from the status.
	published bool
	// managerRestarted is true once machine-controller-manager runs in a new pod.
	managerRestarted bool
	// observed is the last observation. A task that starts when another one has just observed the machines does not read them again.
	observed machinestatus.Observed
}

// Reconcile writes the objects from which machine-controller-manager creates machines, and waits for the machines.
func (a *actuator) Reconcile(ctx context.Context, rec *reconciliation) error {
	r, err := a.newReconcileFlow(ctx, rec)
	if err != nil {
		return err
	}
	graph := contract.NewGraph("reconciling worker")
	restores := r.saved != nil
	prepared := graph.Add(contract.Task{Name: "preparing shared resources", Do: r.prepare})
	planned := graph.Add(contract.Task{Name: "planning machines", Do: r.plan, After: []contract.TaskID{prepared}})
	restored := graph.Add(contract.Task{
		Name: "restoring machines", Do: r.restoreMachines, After: []contract.TaskID{planned}, SkipIf: !restores,
	})
	classes := graph.Add(contract.Task{Name: "deploying machine classes", Do: r.deployClasses, After: []contract.TaskID{restored}})
	adopted := graph.Add(contract.Task{
		Name: "restoring machine deployments", Do: r.restoreDeployments, After: []contract.TaskID{classes}, SkipIf: !restores,
	})
	deployed := graph.Add(contract.Task{Name: "deploying machine deployments", Do: r.deploy, After: []contract.TaskID{adopted}})
	ready := graph.Add(contract.Task{Name: "waiting for machines", Do: r.waitForMachines, After: []contract.TaskID{deployed}})
	cleaned := graph.Add(contract.Task{
		Name: "removing obsolete machines", Do: r.removeObsolete, After: []contract.TaskID{ready},
	})
	stopped := graph.Add(contract.Task{
		Name: "stopping machine-controller-manager", After: []contract.TaskID{cleaned}, SkipIf: !r.hibernated,
		Do: func(ctx context.Context) error { return r.scaleManager(ctx, 0) },
	})
	graph.Add(contract.Task{Name: "cleaning up", Do: r.conclude, After: []contract.TaskID{stopped}})
	return rec.StateRecorder.Run(ctx, graph)
}

// newReconcileFlow reads what a reconciliation needs. It makes no request to the cloud.
func (a *actuator) newReconcileFlow(ctx context.Context, rec *reconciliation) (*reconcileFlow, error) {
	driver, err := a.driver(rec)
	if err != nil {
		return nil, err
	}
	shoot, err := readShoot(ctx, rec)
	if err != nil {
		return nil, err
	}
	if problems := driver.Validate(shoot); len(problems) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "the pools cannot be fulfilled: %w", fielderrors.Error(problems))
	}
	r := &reconcileFlow{
		store: storeOf(rec), rec: rec, driver: driver, shoot: shoot, intervals: a.intervals, startedAt: time.Now(),
		hibernated: v1beta1helper.HibernationIsEnabled(rec.Cluster.Shoot),
	}
	if rec.Operation == gardencorev1beta1.LastOperationTypeRestore {
		if r.saved, err = savedMachines(rec.Object); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *reconcileFlow) prepare(ctx context.Context) error {
	status, err := r.driver.Prepare(ctx, r.shoot)
	if err != nil {
		return err
	}
	r.status = status
	return nil
}

// plan gets the machine classes from the driver, and computes the MachineDeployments.
func (r *reconcileFlow) plan(ctx context.Context) error {
	classes, err := r.classes(ctx)
	if err != nil {
		return err
	}
	checker := upstreamChecker{classes: classes, saved: r.saved, shoot: r.shoot}
	pools := make([]pool, 0, len(r.shoot.Worker.Spec.Pools))
	keptUpstream := map[string]bool{}
	for i := range r.shoot.Worker.Spec.Pools {
		p := &r.shoot.Worker.Spec.Pools[i]
		userData, err := readUserData(ctx, r.client, r.namespace, p)
		if err != nil {
			return err
		}
		machines, kept, err := checker.plan(r.driver, r.status, p)
		if err != nil {
			return err
		}
		if kept != nil {
			keptUpstream[p.Name] = true
			r.rec.Messages = append(r.rec.Messages, kept.Message)
		}
		pools = append(pools, pool{WorkerPool: *p, machines: machines, userData: userData})
	}
	if r.wanted, err = deploymentsOf(r.shoot, pools); err != nil {
		return err
	}
	for _, d := range r.wanted {
		if keptUpstream[d.pool] {
			omitOwnerLabel(d)
		}
	}
	return annotateInPlaceHashes(r.shoot, r.wanted)
}

func (r *reconcileFlow) deployClasses(ctx context.Context) error {
	var existing []machinev1alpha1.MachineClass
	err := r.waitWhileDeleting(ctx, func(ctx context.Context) (reason string, err error) {
		if existing, err = r.classes(ctx); err != nil {
			return "", err
		}
		return r.classesBeingDeleted(ctx, existing)
	})
	if err != nil {
		return err
	}
	wanted := make([]classWithSecret, 0, len(r.wanted))
	for _, d := range r.wanted {
		wanted = append(wanted, classWithSecret{class: d.class, secret: d.secret})
	}
	return r.createOrPatchClasses(ctx, append(wanted, r.savedClasses(existing)...), existing)
}

// deploy writes the MachineDeployments. Before a shoot is hibernated, its machines are configured not to wait for evictions.
func (r *reconcileFlow) deploy(ctx context.Context) error {
	if r.hibernated {
		found, err := r.observe(ctx)
		if err != nil {
			return err
		}
		if err := r.labelForForceDeletion(ctx, found.Machines); err != nil {
			return err
		}
	}
	var found machinestatus.Observed
	err := r.waitWhileDeleting(ctx, func(ctx context.Context) (reason string, err error) {
		if found, err = r.observe(ctx); err != nil {
			return "", err
		}
		return r.deploymentsBeingDeleted(found), nil
	})
	if err != nil {
		return err
	}
	return inParallel(ctx, r.wanted, func(ctx context.Context, d deployment) error {
		return r.createOrPatchDeployment(ctx, found, d, replicaInput{hibernated: r.hibernated})
	})
}

// output is the status from which gardenlet configures the cluster-autoscaler. Its time marks it as newer than an earlier reconciliation's.
func (r *reconcileFlow) output(status runtime.Object) error {
	into := &r.rec.Object.Status
	if status != nil {
		raw, err := json.Marshal(status)
		if err != nil {
			return fmt.Errorf("encoding provider status: %w", err)
		}
		into.ProviderStatus = &runtime.RawExtension{Raw: raw}
	}
	if !r.published {
		into.MachineDeployments = statusDeployments(r.wanted)
		into.MachineDeploymentsLastUpdateTime = new(metav1.Now())
	}
	return nil
}

// publish writes the MachineDeployments to the status before waiting for machines, since gardenlet continues with them.
func (r *reconcileFlow) publish(ctx context.Context) error {
	if r.published {
		return nil
	}
	if err := r.output(r.status); err != nil {
		return err
	}
	if err := r.rec.Publish(ctx); err != nil {
		return fmt.Errorf("publishing the machine deployments: %w", err)
	}
	r.published = true
	return nil
}

// recordUpdates records which pools have only machines of the present version. gardenlet waits for that, and not for removed pools.
func (r *reconcileFlow) recordUpdates(now machinestatus.Observed) error {
	hashes, changed, err := inPlaceHashes(r.rec.Object, r.rec.Cluster.Shoot, now)
	if err != nil {
		return err
	}
	if changed {
		r.rec.Object.Status.InPlaceUpdates = &extensionsv1alpha1.InPlaceUpdatesWorkerStatus{WorkerPoolToHashMap: hashes}
	}
	return nil
}

// conclude writes the final status, and removes what only deleted machines used.
func (r *reconcileFlow) conclude(ctx context.Context) error {
	status := r.status
	if r.usesOnlyWantedClasses(r.observed) {
		var err error
		if status, err = r.driver.Cleanup(ctx, r.shoot, r.status); err != nil {
			return fmt.Errorf("removing unused resources: %w", err)
		}
	}
	return r.output(status)
}

// usesOnlyWantedClasses reports whether all machines have a class that is still needed. Machines of a pool whose users choose the time of
// updates may have an old class for long.
func (r *reconcileFlow) usesOnlyWantedClasses(now machinestatus.Observed) bool {
	for i := range now.Machines {
		if !r.isWantedClass(now.Machines[i].Spec.Class.Name) {
			return false
		}
	}
	return true
}

func (r *reconcileFlow) isWantedClass(name string) bool {
	for _, d := range r.wanted {
		if d.class.Name == name {
			return true
		}
	}
	return false
}

func (r *reconcileFlow) isWantedDeployment(name string) bool {
	for _, d := range r.wanted {
		if d.name() == name {
			return true
		}
	}
	return false
}
