package mcm_test

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	awsmachinev1alpha1 "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

const awsNamespace = "shoot--dev--aws"

// TestAWSMachines brings machines to life and removes them: machine-controller-manager and our machine controller for AWS with one cluster, which is
// both the seed and the shoot.
func TestAWSMachines(t *testing.T) {
	s := newAWS(t)
	s.makeClass(t)
	before := time.Now()
	s.makeDeployment(t, 2)
	clusterstest.Eventually(t, "all machines run", func() bool { return len(s.machinesIn(t, machinev1alpha1.MachineRunning)) == 2 })
	t.Logf("the machines took %s", time.Since(before).Round(time.Second))
	instances := s.instances(t)
	require.Len(t, instances, 2)
	for _, machine := range s.machinesIn(t, machinev1alpha1.MachineRunning) {
		assert.Contains(t, instances, machine.Name)
		assert.Equal(t, "aws:///"+fake.DefaultRegion+"/"+instances[machine.Name].id, machine.Spec.ProviderID)
		assert.Equal(t, instances[machine.Name].dnsName, machine.Labels[machinev1alpha1.NodeLabelKey])
		assert.False(t, instances[machine.Name].checked, "the source/destination check")
	}
	assert.Equal(t, 2, s.cloud.Log().Count()["ec2 POST RunInstances"])

	before = time.Now()
	require.NoError(t, s.client.Delete(t.Context(), &machinev1alpha1.MachineDeployment{ObjectMeta: awsNamed("pool")}))
	clusterstest.Eventually(t, "no machine is left", func() bool { return len(s.machinesIn(t, "")) == 0 })
	t.Logf("their deletion took %s", time.Since(before).Round(time.Second))
	assert.Empty(t, s.instances(t))
	assert.Equal(t, s.empty, s.cloud.Resources())
}

// awsEnvironment is a cluster, an account of AWS, and the two programs.
type awsEnvironment struct {
	cloud                *fake.Cloud
	client               client.Client
	subnet, group, image string
	empty                []string
}

func newAWS(t *testing.T) *awsEnvironment {
	t.Helper()
	s := &awsEnvironment{}
	s.startCloud(t)
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.Machines()...)
	require.NoError(t, err)
	server, err := apiserver.New(programs, apiserver.Options{})
	require.NoError(t, err)
	config, err := server.Start()
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, machinev1alpha1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	s.client, err = client.New(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	require.NoError(t, seed.Define(t.Context(), s.client))
	require.NoError(t, s.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: awsNamespace}}))
	admin, err := server.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	require.NoError(t, err)
	kubeconfig, err := admin.KubeConfig()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, kubeconfig, 0o600))
	driver, err := controller.Binary{Name: "machine-controller-aws"}.Build(t.Context())
	require.NoError(t, err)
	s.start(t, filepath.Join(programs, mcm.Manager), path)
	s.start(t, driver, path)
	go s.registerNodes(t.Context())
	return s
}

func (s *awsEnvironment) startCloud(t *testing.T) {
	t.Helper()
	var err error
	s.cloud, err = fake.New(fake.WithTransition(fake.InstanceStart, fake.Transition{After: 300 * time.Millisecond}),
		fake.WithTransition(fake.InstanceTerminate, fake.Transition{After: 300 * time.Millisecond}))
	require.NoError(t, err)
	require.NoError(t, s.cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = s.cloud.Close() })
	do := func(action string, form url.Values) func(path ...string) string {
		out, err := s.cloud.Do(fake.EC2, action, form)
		require.NoError(t, err, action)
		return func(path ...string) string {
			for _, member := range path[:len(path)-1] {
				out = out.Struct(member)
			}
			return out.String(path[len(path)-1])
		}
	}
	vpc := do("CreateVpc", url.Values{"CidrBlock": {"10.250.0.0/16"}})("Vpc", "VpcId")
	s.subnet = do("CreateSubnet", url.Values{"VpcId": {vpc}, "CidrBlock": {"10.250.0.0/24"}})("Subnet", "SubnetId")
	s.group = do("CreateSecurityGroup", url.Values{"VpcId": {vpc}, "GroupName": {"nodes"}, "GroupDescription": {"nodes"}})("GroupId")
	_, err = s.cloud.Do(fake.IAM, "CreateInstanceProfile", url.Values{"InstanceProfileName": {"nodes"}})
	require.NoError(t, err)
	s.image = s.cloud.AddImage("linux", "/dev/xvda")
	s.empty = s.cloud.Resources()
}

// start runs one of the two programs until the end of the test.
func (s *awsEnvironment) start(t *testing.T, program, kubeconfig string) {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	output := filepath.Join(t.TempDir(), "output")
	started, err := process.Start(program, []string{
		"--control-kubeconfig=" + kubeconfig, "--target-kubeconfig=" + kubeconfig, "--namespace=" + awsNamespace, "--address=" + host, "--port=" + port,
		"--v=2",
	}, []string{"AWS_ENDPOINT_URL=" + s.cloud.URL()}, output)
	require.NoError(t, err)
	t.Cleanup(func() {
		started.Kill()
		if content, err := os.ReadFile(output); t.Failed() && err == nil {
			t.Logf("%s:\n%s", filepath.Base(program), content[max(0, len(content)-8000):])
		}
	})
}

// awsInstance is an instance that has not ended.
type awsInstance struct {
	id, dnsName string
	checked     bool
}

// instances returns the instances by the names of their machines.
func (s *awsEnvironment) instances(t *testing.T) map[string]awsInstance {
	t.Helper()
	instances, err := s.listInstances()
	require.NoError(t, err)
	return instances
}

func (s *awsEnvironment) listInstances() (map[string]awsInstance, error) {
	out, err := s.cloud.Do(fake.EC2, "DescribeInstances", url.Values{
		"Filter.1.Name": {"instance-state-name"}, "Filter.1.Value.1": {"pending"}, "Filter.1.Value.2": {"running"},
	})
	if err != nil {
		return nil, err
	}
	instances := map[string]awsInstance{}
	for _, reservation := range out.Structs("Reservations") {
		for _, instance := range reservation.Structs("Instances") {
			for _, tag := range instance.Structs("Tags") {
				if tag.String("Key") == awsmachinev1alpha1.TagName {
					instances[tag.String("Value")] = awsInstance{
						id: instance.String("InstanceId"), dnsName: instance.String("PrivateDnsName"), checked: instance.Structs("NetworkInterfaces")[0].Bool("SourceDestCheck"),
					}
				}
			}
		}
	}
	return instances, nil
}

// registerNodes does what kubelets do, which need some seconds until their Nodes exist.
func (s *awsEnvironment) registerNodes(ctx context.Context) {
	seen := map[string]time.Time{}
	for ctx.Err() == nil {
		instances, _ := s.listInstances() // until the next look
		for _, instance := range instances {
			if _, known := seen[instance.id]; !known {
				seen[instance.id] = time.Now()
			}
			if time.Since(seen[instance.id]) < 3*time.Second {
				continue
			}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: instance.dnsName}, Spec: corev1.NodeSpec{ProviderID: "aws:///eu-west-1a/" + instance.id}}
			if err := s.client.Create(ctx, node); err != nil && !apierrors.IsAlreadyExists(err) || s.client.Get(ctx, client.ObjectKeyFromObject(node), node) != nil {
				continue
			}
			now := metav1.Now()
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now}}
			_ = s.client.Status().Update(ctx, node) // again at the next look
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func awsNamed(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: awsNamespace}
}

// makeClass creates the class and its Secret.
func (s *awsEnvironment) makeClass(t *testing.T) {
	t.Helper()
	spec, err := json.Marshal(awsmachinev1alpha1.ProviderSpec{
		AMI: s.image, Region: fake.DefaultRegion, MachineType: "m5.large", IAM: awsmachinev1alpha1.InstanceProfile{Name: "nodes"},
		SrcAndDstChecksEnabled: new(false),
		NetworkInterfaces:      []awsmachinev1alpha1.NetworkInterface{{SubnetID: s.subnet, SecurityGroupIDs: []string{s.group}}},
		BlockDevices:           []awsmachinev1alpha1.BlockDevice{{EBS: awsmachinev1alpha1.EBS{VolumeSize: 50, VolumeType: "gp3"}}},
		Tags:                   map[string]string{awsmachinev1alpha1.TagClusterPrefix + awsNamespace: "1", awsmachinev1alpha1.TagRolePrefix + "node": "1"},
	})
	require.NoError(t, err)
	key := fake.DefaultKey()
	secret := &corev1.Secret{ObjectMeta: awsNamed("class"), Data: map[string][]byte{
		"userData": []byte("#!/bin/bash\n"), "accessKeyID": []byte(key.KeyID), "secretAccessKey": []byte(key.Secret),
	}}
	require.NoError(t, s.client.Create(t.Context(), secret))
	reference := &corev1.SecretReference{Name: secret.Name, Namespace: secret.Namespace}
	require.NoError(t, s.client.Create(t.Context(), &machinev1alpha1.MachineClass{
		ObjectMeta: awsNamed("class"), Provider: awsmachinev1alpha1.Provider, ProviderSpec: runtime.RawExtension{Raw: spec}, SecretRef: reference,
	}))
}

func (s *awsEnvironment) makeDeployment(t *testing.T, replicas int32) {
	t.Helper()
	deployment := newDeployment(awsNamed("pool"), replicas)
	require.NoError(t, s.client.Create(t.Context(), deployment))
}

// machinesIn returns the machines in a phase, or all.
func (s *awsEnvironment) machinesIn(t *testing.T, phase machinev1alpha1.MachinePhase) []machinev1alpha1.Machine {
	t.Helper()
	list := &machinev1alpha1.MachineList{}
	require.NoError(t, s.client.List(t.Context(), list, client.InNamespace(awsNamespace)))
	var found []machinev1alpha1.Machine
	for _, machine := range list.Items {
		if phase == "" || strings.EqualFold(string(machine.Status.CurrentStatus.Phase), string(phase)) {
			found = append(found, machine)
		}
	}
	return found
}
