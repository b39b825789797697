package mcm_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/component/nodemanagement/machinecontrollermanager"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackmachinev1alpha1 "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// TestUpstreamMachineClass tests machine-controller-manager and our machine controller with a machine class of the existing machine driver,
// without a controller for Workers: with new machines, and with one whose server that driver has created.
func TestUpstreamMachineClass(t *testing.T) {
	s := newEnvironment(t)
	s.makeClass(t)
	adopted := s.makeServer(t, "adopted")
	s.makeMachine(t, "adopted")
	s.makeDeployment(t, 2)
	before := time.Now()
	clusterstest.Eventually(t, "all machines run", func() bool { return s.running(t) == 3 })

	t.Logf("the machines took %s", time.Since(before).Round(time.Second))
	servers := s.servers()
	require.Len(t, servers, 3)
	machine := &machinev1alpha1.Machine{ObjectMeta: s.named("adopted")}
	require.True(t, clusterstest.Get(t, s.Source.Client, machine))
	assert.Equal(t, "openstack:///"+s.Cloud.Region()+"/"+adopted, machine.Spec.ProviderID)

	before = time.Now()
	require.NoError(t, s.Source.Client.Delete(t.Context(), machine))
	deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: s.named("pool")}
	require.NoError(t, s.Source.Client.Delete(t.Context(), deployment))
	clusterstest.Eventually(t, "no machine is left", func() bool { return s.running(t) == 0 && len(s.machines(t)) == 0 })
	t.Logf("their deletion took %s", time.Since(before).Round(time.Second))
	assert.Empty(t, s.servers())
	assert.Equal(t, s.empty, s.inventory(), "neither a port nor a volume is left")
	list := &corev1.NodeList{}
	require.NoError(t, s.Cluster.Client.List(t.Context(), list))
	assert.Empty(t, list.Items)
}

// environment is a shoot whose infrastructure is ready, with machine-controller-manager and our machine controller.
type environment struct {
	*openstack.Clusters
	status openstackv1alpha1.InfrastructureStatus
	empty  []string
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	options := clusters.Options{Cloud: openstack.OpenFake, Machines: true}
	s := &environment{Clusters: openstack.In(clusterstest.NewHosting(t, options))}
	path, err := controller.Machine().Build(t.Context())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(clusterstest.MakeInfrastructure(t, s.Clusters.Clusters), &s.status))
	s.empty = s.inventory()
	s.Cloud.Fake.SetTransition(fake.ServerBuild, fake.Transition{After: 300 * time.Millisecond})

	seed, namespace := s.Source.Gardenlet, s.Shoot.Namespace()
	require.NoError(t, seed.DeployMachineControllerManager(t.Context(), s.Shoot, gardenlet.APIServer{URL: s.Cluster.URL(), CA: s.Cluster.CA}))
	s.addSidecar(t)
	require.NoError(t, s.StartMachines(t.Context(), clusters.MachineOptions{Controller: path}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.Source.Machines.Tails(60))
		}
		assert.NoError(t, s.StopMachines())
		clusterstest.AwaitNothingForbidden(t, s.Source.AuditLog(), audit.UserOf(namespace, mcm.Manager))
		clusterstest.AwaitNothingForbidden(t, s.Cluster.AuditLog(), audit.UserOf(metav1.NamespaceSystem, mcm.Manager))
	})
	return s
}

// addSidecar does what the extension's webhook does.
func (s *environment) addSidecar(t *testing.T) {
	t.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: s.named(mcm.Manager)}
	require.True(t, clusterstest.Get(t, s.Source.Client, deployment))
	patch := client.MergeFrom(deployment.DeepCopy())
	containers := &deployment.Spec.Template.Spec.Containers
	*containers = append(*containers, machinecontrollermanager.ProviderSidecarContainer(
		&gardencorev1beta1.Shoot{}, s.Shoot.Namespace(), "provider-openstack", "example.org/machine-controller:v1",
	))
	require.NoError(t, s.Source.Client.Patch(t.Context(), deployment, patch))
}

func (s *environment) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.Shoot.Namespace()}
}

func (s *environment) tags() map[string]string {
	return map[string]string{
		openstackmachinev1alpha1.TagClusterPrefix + s.Shoot.Namespace(): "1", openstackmachinev1alpha1.TagRolePrefix + "node": "1",
	}
}

// makeClass creates the class and its Secret.
func (s *environment) makeClass(t *testing.T) {
	t.Helper()
	spec := map[string]any{
		"apiVersion": "openstack.machine.gardener.cloud/v1alpha1", "kind": "MachineProviderConfig",
		"spec": map[string]any{
			"imageName": openstack.MachineImage, "region": s.Cloud.Region(), "availabilityZone": openstack.Zone,
			"flavorName": openstack.SmallMachine, "keyName": s.status.Node.KeyName,
			"securityGroups": []string{s.status.SecurityGroups[0].Name}, "tags": s.tags(),
			"networkID": s.status.Networks.ID, "subnetIDs": []string{s.status.Networks.Subnets[0].ID}, "podNetworkCIDRs": []string{"100.96.0.0/11"},
		},
	}
	encoded, err := json.Marshal(spec)
	require.NoError(t, err)
	secret := &corev1.Secret{ObjectMeta: s.named("class"), Data: map[string][]byte{"userData": []byte("#!/bin/bash\n")}}
	secret.Labels = map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
	require.NoError(t, s.Source.Client.Create(t.Context(), secret))
	class := &machinev1alpha1.MachineClass{
		ObjectMeta:           s.named("class"),
		Provider:             openstackmachinev1alpha1.Provider,
		ProviderSpec:         runtime.RawExtension{Raw: encoded},
		SecretRef:            &corev1.SecretReference{Name: secret.Name, Namespace: secret.Namespace},
		CredentialsSecretRef: &corev1.SecretReference{Name: v1beta1constants.SecretNameCloudProvider, Namespace: secret.Namespace},
	}
	class.Labels = secret.Labels
	require.NoError(t, s.Source.Client.Create(t.Context(), class))
	// The existing driver reads Keystone's URL from the credentials.
	credentials := &corev1.Secret{ObjectMeta: s.named(v1beta1constants.SecretNameCloudProvider)}
	require.True(t, clusterstest.Get(t, s.Source.Client, credentials))
	credentials.Data["authURL"] = []byte(s.Cloud.AuthURL())
	require.NoError(t, s.Source.Client.Update(t.Context(), credentials))
}

// makeServer creates a port and a server as the existing driver does, and returns the server's ID.
func (s *environment) makeServer(t *testing.T, name string) string {
	t.Helper()
	port := s.asMember(t, http.MethodPost, conformance.Network, "/v2.0/ports", conformance.Body{"port": conformance.Body{
		"name": name, "network_id": s.status.Networks.ID, "security_groups": []string{s.status.SecurityGroups[0].ID},
		"fixed_ips":             []conformance.Body{{"subnet_id": s.status.Networks.Subnets[0].ID}},
		"allowed_address_pairs": []conformance.Body{{"ip_address": "100.96.0.0/11"}},
	}}).Text("port.id")
	return s.asMember(t, http.MethodPost, conformance.Compute, "/v2.1/servers", conformance.Body{"server": conformance.Body{
		"name": name, "networks": []conformance.Body{{"port": port}}, "metadata": s.tags(), "availability_zone": openstack.Zone,
		"flavorRef": s.pick(t, conformance.Compute, "/v2.1/flavors", "flavors", openstack.SmallMachine),
		"imageRef":  s.pick(t, conformance.Image, "/v2/images", "images", openstack.MachineImage),
	}}).Text("server.id")
}

func (s *environment) makeMachine(t *testing.T, name string) {
	t.Helper()
	machine := &machinev1alpha1.Machine{ObjectMeta: s.named(name)}
	machine.Labels = map[string]string{"name": name}
	machine.Spec.Class = machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: "class"}
	require.NoError(t, s.Source.Client.Create(t.Context(), machine))
}

func (s *environment) makeDeployment(t *testing.T, replicas int32) {
	t.Helper()
	require.NoError(t, s.Source.Client.Create(t.Context(), newDeployment(s.named("pool"), replicas)))
}

// newDeployment returns machines of the class.
func newDeployment(meta metav1.ObjectMeta, replicas int32) *machinev1alpha1.MachineDeployment {
	labels := map[string]string{"name": "pool"}
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	return &machinev1alpha1.MachineDeployment{ObjectMeta: meta, Spec: machinev1alpha1.MachineDeploymentSpec{
		Replicas: replicas, MinReadySeconds: 500, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Strategy: machinev1alpha1.MachineDeploymentStrategy{
			Type: machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
			RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{
				UpdateConfiguration: machinev1alpha1.UpdateConfiguration{MaxSurge: &one, MaxUnavailable: &none},
			},
		},
		Template: machinev1alpha1.MachineTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       machinev1alpha1.MachineSpec{Class: machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: "class"}},
		},
	}}
}

func (s *environment) machines(t *testing.T) []machinev1alpha1.Machine {
	t.Helper()
	list := &machinev1alpha1.MachineList{}
	require.NoError(t, s.Source.Client.List(t.Context(), list, client.InNamespace(s.Shoot.Namespace())))
	return list.Items
}

// running counts the running machines.
func (s *environment) running(t *testing.T) (running int) {
	t.Helper()
	for _, machine := range s.machines(t) {
		if machine.Status.CurrentStatus.Phase == machinev1alpha1.MachineRunning {
			running++
		}
	}
	return running
}

func (s *environment) servers() []fake.Server { return s.Cloud.Fake.State(s.Account.Project).Servers }

func (s *environment) inventory() []string {
	names := s.Cloud.Fake.State(s.Account.Project).List()
	slices.Sort(names)
	return names
}

func (s *environment) asMember(t *testing.T, method string, service conformance.Service, path string, body any) conformance.Object {
	t.Helper()
	response, err := s.Account.DoAsMember(context.WithoutCancel(t.Context()), method, service, path, body)
	require.NoError(t, err)
	return response
}

// pick returns the ID of the resource with a name.
func (s *environment) pick(t *testing.T, service conformance.Service, path, kind, name string) string {
	t.Helper()
	for _, object := range s.asMember(t, http.MethodGet, service, path, nil).Objects(kind) {
		if strings.EqualFold(object.Text("name"), name) {
			return object.ID()
		}
	}
	require.FailNow(t, "there is none called "+name)
	return ""
}
