package aws_test

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/aws"
)

const (
	technicalID = "shoot--dev--one"
	region      = "eu-west-1"
	ami         = "ami-0123456789abcdef0"
)

// environment is a driver and a shoot whose status is kept between reconciliations as in the API server.
type environment struct {
	t       *testing.T
	driver  *aws.Driver
	profile *awsv1alpha1.CloudProfileConfig
	// object is the CloudProfile with profile.
	object  *gardencorev1beta1.CloudProfile
	shoot   *gardencorev1beta1.Shoot
	config  *awsv1alpha1.InfrastructureConfig
	infra   *awsv1alpha1.InfrastructureStatus
	pools   []extensionsv1alpha1.WorkerPool
	configs []*awsv1alpha1.WorkerConfig
	status  *runtime.RawExtension
	// deleting is true in a deletion.
	deleting bool
}

// newEnvironment returns a shoot with one plain pool in two zones.
func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := &environment{
		t: t, driver: aws.New(), shoot: &gardencorev1beta1.Shoot{}, infra: newInfrastructureStatus(), profile: newProfile(region),
		object: &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{MachineTypes: []gardencorev1beta1.MachineType{
			{Name: "m5.large"}, {Name: "bios", Capabilities: gardencorev1beta1.Capabilities{"boot": {"bios"}}},
		}}},
		config: &awsv1alpha1.InfrastructureConfig{Networks: awsv1alpha1.Networks{Zones: []awsv1alpha1.Zone{{Name: region + "a"}, {Name: region + "b"}}}},
	}
	env.addPool("cpu")
	return env
}

func newProfile(region string) *awsv1alpha1.CloudProfileConfig {
	return &awsv1alpha1.CloudProfileConfig{MachineImages: []awsv1alpha1.MachineImages{{Name: "gardenlinux", Versions: []awsv1alpha1.MachineImageVersion{
		{Version: "1877.3.0", Regions: []awsv1alpha1.RegionAMIMapping{
			{Name: "us-east-1", AMI: "ami-elsewhere"}, {Name: region, AMI: ami}, {Name: region, AMI: "ami-arm64", Architecture: new("arm64")},
		}},
		{Version: "1592.1.0", Regions: []awsv1alpha1.RegionAMIMapping{{Name: region, AMI: "ami-former"}}},
		{Version: "2000.0.0", CapabilityFlavors: []awsv1alpha1.MachineImageFlavor{
			newFlavor(region, "bios", "ami-bios"),
			newFlavor(region, "uefi", "ami-uefi"),
		}},
	}}}}
}

func newFlavor(region, boot, ami string) awsv1alpha1.MachineImageFlavor {
	return awsv1alpha1.MachineImageFlavor{
		Regions:      []awsv1alpha1.RegionAMIMapping{{Name: region, AMI: ami}},
		Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {boot}},
	}
}

func newInfrastructureStatus() *awsv1alpha1.InfrastructureStatus {
	status := awsv1alpha1.NewInfrastructureStatus()
	status.EC2.KeyName = technicalID + "-ssh-publickey"
	status.IAM.InstanceProfiles = []awsv1alpha1.InstanceProfile{{Purpose: awsv1alpha1.PurposeNodes, Name: technicalID + "-nodes"}}
	status.VPC.ID = "vpc-1"
	status.VPC.Subnets = []awsv1alpha1.Subnet{
		{Purpose: awsv1alpha1.PurposePublic, ID: "subnet-public-a", Zone: region + "a"},
		{Purpose: awsv1alpha1.PurposeNodes, ID: "subnet-nodes-a", Zone: region + "a"},
		{Purpose: awsv1alpha1.PurposeNodes, ID: "subnet-nodes-b", Zone: region + "b"},
	}
	status.VPC.SecurityGroups = []awsv1alpha1.SecurityGroup{{Purpose: awsv1alpha1.PurposeNodes, ID: "sg-nodes"}}
	return status
}

// addPool adds a pool with its configuration.
func (env *environment) addPool(name string) (*extensionsv1alpha1.WorkerPool, *awsv1alpha1.WorkerConfig) {
	env.pools = append(env.pools, extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: "m5.large", Zones: []string{region + "a", region + "b"},
		MachineImage:        extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.3.0"},
		Labels:              map[string]string{"worker.gardener.cloud/pool": name},
		Volume:              &extensionsv1alpha1.Volume{Size: "50Gi", Type: new("gp3")},
		NodeAgentSecretName: new("gardener-node-agent-" + name + "-77ac3"),
		KubernetesVersion:   new("1.34.2"),
	})
	env.configs = append(env.configs, &awsv1alpha1.WorkerConfig{})
	return &env.pools[len(env.pools)-1], env.configs[len(env.configs)-1]
}

func (env *environment) shootInput() *worker.Shoot {
	env.t.Helper()
	object, shoot := env.object.DeepCopy(), env.shoot.DeepCopy()
	object.Spec.ProviderConfig = env.encode(env.profile)
	shoot.Spec.Provider.InfrastructureConfig = env.encode(env.config)
	resource := &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{Region: region}}
	resource.Spec.InfrastructureProviderStatus = env.encode(env.infra)
	resource.Status.ProviderStatus = env.status
	for i, pool := range env.pools {
		if pool.ProviderConfig == nil {
			pool.ProviderConfig = env.encode(env.configs[i])
		}
		resource.Spec.Pools = append(resource.Spec.Pools, *pool.DeepCopy())
	}
	return &worker.Shoot{
		Worker: resource, Cluster: &contract.Cluster{Shoot: shoot, CloudProfile: object},
		TechnicalID: technicalID, UID: "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11", Deleting: env.deleting, Log: testr.New(env.t), Decoded: &contract.Decoded{},
	}
}

func (env *environment) encode(object runtime.Object) *runtime.RawExtension {
	env.t.Helper()
	raw, err := awsv1alpha1.Encode(object)
	require.NoError(env.t, err)
	return raw
}

// record stores the driver's result as the contract does.
func (env *environment) record(status runtime.Object) {
	env.t.Helper()
	raw, err := json.Marshal(status)
	require.NoError(env.t, err)
	env.status = &runtime.RawExtension{Raw: raw}
}

// prepare is the result of Prepare, which is also recorded.
func (env *environment) prepare() *awsv1alpha1.WorkerStatus {
	env.t.Helper()
	status, err := env.driver.Prepare(env.t.Context(), env.shootInput())
	require.NoError(env.t, err)
	env.record(status)
	typed, ok := status.(*awsv1alpha1.WorkerStatus)
	require.True(env.t, ok)
	return typed
}

// machines describes the machines of the first pool.
func (env *environment) machines() *worker.Machines {
	env.t.Helper()
	shoot := env.shootInput()
	machines, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	require.NoError(env.t, err)
	return machines
}

func encoded(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return string(text)
}
