package openstack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// The upstream extension saves its state when a step has ended and marks nothing. When it is stopped in the middle of a create, what it made is in the
// cloud under the shoot's technical ID, and in no record. So in a shoot that it began and did not finish, of the kinds that its state lacks, the one
// resource that has this name and the form that upstream gives it counts as the shoot's.

// upstreamGroupDescription is the description of upstream's security groups. Its other resources have none.
const upstreamGroupDescription = "Cluster Nodes"

// nothingUnrecorded stands for an empty list of kinds.
const nothingUnrecorded = "none"

// searchedKinds are the kinds that a state of upstream's may lack although they are there.
func searchedKinds() []kind {
	return append([]kind{kindNetwork, kindRouter, kindSecurityGroup, kindShareNetwork, kindKeyPair}, subnetKinds()...)
}

// adoptUpstreamState notes that the upstream extension wrote the recorded state and, where nobody has finished the shoot, which kinds it lacks. That is said once: a kind that
// is recorded now and removed later is not one of them. A shoot that comes from another seed counts as unfinished too; its state lacks nothing that it has.
func (s *state) adoptUpstreamState(finished bool) {
	if s.fromUpstream() {
		s.setFact(keyAdopted, "true")
	}
	if finished || s.config() != nil || s.fact(keyAdopted) == "" || s.fact(keyUnrecorded) != "" {
		return
	}
	var lacking []string
	for _, k := range searchedKinds() {
		if s.id(k) == "" {
			lacking = append(lacking, string(k))
		}
	}
	s.setFact(keyUnrecorded, cmp.Or(strings.Join(lacking, ","), nothingUnrecorded))
}

// unrecorded tells whether upstream's state lacked the kind and nothing of it has been recorded since.
func (s *state) unrecorded(k kind) bool {
	return slices.Contains(strings.Split(s.fact(keyUnrecorded), ","), string(k))
}

// clearUnrecorded strikes a kind out of those that upstream's state lacked. The caller holds the mutex.
func (s *state) clearUnrecorded(k kind) {
	kinds := strings.Split(s.data[keyUnrecorded], ",")
	if !slices.Contains(kinds, string(k)) {
		return
	}
	kinds = slices.DeleteFunc(kinds, func(each string) bool { return each == string(k) })
	s.data[keyUnrecorded] = cmp.Or(strings.Join(kinds, ","), nothingUnrecorded)
}

// startedByUpstream tells whether the upstream extension began to create the shoot and nobody has finished it.
func startedByUpstream(shoot *infrastructure.Shoot, recorded *state) bool {
	return shoot.Infrastructure.Status.ProviderStatus == nil && recorded.fact(keyUnrecorded) != ""
}

// namesake is a resource that has the name of one of the shoot's.
type namesake struct {
	what, id string
	// looksLikeUpstream is true when it has the form that upstream gives it.
	looksLikeUpstream bool
	// isMarked is true when its description says which shoot's it is.
	isMarked bool
}

// uniqueNamesake returns the namesake that counts as the shoot's, or nil where there is none. Several are an error: nothing tells which one is meant.
func uniqueNamesake(namesakes []namesake) (*namesake, error) {
	matching := slices.DeleteFunc(slices.Clone(namesakes), func(n namesake) bool { return !n.looksLikeUpstream })
	switch len(matching) {
	case 0:
		return nil, nil
	case 1:
		return &matching[0], nil
	}
	return nil, cloud.Errorf(cloud.Configuration, "there are several that the shoot's state does not tell apart: %s; delete all but the one that is in use",
		strings.Join(namesOf(matching), ", "))
}

func namesOf(namesakes []namesake) []string {
	names := make([]string, 0, len(namesakes))
	for _, one := range namesakes {
		names = append(names, one.what+" "+one.id)
	}
	slices.Sort(names)
	return names
}

// isUnrecorded tells whether upstream's state lacked a kind that the user does not give, and nothing else tells of it.
func (rec *reconciliation) isUnrecorded(k kind, givenID string) bool {
	return rec.startedByUpstream && givenID == "" && rec.state.unrecorded(k) && rec.state.id(k) == "" && !rec.state.mayHaveMore(k)
}

func (rec *reconciliation) networksNamed(ctx context.Context) ([]cloudopenstack.Network, []namesake, error) {
	found, err := rec.cloud.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: rec.plan.network.name})
	return namesakesOf(rec, "network", found, err, func(n cloudopenstack.Network) namesakeFacts {
		return namesakeFacts{n.ID, n.ProjectID, n.Description, ""}
	})
}

func (rec *reconciliation) routersNamed(ctx context.Context) ([]cloudopenstack.Router, []namesake, error) {
	found, err := rec.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{Name: rec.plan.router.name})
	return namesakesOf(rec, "router", found, err, func(r cloudopenstack.Router) namesakeFacts {
		return namesakeFacts{r.ID, r.ProjectID, r.Description, ""}
	})
}

func (rec *reconciliation) groupsNamed(ctx context.Context) ([]cloudopenstack.SecurityGroup, []namesake, error) {
	found, err := rec.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Name: rec.plan.group.name})
	return namesakesOf(rec, "security group", found, err, func(g cloudopenstack.SecurityGroup) namesakeFacts {
		return namesakeFacts{g.ID, g.ProjectID, g.Description, upstreamGroupDescription}
	})
}

func (rec *reconciliation) subnetsNamed(ctx context.Context, name, networkID string) ([]cloudopenstack.Subnet, []namesake, error) {
	found, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{Name: name, NetworkID: networkID})
	return namesakesOf(rec, "subnet", found, err, func(s cloudopenstack.Subnet) namesakeFacts {
		return namesakeFacts{s.ID, s.ProjectID, s.Description, ""}
	})
}

func (rec *reconciliation) shareNetworksNamed(ctx context.Context, networkID string) ([]cloudopenstack.ShareNetwork, []namesake, error) {
	found, err := rec.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{Name: rec.technicalID, NetworkID: networkID})
	return namesakesOf(rec, "share network", found, err, func(s cloudopenstack.ShareNetwork) namesakeFacts {
		return namesakeFacts{s.ID, s.ProjectID, s.Description, ""}
	})
}

// namesakeFacts is what decides whether a namesake counts; upstreams is the description that upstream gives to the kind.
type namesakeFacts struct{ id, project, description, upstreamDescription string }

// namesakesOf returns both lists in the same order. A list may contain what other projects share, or, for an administrator, all that they have: none of that
// is the shoot's. What carries a mark is known by that: it is this shoot's, and was found already, or another's.
func namesakesOf[T any](rec *reconciliation, what string, found []T, err error, describe func(T) namesakeFacts) ([]T, []namesake, error) {
	if err != nil {
		return nil, nil, fmt.Errorf("looking for a %s of the shoot's name: %w", what, err)
	}
	project := rec.cloud.Token().ProjectID
	found = slices.DeleteFunc(found, func(one T) bool { owner := describe(one).project; return owner != "" && owner != project })
	namesakes := make([]namesake, 0, len(found))
	for _, one := range found {
		facts := describe(one)
		_, _, marked := parseMark(facts.description)
		namesakes = append(namesakes, namesake{what: what, id: facts.id, looksLikeUpstream: facts.description == facts.upstreamDescription, isMarked: marked})
	}
	return found, namesakes, nil
}
