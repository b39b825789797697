package infrastructuresuite

import (
	"net/url"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// testTwoShoots creates, changes and deletes two shoots of AWS in one account, the technical ID of one of which begins with the other's, and checks the
// fields that gardenlet reads. No operation of one concerns the other.
func testTwoShoots(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	one := env.NewReconciledShoot("one")
	assertOneOfEach(env)
	firsts, before := env.Inventory(), describe(env, one)

	two := env.Shoot("one-2")
	component := env.Gardenlet.Infrastructure(two)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Equal(t, []string{"10.250.0.0/16"}, component.NodesCIDRs())
	assert.Equal(t, []string{"100.96.0.0/11"}, component.PodsCIDRs())
	assert.Equal(t, []string{"100.64.0.0/13"}, component.ServicesCIDRs())
	assert.Len(t, component.EgressCIDRs(), 1, "the address of the NAT gateway")
	var status awsv1alpha1.InfrastructureStatus
	require.NoError(t, yaml.UnmarshalStrict(component.ProviderStatus().Raw, &status))
	assert.Len(t, status.VPC.Subnets, 3)
	assert.Equal(t, two.Namespace()+"-ssh-publickey", status.EC2.KeyName)
	object := env.Get(two)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.Equal(t, []string{"extensions.gardener.cloud/infrastructure"}, object.Finalizers)
	var state awsv1alpha1.InfrastructureState
	require.NoError(t, yaml.UnmarshalStrict(object.Status.State.Raw, &state))
	assert.Equal(t, status.VPC.ID, state.Data[awsv1alpha1.StateKeyVPC])
	seconds := slices.DeleteFunc(env.Inventory(), func(name string) bool { return slices.Contains(firsts, name) })
	assert.Contains(t, seconds, status.VPC.ID)
	assert.Len(t, seconds, len(firsts))

	config := aws.InfrastructureConfig(1)
	config.Networks.VPC.GatewayEndpoints = []string{"s3"}
	two.InfrastructureConfig = config
	env.Reconcile(two)
	object = env.Get(two)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeReconcile, object.Status.LastOperation.Type)
	assert.Equal(t, object.Generation, object.Status.ObservedGeneration)
	assert.Len(t, env.Inventory(), 2*len(firsts)+1, "the changed configuration reached the cloud")
	assert.Equal(t, before, describe(env, one), "nothing of the first shoot has changed")
	env.Destroy(two)
	assert.Equal(t, firsts, env.Inventory())
	assert.Equal(t, before, describe(env, one))
	env.Destroy(one)
	assertEmpty(env)
}

// describe returns the fields of a shoot's resources, by the action that reads them.
func describe(env *testenv.Env, shoot *gardenlet.Shoot) map[string]any {
	env.T.Helper()
	all := map[string]any{}
	read := func(service wire.Service, action string, parameters url.Values) {
		fields, err := fakeAWS(env).Do(service, action, parameters)
		require.NoErrorf(env.T, err, "%s", action)
		all[action] = fields
	}
	tagged := url.Values{"Filter.1.Name": {"tag-key"}, "Filter.1.Value.1": {"kubernetes.io/cluster/" + shoot.Namespace()}}
	for _, kind := range []string{
		"Vpcs", "DhcpOptions", "InternetGateways", "Subnets", "RouteTables", "NatGateways", "Addresses", "SecurityGroups", "KeyPairs",
	} {
		read(fake.EC2, "Describe"+kind, tagged)
	}
	name := shoot.Namespace() + "-nodes"
	read(fake.IAM, "GetRolePolicy", url.Values{"RoleName": {name}, "PolicyName": {name}})
	read(fake.IAM, "GetInstanceProfile", url.Values{"InstanceProfileName": {name}})
	return all
}
