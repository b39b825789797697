package openstack

import (
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/worker"
)

// Observer describes the machines of Workers of type openstack without requests to the cloud.
type Observer struct{}

var _ worker.Observer = (*Observer)(nil)

// NewObserver returns an observer.
func NewObserver() *Observer { return &Observer{} }

// Foresee implements worker.Observer. Server groups are known from the recorded status alone: it does not notice that one was deleted in the cloud, nor, if
// the upstream extension has created it, that the policy of its pool has changed.
func (o *Observer) Foresee(shoot *worker.Shoot) (runtime.Object, error) {
	in, status, err := begin(shoot)
	if err != nil {
		return nil, err
	}
	recorded := status.ServerGroupDependencies
	status.ServerGroupDependencies = slices.Clone(recorded)
	for _, want := range in.wantedGroups() {
		status.ServerGroupDependencies = append(status.ServerGroupDependencies, in.foreseenGroup(want, recorded))
	}
	return status, nil
}

// Machines implements worker.Observer.
func (o *Observer) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	return machinesOf(shoot, status, pool)
}

// foreseenGroup is the last recorded group of a pool that may have the policy, or stands for one that is still to be created.
func (in *inputs) foreseenGroup(want groupWant, recorded []dependency) dependency {
	owner := ownerOf(in.shoot)
	for _, known := range slices.Backward(recorded) {
		if known.PoolName == want.pool && owner.mayHavePolicy(known, want) {
			return known
		}
	}
	return dependency{PoolName: want.pool, ID: "a new server group with policy " + want.policy}
}
