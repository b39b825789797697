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

// The upstream extension saves its state when a step has ended, and its resources have no marks. If it is stopped during a creation, its resources exist with
// the shoot's technical ID as their name, and are in no record. So in a shoot that it began and did not finish, for the kinds that its state lacks, the only
// resource with this name and with upstream's properties counts as the shoot's.

// upstreamGroupDescription is the description of upstream's security groups. Its other resources have none.
const upstreamGroupDescription = "Cluster Nodes"

// nothingUnrecorded represents an empty list of kinds.
const nothingUnrecorded = "none"

// searchedKinds are the kinds that upstream's state may lack although the resources exist.
func searchedKinds() []kind {
	return append([]kind{kindNetwork, kindRouter, kindSecurityGroup, kindShareNetwork, kindKeyPair}, subnetKinds()...)
}

// adoptUpstreamState records that the upstream extension wrote the state and, for an unfinished shoot, which kinds it lacks. It does so once: a kind that is
// recorded now and removed later is not one of them. A shoot from another seed counts as unfinished, too; its state lacks no kind that it has.
func (s *state) adoptUpstreamState(finished bool) {
	if s.fromUpstream() {
		s.SetFact(keyAdopted, "true")
	}
	if finished || s.config() != nil || s.Fact(keyAdopted) == "" || s.Fact(keyUnrecorded) != "" {
		return
	}
	var lacking []string
	for _, k := range searchedKinds() {
		if s.ID(k) == "" {
			lacking = append(lacking, string(k))
		}
	}
	s.SetFact(keyUnrecorded, cmp.Or(strings.Join(lacking, ","), nothingUnrecorded))
}

// unrecorded reports whether upstream's state lacked the kind and no resource of it has been recorded since.
func (s *state) unrecorded(k kind) bool {
	return slices.Contains(strings.Split(s.Fact(keyUnrecorded), ","), string(k))
}

// clearUnrecorded removes a kind from those that upstream's state lacked.
func (s *state) clearUnrecorded(k kind) {
	s.ChangeFact(keyUnrecorded, func(known string) string {
		kinds := strings.Split(known, ",")
		if !slices.Contains(kinds, string(k)) {
			return known
		}
		kinds = slices.DeleteFunc(kinds, func(each string) bool { return each == string(k) })
		return cmp.Or(strings.Join(kinds, ","), nothingUnrecorded)
	})
}

// startedByUpstream reports whether the upstream extension began to create the shoot and did not finish.
func startedByUpstream(shoot *infrastructure.Shoot, recorded *state) bool {
	return shoot.Infrastructure.Status.ProviderStatus == nil && recorded.Fact(keyUnrecorded) != ""
}

// namesake is a resource with the name of one of the shoot's.
type namesake struct {
	what, id string
	// looksLikeUpstream is true if it has upstream's properties.
	looksLikeUpstream bool
	// isMarked is true if its description is the mark of a shoot.
	isMarked bool
}

// uniqueNamesake returns the namesake that counts as the shoot's, or nil if there is none. Several are an error, since nothing distinguishes them.
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

// isUnrecorded reports whether upstream's state lacked a kind that the user does not give, and nothing else identifies its resource.
func (rec *reconciliation) isUnrecorded(k kind, givenID string) bool {
	return rec.startedByUpstream && givenID == "" && rec.state.unrecorded(k) && rec.state.ID(k) == "" && !rec.state.MayHaveMore(k)
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

// namesakeFacts determine whether a namesake counts; upstreams is upstream's description of the kind.
type namesakeFacts struct{ id, project, description, upstreamDescription string }

// namesakesOf returns both lists in the same order. A list may contain resources of other projects, shared or for an administrator: those are not the
// shoot's. A marked one is identified by its mark: it is this shoot's, and was found already, or another's.
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
