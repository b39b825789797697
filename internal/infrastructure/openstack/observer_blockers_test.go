package openstack

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// plantServer creates a server of the flavor m1.medium in the shoot's network.
func (o *observing) plantServer(name string, attrs fake.Attrs) {
	o.t.Helper()
	server := fake.Attrs{
		"name": name, "networks": []any{fake.Attrs{"uuid": o.state()["Network"]}},
		"flavorRef": o.idOf(services.Nova, "/v2.1/flavors", "flavors", "m1.medium"), "imageRef": o.idOf(services.Glance, "/v2/images", "images", "gardenlinux"),
	}
	for attribute, value := range attrs {
		server[attribute] = value
		if value == nil {
			delete(server, attribute)
		}
	}
	o.plant("servers", server)
}

func (o *observing) idOf(service wire.Service, path, key, name string) string {
	o.t.Helper()
	found, ok := o.operate(http.MethodGet, service, path, nil)[key].([]any)
	require.True(o.t, ok)
	for _, each := range found {
		if one, isObject := each.(map[string]any); isObject && one["name"] == name {
			id, isText := one["id"].(string)
			require.True(o.t, isText)
			return id
		}
	}
	o.t.Fatalf("no %s %s", key, name)
	return ""
}

// plantPort creates a port in a subnet of a network.
func (o *observing) plantPort(network, subnet string, attrs fake.Attrs) string {
	o.t.Helper()
	port := fake.Attrs{"network_id": network, "fixed_ips": []fake.Attrs{{"subnet_id": subnet}}}
	maps.Copy(port, attrs)
	return o.plant("ports", port)
}

func machineTags() fake.Attrs {
	return fake.Attrs{"metadata": fake.Attrs{"kubernetes.io-cluster-" + technicalID: "1", "kubernetes.io-role-node": "1"}}
}

// useSharedNetwork puts the shoot's subnet into a network of the user's.
func useSharedNetwork(o *observing) {
	o.config.Networks.ID = new(o.plant("networks", fake.Attrs{"name": "shared"}))
}

// useGivenSubnet connects a subnet of the user's to the shoot's router.
func useGivenSubnet(o *observing) {
	network := o.plant("networks", fake.Attrs{"name": "shared"})
	o.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: new(o.plantSubnet(network, "shared", "10.250.0.0/19"))}
}

type blockerCase struct {
	prepare func(o *observing)
	cause   func(o *observing)
	// want is a part of the message; without it nothing blocks.
	want string
	// byWorker means that the Worker removes it before the Infrastructure is deleted.
	byWorker bool
}

func blockers() map[string]blockerCase {
	return map[string]blockerCase{
		"a server of somebody else's": {
			cause: func(o *observing) { o.plantServer("bastion", nil) }, want: " of server bastion is in the shoot's network ",
		},
		"a port of somebody else's": {
			cause: func(o *observing) {
				o.plantPort(o.state()["Network"], o.state()["Subnet"], fake.Attrs{"name": "theirs"})
			},
			want: " (theirs) is in the shoot's network ",
		},
		"a port elsewhere with the shoot's security group": {
			cause: func(o *observing) {
				network := o.plant("networks", fake.Attrs{"name": "other"})
				o.plantPort(network, o.plantSubnet(network, "other", "192.168.7.0/24"), fake.Attrs{"security_groups": []string{o.state()["SecurityGroup"]}})
			},
			want: " has the shoot's security group ",
		},
		"an interface of the shoot's router": {
			cause: func(o *observing) {
				subnet := o.plantSubnet(o.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
				o.operate("PUT", services.Neutron, "/v2.0/routers/"+o.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
			},
			want: "connects the shoot's router to a subnet that is not the shoot's",
		},
		"an interface of another router": {
			cause: func(o *observing) {
				port := o.plantPort(o.state()["Network"], o.state()["Subnet"], nil)
				o.operate("PUT", services.Neutron, "/v2.0/routers/"+o.plantRouter("theirs")+"/add_router_interface", map[string]any{"port_id": port})
			},
			want: " of router ",
		},
		"a machine of the shoot": {cause: func(o *observing) { o.plantServer("machine", machineTags()) }, byWorker: true},
		"a machine of another shoot": {cause: func(o *observing) {
			o.plantServer("machine", fake.Attrs{"metadata": fake.Attrs{"kubernetes.io-cluster-" + technicalID + "-2": "1"}})
		}, want: " of server machine "},
		"a port before its machine":      {cause: func(o *observing) { o.plantMachinePort() }, byWorker: true},
		"a load balancer in the network": {cause: func(o *observing) { o.plantBalancer("theirs", "") }},
		"a load balancer of another cluster in a shared network": {
			prepare: useSharedNetwork, cause: func(o *observing) { o.plantBalancer("kube_service_shoot--dev--two_default_web", "") },
			want: " is in the shoot's subnet ",
		},
		"a load balancer of the shoot in a shared network": {
			prepare: useSharedNetwork, cause: func(o *observing) { o.plantBalancer("kube_service_"+technicalID+"_default_web", "") },
		},
		"a port of somebody else's in a shared network": {
			prepare: useSharedNetwork,
			cause: func(o *observing) {
				network := o.state()["Network"]
				o.plantPort(network, o.plantSubnet(network, "theirs", "192.168.7.0/24"), nil)
			},
		},
		"a port of somebody else's in a given subnet": {
			prepare: useGivenSubnet, cause: func(o *observing) { o.plantPort(o.state()["Network"], o.state()["Subnet"], nil) },
		},
		"a floating IP in a given subnet": {
			prepare: useGivenSubnet,
			cause: func(o *observing) {
				port := o.plantPort(o.state()["Network"], o.state()["Subnet"], nil)
				o.plant("floatingips", fake.Attrs{"floating_network_id": o.floatingNetwork(), "port_id": port})
			},
			want: "which is connected to subnet ",
		},
		"a key pair of somebody else's": {
			cause: func(o *observing) {
				_, err := o.session().CreateKeyPair(o.t.Context(), "theirs", otherKey)
				require.NoError(o.t, err)
			},
		},
	}
}

func (o *observing) plantMachinePort() {
	o.plantPort(o.state()["Network"], o.state()["Subnet"], fake.Attrs{"description": "kubernetes.io-cluster-" + technicalID})
}

func (o *observing) plantBalancer(name, description string) {
	o.plant("loadbalancers", fake.Attrs{"name": name, "description": description, "vip_subnet_id": o.state()["Subnet"]})
}

// The finding says what the deletion then does.
func TestObserver_DeletionBlockers(t *testing.T) {
	for sentence, tc := range blockers() {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t, fake.WithDHCPPorts())
			if tc.prepare != nil {
				tc.prepare(o)
			}
			o.mustReconcile()
			require.True(t, o.find(infrastructure.ObservationDeletionBlockers).Healthy)
			tc.cause(o)
			finding := o.find(infrastructure.ObservationDeletionBlockers)
			assert.Equal(t, tc.want == "", finding.Healthy, finding.Message)
			assert.Contains(t, finding.Message, tc.want)
			if tc.byWorker {
				return
			}
			err := o.delete()
			assert.Equal(t, tc.want != "", err != nil, "%v", err)
		})
	}
}
