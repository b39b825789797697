package openstack

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

const (
	// csiClusterKey is the key of volumes' metadata under which Cinder's CSI driver writes the name of its cluster (k8s.io/cloud-provider-openstack,
	// pkg/csi/cinder/controllerserver.go).
	csiClusterKey = "cinder.csi.openstack.org/cluster"
	// clockDifference is how much the clocks of a garden and a cloud may differ.
	clockDifference = time.Hour
)

// clusterResource is a load balancer of a cloud-controller-manager, or a volume of a CSI driver.
type clusterResource struct {
	what, id, name string
	// cluster is the name of the cluster, which both write down exactly.
	cluster   string
	createdAt time.Time
	// networkID is the network of a load balancer. isAttached is true for a volume that a server uses.
	networkID  string
	isAttached bool
}

// ofClusters returns the project's resources of clusters, by kind and ID.
func (s *snapshot) ofClusters() []clusterResource {
	var all []clusterResource
	for _, b := range s.loadBalancers {
		service, ok := ccmLoadBalancerService(b.Name, b.Description)
		if ok && (b.ProjectID == "" || b.ProjectID == s.login.ProjectID) {
			all = append(all, clusterResource{
				what: "load balancer", id: b.ID, name: b.Name, cluster: service.cluster, createdAt: b.CreatedAt.Time, networkID: b.VIPNetworkID,
			})
		}
	}
	for _, v := range s.volumes {
		if cluster := v.Metadata[csiClusterKey]; cluster != "" {
			all = append(all, clusterResource{
				what: "volume", id: v.ID, name: v.Name, cluster: cluster, createdAt: v.CreatedAt.Time, isAttached: isAttached(v),
			})
		}
	}
	slices.SortFunc(all, func(a, b clusterResource) int { return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.id, b.id)) })
	return all
}

func isAttached(volume cloudopenstack.Volume) bool {
	return slices.Contains([]string{"in-use", "attaching", "detaching", "reserved"}, volume.Status)
}

// isFromEarlierShoot reports whether a resource with the shoot's own cluster name was created before the shoot. What is in the shoot's own network is deleted
// with it, and what is attached is in use.
func (s *observedShoot) isFromEarlierShoot(one clusterResource) bool {
	created := s.shoot.Cluster.Shoot.CreationTimestamp
	inOwnNetwork := one.networkID != "" && one.networkID == s.state.ID(kindNetwork) && s.owns(kindNetwork, s.plan.network.givenID)
	return slices.Contains(s.clusterNames, one.cluster) && !one.createdAt.IsZero() && !created.IsZero() &&
		one.createdAt.Add(clockDifference).Before(created.Time) && !inOwnNetwork && !one.isAttached
}

func (r clusterResource) sentence() string {
	text := fmt.Sprintf("%s %s (%s) of cluster %s is older than this shoot: it is left from an earlier shoot of that name, or belongs to one in another landscape: "+
		"delete it if no landscape has that shoot", r.what, r.id, r.name, r.cluster)
	if r.what == "volume" {
		text += ", and no PersistentVolume of this shoot refers to it"
	}
	return text
}

// clustersElsewhere counts the resources of clusters that this seed does not have. A shoot that was deleted during the reads is in the first set of
// namespaces, and one that was created in the second.
func (s *observedShoot) clustersElsewhere(resources []clusterResource, here map[string]bool) map[string]map[string]int {
	counts := map[string]map[string]int{}
	for _, one := range resources {
		if slices.Contains(s.clusterNames, one.cluster) || s.cloud.namespaces[one.cluster] || here[one.cluster] {
			continue
		}
		if counts[one.cluster] == nil {
			counts[one.cluster] = map[string]int{}
		}
		counts[one.cluster][one.what]++
	}
	return counts
}

func describeClustersElsewhere(clusters map[string]map[string]int) string {
	texts := make([]string, 0, len(clusters))
	for cluster, counts := range clusters {
		texts = append(texts, fmt.Sprintf("%s (load balancers: %d, volumes: %d)", cluster, counts["load balancer"], counts["volume"]))
	}
	slices.Sort(texts)
	return "The account also has load balancers and volumes of clusters that this seed does not have; they are orphans unless such a cluster exists elsewhere: " +
		firstOf(texts) + "."
}
