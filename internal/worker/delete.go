package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

const (
	// finalizerController is the machine controller's finalizer on the Secrets of classes.
	finalizerController = "machine.sapcloud.io/machine-controller"
	// noUserData replaces user data of machines that are only deleted.
	noUserData = "# This machine is to be deleted.\n"
)

// deleteFlow is one reconciliation that deletes all machines.
type deleteFlow struct {
	store
	rec       *reconciliation
	driver    Driver
	shoot     *Shoot
	startedAt time.Time
}

// Delete deletes all machines by machine-controller-manager, which gardenlet keeps running, also for a hibernated shoot, and waits until
// they are gone. A class exists as long as one of its machines, and credentials as long as a class.
func (a *actuator) Delete(ctx context.Context, rec *reconciliation) error {
	driver, err := a.driver(rec)
	if err != nil {
		return err
	}
	shoot, err := readShoot(ctx, rec)
	if err != nil {
		return err
	}
	d := &deleteFlow{store: storeOf(rec), rec: rec, driver: driver, shoot: shoot, startedAt: time.Now()}
	graph := contract.NewGraph("deleting worker")
	classes := graph.Add(contract.Task{Name: "preparing machine classes for deletion", Do: d.prepareClasses})
	finalizers := graph.Add(contract.Task{
		Name: "waiting for finalizers of machines", Do: d.waitForFinalizers, After: []contract.TaskID{classes},
	})
	machines := graph.Add(contract.Task{Name: "deleting machines", Do: d.deleteMachines, After: []contract.TaskID{finalizers}})
	cleaned := graph.Add(contract.Task{Name: "deleting machine classes", Do: d.deleteClasses, After: []contract.TaskID{machines}})
	released := graph.Add(contract.Task{
		Name: "waiting for the release of the credentials", Do: d.waitUntilReleased, After: []contract.TaskID{cleaned},
	})
	graph.Add(contract.Task{Name: "deleting shared resources", Do: d.cleanup, After: []contract.TaskID{released}})
	return rec.StateRecorder.Run(ctx, graph)
}

// prepareClasses creates classes again that machines refer to and that were deleted, and makes existing ones refer to the present
// credentials: machine-controller-manager deletes no machine otherwise.
func (d *deleteFlow) prepareClasses(ctx context.Context) error {
	found, err := d.observe(ctx)
	if err != nil || len(found.Machines) == 0 {
		return err
	}
	if d.shoot.Credentials == nil {
		return fmt.Errorf("%w; %s left", errNoCredentials(d.rec.Object), machinestatus.MachinesClause(found.Machines))
	}
	classes, err := d.classes(ctx)
	if err != nil {
		return err
	}
	for i := range classes {
		if err := d.createOrPatch(ctx, &classes[i], nil, func(have client.Object) {
			if class, _ := have.(*machinev1alpha1.MachineClass); class.CredentialsSecretRef != nil {
				class.CredentialsSecretRef = d.shoot.Worker.Spec.SecretRef.DeepCopy()
			}
		}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	missing := d.missingClasses(found, classes)
	if len(missing) == 0 {
		return nil
	}
	wanted, err := d.plan(ctx)
	if err != nil {
		return fmt.Errorf("recreating the machine classes %s, which the deletion of their machines requires: %w",
			strings.Join(missing, ", "), err)
	}
	var toCreate []classWithSecret
	for _, name := range missing {
		toCreate = append(toCreate, nearest(wanted, name).classUnder(name))
	}
	return d.createOrPatchClasses(ctx, toCreate, classes)
}

// missingClasses are the names of missing classes to which machines refer, without duplicates.
func (d *deleteFlow) missingClasses(found machinestatus.Observed, existing []machinev1alpha1.MachineClass) []string {
	var missing []string
	for i := range found.Machines {
		name := found.Machines[i].Spec.Class.Name
		if find(existing, name) == nil && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// plan gets the machine classes from the driver with the recorded status. There is at least one pool.
func (d *deleteFlow) plan(ctx context.Context) ([]deployment, error) {
	var pools []pool
	for i := range d.shoot.Worker.Spec.Pools {
		p := &d.shoot.Worker.Spec.Pools[i]
		userData, err := readUserData(ctx, d.client, d.namespace, p)
		if err != nil {
			d.rec.Log.V(1).Info("Continuing without user data", "reason", err.Error())
			userData = []byte(noUserData)
		}
		machines, err := d.driver.Machines(d.shoot, recordedStatus(d.shoot.Worker), p)
		if err != nil {
			return nil, fmt.Errorf("planning the machines of pool %q: %w", p.Name, err)
		}
		pools = append(pools, pool{WorkerPool: *p, machines: machines, userData: userData})
	}
	wanted, err := deploymentsOf(d.shoot, pools)
	if err == nil && len(wanted) == 0 {
		return nil, fmt.Errorf("the Worker has no pools")
	}
	return wanted, err
}

// nearest returns the deployment that had the class. If it is gone, any other one is sufficient: machines are deleted by name and ID.
func nearest(wanted []deployment, class string) deployment {
	at := slices.IndexFunc(wanted, func(d deployment) bool { return strings.HasPrefix(class, d.name()+"-") })
	return wanted[max(at, 0)]
}

// waitForFinalizers waits until all machines have a finalizer: an object without one disappears when it is deleted, and its server would
// stay. Restored machines have none before machine-controller-manager has reconciled them.
func (d *deleteFlow) waitForFinalizers(ctx context.Context) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		found, err := d.observe(ctx)
		if err != nil || len(found.Machines) == 0 {
			return "", err
		}
		unknown := slices.DeleteFunc(found.Machines, func(m machinev1alpha1.Machine) bool { return !wouldOrphanServer(&m) })
		if len(unknown) > 0 {
			return d.checkManagerRunning(ctx, "machine-controller-manager has not added finalizers yet to "+machinestatus.MachinesClause(unknown))
		}
		secret, err := contract.ReadCredentials(ctx, d.client, d.rec.Object, d.rec.Object.Spec.SecretRef)
		if err != nil {
			return "", err
		}
		if secret != nil && !hasManagerFinalizer(secret) {
			return d.checkManagerRunning(ctx, "machine-controller-manager has not added its finalizer to the credentials yet")
		}
		return "", nil
	})
}

// wouldOrphanServer reports whether deleting the object would leave a server without a Machine.
func wouldOrphanServer(machine *machinev1alpha1.Machine) bool {
	hasServer := machine.Spec.ProviderID != "" || machine.Labels[machinev1alpha1.NodeLabelKey] != ""
	return hasServer && !slices.Contains(machine.Finalizers, machinestatus.FinalizerManager)
}

// checkManagerRunning returns the reason, or a more precise one if machine-controller-manager does not run. gardenlet has removed it if the
// shoot is force-deleted, and then removes the awaited objects itself.
func (d *deleteFlow) checkManagerRunning(ctx context.Context, reason string) (string, error) {
	replicas, err := d.managerReplicas(ctx)
	if err != nil || replicas > 0 {
		return reason, err
	}
	cluster, err := contract.ReadCluster(ctx, d.client, d.namespace)
	if err != nil {
		return "", err
	}
	if cluster.Shoot != nil && v1beta1helper.ShootNeedsForceDeletion(cluster.Shoot) {
		return "", fmt.Errorf("stopping the wait for machines, the shoot is being force-deleted: %w", contract.ErrSuperseded)
	}
	return reason + "; machine-controller-manager does not run", nil
}

func (d *deleteFlow) deleteMachines(ctx context.Context) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		rest, err := d.observe(ctx)
		if err != nil {
			return "", err
		}
		if err := d.labelForForceDeletion(ctx, rest.Machines); err != nil {
			return "", err
		}
		if err := d.deleteMachineObjects(ctx, rest); err != nil {
			return "", err
		}
		if rest, err = d.observe(ctx); err != nil {
			return "", err
		}
		reason, err := machinestatus.DeletionReason(rest, d.startedAt)
		if err != nil || reason == "" {
			return "", err
		}
		return d.checkManagerRunning(ctx, reason)
	})
}

// deleteMachineObjects deletes deployments, and objects without an owner whose deletion would include them.
func (s store) deleteMachineObjects(ctx context.Context, rest machinestatus.Observed) error {
	objects := pointers(rest.Deployments)
	for i := range rest.Sets {
		set := &rest.Sets[i]
		if !slices.ContainsFunc(rest.Deployments, func(d machinev1alpha1.MachineDeployment) bool { return machinestatus.IsSetOf(set, d.Name) }) {
			objects = append(objects, set)
		}
	}
	for i := range rest.Machines {
		machine := &rest.Machines[i]
		hasSet := slices.ContainsFunc(rest.Sets, func(set machinev1alpha1.MachineSet) bool { return machinestatus.IsMachineOf(machine, set.Name) })
		if !hasSet && !wouldOrphanServer(machine) {
			objects = append(objects, machine)
		}
	}
	return s.remove(ctx, objects...)
}

// deleteClasses deletes all classes of the namespace and their Secrets, and waits until their finalizers are removed.
func (d *deleteFlow) deleteClasses(ctx context.Context) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		rest, err := d.classObjects(ctx)
		if err != nil || len(rest) == 0 {
			return "", err
		}
		if err := d.remove(ctx, rest...); err != nil {
			return "", err
		}
		if rest, err = d.classObjects(ctx); err != nil || len(rest) == 0 {
			return "", err
		}
		return d.checkManagerRunning(ctx, "machine-controller-manager has not released the machine classes yet")
	})
}

// classObjects are all classes and, after them, their Secrets.
func (s store) classObjects(ctx context.Context) ([]client.Object, error) {
	classes, err := s.classes(ctx)
	if err != nil {
		return nil, err
	}
	secrets, err := s.classSecrets(ctx)
	return append(pointers(classes), pointers(secrets)...), err
}

func (d *deleteFlow) waitUntilReleased(ctx context.Context) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		secret, err := contract.ReadCredentials(ctx, d.client, d.rec.Object, d.rec.Object.Spec.SecretRef)
		if err != nil || secret == nil {
			return "", err
		}
		if hasManagerFinalizer(secret) {
			return d.checkManagerRunning(ctx, "machine-controller-manager has not released the credentials yet")
		}
		return "", nil
	})
}

// hasManagerFinalizer reports whether machine-controller-manager needs the credentials. Old versions use one name for all their finalizers.
func hasManagerFinalizer(secret *corev1.Secret) bool {
	return slices.Contains(secret.Finalizers, finalizerController) || slices.Contains(secret.Finalizers, machinestatus.FinalizerManager)
}

func (d *deleteFlow) cleanup(ctx context.Context) error {
	_, err := d.driver.Cleanup(ctx, d.shoot, recordedStatus(d.shoot.Worker))
	return err
}
