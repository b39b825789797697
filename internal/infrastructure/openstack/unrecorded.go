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

// takeOver notes that the upstream extension wrote the ledger and, where nobody has finished the shoot, which kinds it lacks. That is said once: a kind that
// is recorded now and removed later is not one of them. A shoot that comes from another seed counts as unfinished too; its state lacks nothing that it has.
func (l *ledger) takeOver(finished bool) {
	if l.foreign() {
		l.note(keyAdopted, "true")
	}
	if finished || l.config() != nil || l.fact(keyAdopted) == "" || l.fact(keyUnrecorded) != "" {
		return
	}
	var lacking []string
	for _, k := range searchedKinds() {
		if l.id(k) == "" {
			lacking = append(lacking, string(k))
		}
	}
	l.note(keyUnrecorded, cmp.Or(strings.Join(lacking, ","), nothingUnrecorded))
}

// unrecorded tells whether upstream's state lacked the kind and nothing of it has been recorded since.
func (l *ledger) unrecorded(k kind) bool {
	return slices.Contains(strings.Split(l.fact(keyUnrecorded), ","), string(k))
}

// settleUnrecorded strikes a kind out of those that upstream's state lacked. The caller holds the mutex.
func (l *ledger) settleUnrecorded(k kind) {
	kinds := strings.Split(l.data[keyUnrecorded], ",")
	if !slices.Contains(kinds, string(k)) {
		return
	}
	kinds = slices.DeleteFunc(kinds, func(each string) bool { return each == string(k) })
	l.data[keyUnrecorded] = cmp.Or(strings.Join(kinds, ","), nothingUnrecorded)
}

// wasBegunByUpstream tells whether the upstream extension began to create the shoot and nobody has finished it.
func wasBegunByUpstream(shoot *infrastructure.Shoot, recorded *ledger) bool {
	return shoot.Infrastructure.Status.ProviderStatus == nil && recorded.fact(keyUnrecorded) != ""
}

// namesake is a resource that has the name of one of the shoot's.
type namesake struct {
	what, id string
	// isUpstreams is true when it has the form that upstream gives it.
	isUpstreams bool
	// isMarked is true when its description says which shoot's it is.
	isMarked bool
}

// theOne returns the namesake that counts as the shoot's, or nil where there is none. Several are an error: nothing tells which one is meant.
func theOne(namesakes []namesake) (*namesake, error) {
	formed := slices.DeleteFunc(slices.Clone(namesakes), func(n namesake) bool { return !n.isUpstreams })
	switch len(formed) {
	case 0:
		return nil, nil
	case 1:
		return &formed[0], nil
	}
	return nil, cloud.Errorf(cloud.Configuration, "there are several that the shoot's state does not tell apart: %s; delete all but the one that is in use",
		strings.Join(namesOf(formed), ", "))
}

func namesOf(namesakes []namesake) []string {
	names := make([]string, 0, len(namesakes))
	for _, one := range namesakes {
		names = append(names, one.what+" "+one.id)
	}
	slices.Sort(names)
	return names
}

// lacks tells whether upstream's state lacked a kind that the user does not give, and nothing else tells of it.
func (p *pass) lacks(k kind, givenID string) bool {
	return p.begunByUpstream && givenID == "" && p.ledger.unrecorded(k) && p.ledger.id(k) == "" && !p.ledger.uncertain(k)
}

func (p *pass) networksNamed(ctx context.Context) ([]cloudopenstack.Network, []namesake, error) {
	found, err := p.cloud.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: p.plan.network.name})
	return namesakesOf(p, "network", found, err, func(n cloudopenstack.Network) form { return form{n.ID, n.ProjectID, n.Description, ""} })
}

func (p *pass) routersNamed(ctx context.Context) ([]cloudopenstack.Router, []namesake, error) {
	found, err := p.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{Name: p.plan.router.name})
	return namesakesOf(p, "router", found, err, func(r cloudopenstack.Router) form { return form{r.ID, r.ProjectID, r.Description, ""} })
}

func (p *pass) groupsNamed(ctx context.Context) ([]cloudopenstack.SecurityGroup, []namesake, error) {
	found, err := p.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Name: p.plan.group.name})
	return namesakesOf(p, "security group", found, err, func(g cloudopenstack.SecurityGroup) form {
		return form{g.ID, g.ProjectID, g.Description, upstreamGroupDescription}
	})
}

func (p *pass) subnetsNamed(ctx context.Context, name, networkID string) ([]cloudopenstack.Subnet, []namesake, error) {
	found, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{Name: name, NetworkID: networkID})
	return namesakesOf(p, "subnet", found, err, func(s cloudopenstack.Subnet) form { return form{s.ID, s.ProjectID, s.Description, ""} })
}

func (p *pass) shareNetworksNamed(ctx context.Context, networkID string) ([]cloudopenstack.ShareNetwork, []namesake, error) {
	found, err := p.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{Name: p.technicalID, NetworkID: networkID})
	return namesakesOf(p, "share network", found, err, func(s cloudopenstack.ShareNetwork) form { return form{s.ID, s.ProjectID, s.Description, ""} })
}

// form is what decides whether a namesake counts; upstreams is the description that upstream gives to the kind.
type form struct{ id, project, description, upstreams string }

// namesakesOf returns both lists in the same order. A list may contain what other projects share, or, for an administrator, all that they have: none of that
// is the shoot's. What carries a mark is known by that: it is this shoot's, and was found already, or another's.
func namesakesOf[T any](p *pass, what string, found []T, err error, formOf func(T) form) ([]T, []namesake, error) {
	if err != nil {
		return nil, nil, fmt.Errorf("looking for a %s of the shoot's name: %w", what, err)
	}
	project := p.cloud.Token().ProjectID
	found = slices.DeleteFunc(found, func(one T) bool { owner := formOf(one).project; return owner != "" && owner != project })
	namesakes := make([]namesake, 0, len(found))
	for _, one := range found {
		has := formOf(one)
		_, _, marked := parseMark(has.description)
		namesakes = append(namesakes, namesake{what: what, id: has.id, isUpstreams: has.description == has.upstreams, isMarked: marked})
	}
	return found, namesakes, nil
}
