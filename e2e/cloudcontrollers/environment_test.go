package cloudcontrollers

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// zones is the number of zones of the shoot.
const zones = 2

// environment is a shoot on AWS with its control plane.
type environment struct {
	*aws.Clusters
	infrastructure awsv1alpha1.InfrastructureStatus
	image          string
}

// newEnvironment returns an environment with further programs, whose infrastructure and ControlPlane are ready. balancing may be nil.
func newEnvironment(t *testing.T, balancing *awsv1alpha1.LoadBalancerControllerConfig, programs ...string) *environment {
	t.Helper()
	c := clusterstest.New(t, clusters.Options{Cloud: aws.FakeReady(0), Programs: programs})
	env := &environment{Clusters: aws.In(c)}
	clusterstest.AssertNoErrors(t, env.Clusters)
	shoot := env.Account.NewShootIn("one", zones)
	shoot.ControlPlaneConfig.(*awsv1alpha1.ControlPlaneConfig).LoadBalancerController = balancing
	require.NoError(t, c.StartCluster(t.Context(), shoot))
	require.NoError(t, env.Source.Gardenlet.Prepare(t.Context(), env.Shoot))
	require.NoError(t, json.Unmarshal(clusterstest.MakeInfrastructure(t, c), &env.infrastructure))
	env.image = env.Cloud.AddImage("linux", "/dev/xvda")

	what := controller.ControlPlane()
	what.Types = []string{aws.Type}
	path, err := what.Build(t.Context())
	require.NoError(t, err)
	_, err = env.Source.StartController(t.Context(), what, controller.Options{Path: path, Args: []string{"--disable-webhooks=*"}})
	require.NoError(t, err)
	require.NoError(t, env.Source.Gardenlet.Prepare(t.Context(), env.Shoot))
	component := env.Source.Gardenlet.ControlPlane(env.Shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	return env
}

// run starts the container of a Deployment in the seed as it is described there, and stops it at the end of the test.
func (env *environment) run(t *testing.T, run workload.Run) *workload.Container {
	t.Helper()
	run.Namespace, run.Dir = env.Shoot.Namespace(), cmp.Or(run.Dir, filepath.Join(t.TempDir(), "container"))
	if !filepath.IsAbs(run.Program) {
		run.Program = filepath.Join(env.Programs, run.Program)
	}
	run.Env = map[string]string{"AWS_ENDPOINT_URL": env.Cloud.URL()}
	container, err := workload.RunContainer(context.WithoutCancel(t.Context()), env.Source.Client, run)
	require.NoError(t, err)
	t.Cleanup(func() {
		container.Stop()
		if t.Failed() {
			output, _ := container.Output()
			lines := strings.Split(output, "\n")
			t.Log(strings.Join(lines[max(0, len(lines)-60):], "\n"))
		}
	})
	return container
}

// do makes a call as another user of the account, which the log does not have.
func (env *environment) do(t *testing.T, service wire.Service, action string, pairs ...string) protocol.Struct {
	t.Helper()
	parameters := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		parameters.Set(pairs[i], pairs[i+1])
	}
	answer, err := env.Cloud.Do(service, action, parameters)
	require.NoError(t, err, action)
	return answer
}

// subnet returns the ID of a subnet in the first zone.
func (env *environment) subnet(t *testing.T, purpose awsv1alpha1.Purpose, zone string) string {
	t.Helper()
	subnets := env.infrastructure.VPC.Subnets
	i := slices.IndexFunc(subnets, func(subnet awsv1alpha1.Subnet) bool { return subnet.Purpose == purpose && subnet.Zone == zone })
	require.GreaterOrEqual(t, i, 0)
	return subnets[i].ID
}

// nodesGroup returns the ID of the security group of the nodes.
func (env *environment) nodesGroup(t *testing.T) string {
	t.Helper()
	require.Len(t, env.infrastructure.VPC.SecurityGroups, 1)
	return env.infrastructure.VPC.SecurityGroups[0].ID
}

// instance is a machine.
type instance struct{ id, name, address, zone string }

const machineType = "m5.large"

// addNode starts an instance with the tags that the machine controller gives it, and registers its Node as a kubelet does.
func (env *environment) addNode(t *testing.T, zone string) instance {
	t.Helper()
	const tags = "TagSpecification.1."
	started := env.do(t, fake.EC2, "RunInstances", "MinCount", "1", "MaxCount", "1", "ImageId", env.image, "InstanceType", machineType,
		"NetworkInterface.1.SubnetId", env.subnet(t, awsv1alpha1.PurposeNodes, zone), "NetworkInterface.1.SecurityGroupId.1", env.nodesGroup(t),
		"NetworkInterface.1.DeviceIndex", "0", tags+"ResourceType", "instance",
		tags+"Tag.1.Key", "kubernetes.io/cluster/"+env.Shoot.Namespace(), tags+"Tag.1.Value", "1",
		tags+"Tag.2.Key", "kubernetes.io/role/node", tags+"Tag.2.Value", "1").Structs("Instances")[0]
	i := instance{id: started.String("InstanceId"), name: started.String("PrivateDnsName"), address: started.String("PrivateIpAddress"), zone: zone}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.name}}
	node.Spec = corev1.NodeSpec{
		Taints:  []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		PodCIDR: "100.96.0.0/24", PodCIDRs: []string{"100.96.0.0/24"},
	}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), node))
	return i
}

// part is a step of a test.
type part struct {
	name string
	run  func(*testing.T)
}

// inOrder runs parts that follow one another, and reports whether all have passed.
func inOrder(t *testing.T, parts ...part) bool {
	for _, p := range parts {
		if !t.Run(p.name, p.run) {
			return false
		}
	}
	return true
}

// groups lists the security groups of the VPC but its own, by names.
func (env *environment) groups(t *testing.T) map[string]protocol.Struct {
	t.Helper()
	groups := map[string]protocol.Struct{}
	for _, group := range env.do(t, fake.EC2, "DescribeSecurityGroups").Structs("SecurityGroups") {
		if group.String("GroupName") != "default" {
			groups[group.String("GroupName")] = group
		}
	}
	return groups
}

// assertNothingForbidden asserts that a program has all rights in the shoot that it uses.
func (env *environment) assertNothingForbidden(t *testing.T, account string) {
	t.Helper()
	refused, err := env.Cluster.AuditLog().Forbidden(audit.UserOf(metav1.NamespaceSystem, account))
	require.NoError(t, err)
	assert.Empty(t, refused)
}
