package openstack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

func TestObserver_OrphansOfClusters(t *testing.T) {
	const gone = "shoot--dev--gone"
	createVolume := func(o *observing, cluster string) {
		o.plant("volumes", fake.Attrs{"name": "pv-" + technicalID + "-1", "size": 1, "metadata": map[string]string{csiClusterKey: cluster}})
	}
	shared := func(o *observing) string {
		subnet := o.plantSubnet(o.plant("networks", fake.Attrs{"name": "shared"}), "shared", "10.9.0.0/24")
		o.operate("PUT", services.Neutron, "/v2.0/routers/"+o.plantRouter("shared")+"/add_router_interface", map[string]any{"subnet_id": subnet})
		return subnet
	}
	// younger makes the shoot younger than what was created before.
	younger := func(o *observing) { o.shoot.CreationTimestamp = metav1.NewTime(time.Now().Add(2 * time.Hour)) }
	for sentence, tc := range map[string]struct {
		cause   func(o *observing)
		healthy bool
		want    string
		not     string
	}{
		"a volume of an earlier shoot with the same technical ID": {
			cause: func(o *observing) { createVolume(o, technicalID); younger(o) },
			want:  "of cluster shoot--dev--one is older than this shoot: it is left from an earlier shoot of that name",
		},
		"a load balancer of an earlier shoot with the same technical ID": {
			cause: func(o *observing) { o.createLoadBalancer(technicalID, shared(o)); younger(o) },
			want:  "(kube_service_shoot--dev--one_default_web) of cluster shoot--dev--one is older than this shoot",
		},
		"the shoot's own volume and load balancer": {
			cause:   func(o *observing) { createVolume(o, technicalID); o.createLoadBalancer(technicalID, shared(o)) },
			healthy: true, not: "shoot--dev--",
		},
		"a load balancer in the shoot's own network is deleted with it": {
			cause:   func(o *observing) { o.createLoadBalancer(technicalID, o.state()["Subnet"]); younger(o) },
			healthy: true, not: "shoot--dev--",
		},
		"those of clusters that this seed does not have prove nothing": {
			cause: func(o *observing) {
				createVolume(o, gone)
				createVolume(o, gone)
				o.createLoadBalancer(gone, shared(o))
				younger(o)
			},
			healthy: true, want: "they are orphans unless such a cluster exists elsewhere: shoot--dev--gone (load balancers: 1, volumes: 2).",
		},
		"those of another shoot of this seed": {
			cause: func(o *observing) {
				createVolume(o, gone)
				o.createLoadBalancer(gone, shared(o))
				o.here[gone] = true
				younger(o)
			},
			healthy: true, not: gone,
		},
		"a cluster whose name begins with the technical ID is another one": {
			cause: func(o *observing) {
				createVolume(o, technicalID+"-b")
				o.createLoadBalancer(technicalID+"-b", shared(o))
				younger(o)
			},
			healthy: true, want: "elsewhere: shoot--dev--one-b (load balancers: 1, volumes: 1).",
		},
		"a name without metadata and a load balancer of a person": {
			cause: func(o *observing) {
				o.plant("volumes", fake.Attrs{"name": "pv-" + technicalID + "-2", "size": 1})
				o.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + technicalID, "vip_subnet_id": shared(o)})
				younger(o)
			},
			healthy: true, not: "elsewhere",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t)
			o.shoot.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Minute))
			o.mustReconcile()
			tc.cause(o)
			finding := o.find(infrastructure.ObservationOrphans)
			assert.Equal(t, tc.healthy, finding.Healthy, finding.Message)
			assert.Contains(t, finding.Message, tc.want)
			if tc.not != "" {
				assert.NotContains(t, finding.Message, tc.not)
			}
		})
	}
}
