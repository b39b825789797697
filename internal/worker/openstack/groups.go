package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/worker"
)

type dependency = openstackv1alpha1.ServerGroupDependency

// groups are the server groups of a project that were read, for one shoot.
type groups struct {
	owner
	session *cloudopenstack.Session
	known   []cloudopenstack.ServerGroup
	// missing are the IDs of groups that do not exist.
	missing []string
}

// groups logs in. It reads no group yet.
func (d *Driver) groups(ctx context.Context, shoot *worker.Shoot, in *inputs) (*groups, error) {
	session, err := d.session(ctx, shoot, in)
	if err != nil {
		return nil, err
	}
	return &groups{owner: ownerOf(shoot), session: session}, nil
}

// allGroups lists all groups of the project with one request.
func (d *Driver) allGroups(ctx context.Context, shoot *worker.Shoot, in *inputs) (*groups, error) {
	all, err := d.groups(ctx, shoot, in)
	if err != nil {
		return nil, err
	}
	if all.known, err = all.session.ListServerGroups(ctx); err != nil {
		return nil, fmt.Errorf("listing server groups: %w", err)
	}
	return all, nil
}

// ensure creates missing groups. It returns the groups to record: first those to delete, then those in use, in the order of
// wants.
func (g *groups) ensure(ctx context.Context, wants []groupWant, recorded []dependency) ([]dependency, error) {
	if len(g.uids) == 0 {
		return nil, errors.New("the shoot has no UID, which the names of server groups require")
	}
	var inUse []dependency
	for _, want := range wants {
		group, err := g.find(ctx, want, recorded)
		if err != nil {
			return nil, err
		}
		if group == nil {
			created, err := g.session.CreateServerGroup(ctx, g.names(want)[0], want.policy)
			if err != nil {
				return nil, fmt.Errorf("creating a server group with policy %q for pool %q: %w", want.policy, want.pool, err)
			}
			group = &created
		}
		inUse = append(inUse, dependency{PoolName: want.pool, ID: group.ID, Name: group.Name})
	}
	unused, err := g.unused(ctx, inUse, recorded)
	if err != nil {
		return nil, err
	}
	return append(unused, inUse...), nil
}

// find returns the group of a pool, nil if there is none: the recorded one, if it exists and has the policy, or else one that is the
// shoot's. Of several, it prefers one with servers: another one would replace the nodes.
func (g *groups) find(ctx context.Context, want groupWant, recorded []dependency) (*cloudopenstack.ServerGroup, error) {
	for _, known := range slices.Backward(recorded) {
		if known.PoolName != want.pool {
			continue
		}
		group, err := g.get(ctx, known.ID)
		if err != nil {
			return nil, err
		}
		if group != nil && group.Policy == want.policy {
			return group, nil
		}
	}
	for _, group := range g.candidates(want) {
		isOurs := g.isOwn(group)
		if !isOurs {
			member, err := g.liveMember(ctx, group)
			if err != nil {
				return nil, err
			}
			isOurs = member != nil && g.isMachine(*member)
		}
		if isOurs {
			return &group, nil
		}
	}
	return nil, nil
}

// candidates are the groups whose names are the pool's, best first.
func (g *groups) candidates(want groupWant) []cloudopenstack.ServerGroup {
	var found []cloudopenstack.ServerGroup
	names := g.names(want)
	isNamed := func(group cloudopenstack.ServerGroup) bool { return slices.Contains(names, group.Name) }
	for _, group := range g.known {
		pool, isParsed := g.poolFromName(group)
		if group.Policy == want.policy && (isNamed(group) || isParsed && pool == want.pool) {
			found = append(found, group)
		}
	}
	slices.SortFunc(found, func(a, b cloudopenstack.ServerGroup) int {
		return cmp.Or(
			compare(len(b.Members) > 0, len(a.Members) > 0), compare(isNamed(b), isNamed(a)), cmp.Compare(a.ID, b.ID),
		)
	})
	return found
}

// unused lists groups that are recorded, or the shoot's by their names, and that no pool uses. Deleted ones are omitted.
func (g *groups) unused(ctx context.Context, inUse, recorded []dependency) ([]dependency, error) {
	isIn := func(id string, list []dependency) bool {
		return slices.ContainsFunc(list, func(d dependency) bool { return d.ID == id })
	}
	var unused []dependency
	for _, old := range recorded {
		if isIn(old.ID, inUse) || isIn(old.ID, unused) {
			continue
		}
		group, err := g.get(ctx, old.ID)
		if err != nil {
			return nil, err
		}
		if group != nil {
			unused = append(unused, old)
		}
	}
	unrecorded := slices.DeleteFunc(slices.Clone(g.known), func(group cloudopenstack.ServerGroup) bool {
		return !g.isOwn(group) || isIn(group.ID, inUse) || isIn(group.ID, unused)
	})
	slices.SortFunc(unrecorded, func(a, b cloudopenstack.ServerGroup) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	for _, group := range unrecorded {
		pool, _ := g.poolFromName(group) // names of our form do not contain it
		unused = append(unused, dependency{PoolName: pool, ID: group.ID, Name: group.Name})
	}
	return unused, nil
}

// get returns a group by its ID, nil if there is none. It requests one that was not listed: Nova lists at most a thousand.
func (g *groups) get(ctx context.Context, id string) (*cloudopenstack.ServerGroup, error) {
	for i := range g.known {
		if g.known[i].ID == id {
			return &g.known[i], nil
		}
	}
	if slices.Contains(g.missing, id) {
		return nil, nil
	}
	group, err := g.session.GetServerGroup(ctx, id)
	switch {
	case cloud.IsNotFound(err):
		g.missing = append(g.missing, id)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading server group %s: %w", id, err)
	}
	g.known = append(g.known, group)
	return &group, nil
}

// liveMember returns the first server of a group that exists, nil if there is none: a soft-deleted server stays a member until
// the cloud purges it.
func (g *groups) liveMember(ctx context.Context, group cloudopenstack.ServerGroup) (*cloudopenstack.Server, error) {
	for _, id := range group.Members {
		server, err := g.session.GetServer(ctx, id)
		if cloud.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading server %s of server group %s: %w", id, group.Name, err)
		}
		if server.Status != cloudopenstack.ServerDeleted && server.Status != cloudopenstack.ServerSoftDeleted {
			return &server, nil
		}
	}
	return nil, nil
}

// compare orders false before true.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
