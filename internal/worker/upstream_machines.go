package worker

import (
	"fmt"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
)

// upstreamChecker decides which description is used for a pool of a shoot that another extension has reconciled before.
type upstreamChecker struct {
	classes []machinev1alpha1.MachineClass
	saved   *machineState
	shoot   *Shoot
}

// planner is the part of a Driver that describes machines.
type planner interface {
	// Machines is that of a Driver.
	Machines(shoot *Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*Machines, error)
}

// plan returns the description of a pool's machines that is used, and the one of the other extension if it is that. It is pure.
func (f upstreamChecker) plan(driver planner, status runtime.Object, p *extensionsv1alpha1.WorkerPool) (*Machines, *UpstreamMachines, error) {
	machines, err := driver.Machines(f.shoot, status, p)
	if err != nil {
		return nil, nil, fmt.Errorf("planning the machines of pool %q: %w", p.Name, err)
	}
	isKept, err := f.usesUpstream(p, machines)
	if err != nil {
		return nil, nil, err
	}
	if isKept {
		return &machines.UpstreamMachines.Machines, machines.UpstreamMachines, nil
	}
	return machines, nil, nil
}

// usesUpstream reports whether a pool's machines are still those of the other extension, and nothing has changed that would
// replace them: then they are kept.
func (f upstreamChecker) usesUpstream(p *extensionsv1alpha1.WorkerPool, machines *Machines) (bool, error) {
	if machines.UpstreamMachines == nil {
		return false, nil
	}
	full, err := f.classNames(p, machines)
	if err != nil {
		return false, err
	}
	others, err := f.classNames(p, &machines.UpstreamMachines.Machines)
	if err != nil {
		return false, err
	}
	if slices.Equal(full, others) {
		return false, nil
	}
	if f.saved != nil && f.saved.refersTo(others) && !f.saved.refersTo(full) {
		return true, nil
	}
	return slices.ContainsFunc(f.classes, func(class machinev1alpha1.MachineClass) bool {
		_, isOurs := class.Labels[ownerLabel]
		return !isOurs && slices.Contains(others, class.Name)
	}), nil
}

func (f upstreamChecker) classNames(p *extensionsv1alpha1.WorkerPool, machines *Machines) ([]string, error) {
	return classNames(f.shoot.TechnicalID, p, f.shoot.Cluster.Shoot, machines)
}

// omitOwnerLabel keeps the class without our mark, so that later reconciliations decide the same.
func omitOwnerLabel(d deployment) {
	delete(d.class.Labels, ownerLabel)
	delete(d.secret.Labels, ownerLabel)
}
