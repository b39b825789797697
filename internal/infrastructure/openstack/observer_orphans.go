package openstack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/observer"
)

// markedResource is a resource with the mark of a shoot.
type markedResource struct {
	what, id         string
	kind             kind
	technicalID, uid string
}

// orphans reports what certainly has no owner:
//
//   - resources with the mark of another shoot of the same technical ID. Technical IDs are unique in a garden, so that shoot is gone;
//
//   - resources with the shoot's own mark that are neither recorded nor in use, for example of a creation whose response was lost;
//
//   - load balancers and volumes with the shoot's own cluster name that are older than the shoot (observer_orphans_cluster.go).
//
// A mark or a cluster name that this seed does not have proves nothing: its shoot may live on another seed that uses the same account. Such resources
// are named in the message, and do not make the finding unhealthy. Key pairs have no mark.
func (s *observedShoot) orphans(ctx context.Context, namespaces func(context.Context) (map[string]bool, error)) observer.Finding {
	here, err := namespaces(ctx)
	if err != nil {
		return observer.Finding{Err: err}
	}
	var sentences []string
	elsewhere := map[string]int{}
	for _, one := range s.cloud.marked() {
		switch {
		case one.technicalID == s.technicalID && one.uid != s.uid:
			sentences = append(sentences, fmt.Sprintf("%s %s is left from an earlier shoot %s (uid %s), or belongs to a shoot of that name in another landscape: "+
				"delete it if no landscape has that shoot", one.what, one.id, one.technicalID, one.uid))
		case one.uid == s.uid:
			if !s.inUse(one) {
				sentences = append(sentences, fmt.Sprintf("%s %s is marked as this shoot's own, but not in use: delete it", one.what, one.id))
			}
		// A shoot that was deleted during the reads is in the first set, and one that was created in the second.
		case !s.cloud.namespaces[one.technicalID] && !here[one.technicalID]:
			elsewhere[one.technicalID+" (uid "+one.uid+")"]++
		}
	}
	ofClusters := s.cloud.ofClusters()
	for _, one := range ofClusters {
		if s.isFromEarlierShoot(one) {
			sentences = append(sentences, one.sentence())
		}
	}
	finding := findingOf(sentences, "No resource is left from an earlier shoot with this technical ID, and all with this shoot's mark are in use.")
	if len(elsewhere) > 0 {
		finding.Message += " " + describeElsewhere(elsewhere)
	}
	if clusters := s.clustersElsewhere(ofClusters, here); len(clusters) > 0 {
		finding.Message += " " + describeClustersElsewhere(clusters)
	}
	return finding
}

// describeElsewhere names shoots that this seed does not have.
func describeElsewhere(shoots map[string]int) string {
	return "The account also has resources with the marks of shoots that this seed does not have; they are orphans unless another seed has the shoot: " +
		firstOf(slices.Sorted(maps.Keys(shoots))) + "."
}

// firstOf lists some texts, and says how many there are more.
func firstOf(texts []string) string {
	const most = 5
	text := strings.Join(texts[:min(most, len(texts))], ", ")
	if more := len(texts) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// inUse reports whether a resource is recorded as the one in use.
func (s *observedShoot) inUse(one markedResource) bool {
	if one.kind != kindSubnet {
		return s.state.ID(one.kind) == one.id || s.isGiven(one.id)
	}
	return s.isGiven(one.id) || slices.ContainsFunc(subnetKinds(), func(k kind) bool { return s.state.ID(k) == one.id })
}

// marked returns the project's resources with a mark, by kind and ID. The snapshot may contain those of other projects.
func (s *snapshot) marked() []markedResource {
	var all []markedResource
	add := func(what string, k kind, id, description, project string) {
		technicalID, uid, ok := parseMark(description)
		if ok && (project == "" || project == s.login.ProjectID) {
			all = append(all, markedResource{what: what, kind: k, id: id, technicalID: technicalID, uid: uid})
		}
	}
	for _, r := range s.routers {
		add("router", kindRouter, r.ID, r.Description, r.ProjectID)
	}
	for _, n := range s.shareNetworks {
		add("share network", kindShareNetwork, n.ID, n.Description, n.ProjectID)
	}
	for _, n := range s.subnets {
		add("subnet", kindSubnet, n.ID, n.Description, n.ProjectID)
	}
	for _, n := range s.networks {
		add("network", kindNetwork, n.ID, n.Description, n.ProjectID)
	}
	for _, g := range s.groups {
		add("security group", kindSecurityGroup, g.ID, g.Description, g.ProjectID)
	}
	slices.SortFunc(all, func(a, b markedResource) int { return strings.Compare(a.what+a.id, b.what+b.id) })
	return all
}
