package worker

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
	"github.com/trellis-garden/trellis/internal/pages"
	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// Names of the observations of Workers.
const (
	// ObservationImages checks that the machine images of the pools are in the CloudProfile, are not deprecated, and do not expire soon.
	ObservationImages = "images"
	// ObservationMachineTypes checks that the CloudProfile offers the machine types of the pools in the zones of the pools.
	ObservationMachineTypes = "machine-types"
	// ObservationRollPreview compares the machine classes of the pools with those that the next reconciliation computes. Another class replaces the nodes of a
	// pool, or updates them in place.
	ObservationRollPreview = "roll-preview"
	// ObservationMachines looks for machines that have no healthy node for longer than they may, and for deletions that do not end.
	ObservationMachines = "machines"
)

// Observations are what a secondary controller reports of Workers.
func Observations() []observer.Observation {
	return []observer.Observation{
		{Name: ObservationImages, Condition: "WorkerMachineImagesSupported"},
		{Name: ObservationMachineTypes, Condition: "WorkerMachineTypesAvailable"},
		{Name: ObservationRollPreview, Condition: "WorkerNodesUpToDate"},
		{Name: ObservationMachines, Condition: "WorkerMachinesHaveNodes"},
	}
}

// Observer describes the machines of one cloud for a secondary controller. It is the part of a Driver that makes no requests, and gets no credentials. It is
// shared by concurrent observations of different shoots.
type Observer interface {
	// Foresee returns the status that the next Prepare of the Driver returns, as far as the shoot's inputs and the recorded status tell. A text that is no ID
	// stands for the ID of a resource that Prepare has to create first. It is pure.
	Foresee(shoot *Shoot) (runtime.Object, error)
	// Machines is that of the Driver.
	Machines(shoot *Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*Machines, error)
}

// AddObserver adds the secondary controller for Workers to a manager. observers holds an Observer for each type in options.Types. The manager's scheme must
// include machine-controller-manager's types.
func AddObserver(mgr manager.Manager, observers map[string]Observer, options observer.Options) error {
	if err := contract.RequireDrivers("worker observer", observers, options.Types); err != nil {
		return err
	}
	return observer.Add(mgr, observer.Observer[*extensionsv1alpha1.Worker]{
		Name:         "worker",
		New:          func() *extensionsv1alpha1.Worker { return &extensionsv1alpha1.Worker{} },
		Observations: Observations(),
		Observe: func(ctx context.Context, input observer.Input[*extensionsv1alpha1.Worker]) (observer.Result, error) {
			one, found := observers[input.Object.Spec.Type]
			if !found {
				return observer.Result{}, fmt.Errorf("no observer for type %q", input.Object.Spec.Type)
			}
			return Observe(ctx, one, input)
		},
	}, options)
}

// Observe makes the wanted observations of one Worker.
func Observe(ctx context.Context, one Observer, input observer.Input[*extensionsv1alpha1.Worker]) (observer.Result, error) {
	shoot, err := newShoot(input.Object, input.Cluster, input.Log)
	if err != nil {
		return observer.Result{}, err
	}
	findings := map[string]observer.Finding{}
	for name, observe := range map[string]func() (observer.Finding, error){
		ObservationImages:       func() (observer.Finding, error) { return imagesFinding(shoot, input.Now), nil },
		ObservationMachineTypes: func() (observer.Finding, error) { return machineTypesFinding(shoot), nil },
		ObservationRollPreview:  func() (observer.Finding, error) { return previewRolls(ctx, input.Reader, one, shoot) },
		ObservationMachines: func() (observer.Finding, error) {
			machines, err := listMachines(ctx, input.Reader, input.Object.Namespace)
			return problemsFinding(machinestatus.WithoutNodes(machines, input.Now), "All machines have healthy nodes."), err
		},
	} {
		if !input.Wanted[name] {
			continue
		}
		finding, err := observe()
		finding.Err = err
		findings[name] = finding
	}
	return observer.Result{Findings: findings}, nil
}

// previewRolls reads the present classes, and previews what the next reconciliation does to the nodes.
func previewRolls(ctx context.Context, reader client.Reader, one Observer, shoot *Shoot) (observer.Finding, error) {
	var classes machinev1alpha1.MachineClassList
	var deployments machinev1alpha1.MachineDeploymentList
	for _, list := range []client.ObjectList{&classes, &deployments} {
		if err := reader.List(ctx, list, client.InNamespace(shoot.Worker.Namespace)); err != nil {
			return observer.Finding{}, fmt.Errorf("listing machine classes and deployments: %w", err)
		}
	}
	rolls, err := rollPreview{shoot: shoot, observer: one, classes: classes.Items, deployments: deployments.Items}.rolls()
	return rollFinding(rolls, shoot.Cluster.Shoot), err
}

// listMachines reads the machines page by page, and keeps of them what the observation needs: there may be thousands.
func listMachines(ctx context.Context, reader client.Reader, namespace string) ([]machinev1alpha1.Machine, error) {
	var machines []machinev1alpha1.Machine
	err := pages.Each(ctx, reader, &machinev1alpha1.MachineList{}, func(page *machinev1alpha1.MachineList) bool {
		for _, machine := range page.Items {
			machine.ManagedFields, machine.Spec.NodeTemplateSpec = nil, machinev1alpha1.NodeTemplateSpec{}
			machine.Status.Conditions = nil
			machines = append(machines, machine)
		}
		return true
	}, client.InNamespace(namespace))
	return machines, err
}
