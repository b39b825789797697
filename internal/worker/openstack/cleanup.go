package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Cleanup implements worker.Driver. Groups with servers are kept. While there are pools, only groups that Prepare has recorded as unused
// are deleted: without such, no call is made.
//
// In a deletion it also looks for groups that are not recorded, since a migration to another seed loses the record: with one list, which is
// the only call for a shoot without server groups. If the login fails then, the deletion continues, since nothing indicates that such a
// shoot has groups.
func (d *Driver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	in, _ := inputsOf(shoot) // what cannot be decoded requires no group
	recorded, err := decodeStatus(status)
	if err != nil {
		return nil, err
	}
	if shoot.Deleting {
		return openstackv1alpha1.NewWorkerStatus(), d.removeAll(ctx, shoot, in, recorded)
	}
	var inUse []dependency
	for _, want := range in.wantedGroups() {
		used, err := recordedGroup(recorded.ServerGroupDependencies, want.pool)
		if err != nil {
			return nil, err
		}
		inUse = append(inUse, used)
	}
	unused := slices.DeleteFunc(slices.Clone(recorded.ServerGroupDependencies), func(dependency dependency) bool {
		return slices.Contains(inUse, dependency)
	})
	if len(unused) == 0 {
		return recorded, nil
	}
	groups, err := d.groups(ctx, shoot, in)
	if err != nil {
		return nil, err
	}
	remaining, err := groups.remove(ctx, unused)
	if err != nil {
		return nil, err
	}
	for _, group := range remaining {
		shoot.Log.Info("Keeping a server group that still has servers", "serverGroup", group.Name, "id", group.ID, "servers", group.Members)
	}
	cleaned := recorded.DeepCopy()
	cleaned.ServerGroupDependencies = slices.DeleteFunc(cleaned.ServerGroupDependencies, func(dependency dependency) bool {
		return slices.Contains(unused, dependency) && !slices.ContainsFunc(remaining, func(group cloudopenstack.ServerGroup) bool {
			return group.ID == dependency.ID
		})
	})
	return cleaned, nil
}

// removeAll removes the recorded groups, and those that are the shoot's by their names.
func (d *Driver) removeAll(ctx context.Context, shoot *worker.Shoot, in *inputs, recorded *openstackv1alpha1.WorkerStatus) error {
	groups, err := d.allGroups(ctx, shoot, in)
	if err != nil {
		ignorableKinds := []cloud.Kind{cloud.Configuration, cloud.Unauthenticated, cloud.Unauthorized}
		mayBeIgnored := len(in.wantedGroups()) == 0 && len(recorded.ServerGroupDependencies) == 0
		if mayBeIgnored && slices.Contains(ignorableKinds, cloud.KindOf(err)) {
			shoot.Log.Info("Skipping the search for server groups: none is recorded", "reason", err.Error())
			return nil
		}
		return err
	}
	unused, err := groups.unused(ctx, nil, recorded.ServerGroupDependencies)
	if err != nil {
		return err
	}
	remaining, err := groups.remove(ctx, unused)
	if err != nil {
		return err
	}
	var problems []error
	for _, group := range remaining {
		problems = append(problems, cloud.Errorf(cloud.InUse,
			"server group %s (%s) of the shoot has servers that are not among its machines: %v; delete them, or the group", group.Name, group.ID, group.Members))
	}
	return errors.Join(problems...)
}

// remove deletes groups without servers, and returns the others.
func (g *groups) remove(ctx context.Context, unused []dependency) ([]cloudopenstack.ServerGroup, error) {
	var remaining []cloudopenstack.ServerGroup
	for _, dependency := range unused {
		group, err := g.get(ctx, dependency.ID)
		if err != nil {
			return nil, err
		}
		if group == nil {
			continue
		}
		member, err := g.liveMember(ctx, *group)
		if err != nil {
			return nil, err
		}
		if member != nil {
			remaining = append(remaining, *group)
			continue
		}
		if err := g.session.DeleteServerGroup(ctx, group.ID); err != nil && !cloud.IsNotFound(err) {
			return nil, fmt.Errorf("deleting server group %s: %w", group.Name, err)
		}
	}
	return remaining, nil
}
