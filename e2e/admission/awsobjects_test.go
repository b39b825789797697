package admission

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	awsGroup = "aws.provider.extensions.gardener.cloud/v1alpha1"
	// onAWS is the name of the CloudProfile, the Secret and the binding of shoots on AWS, outdatedOnAWS that of a shoot with an older error.
	onAWS, outdatedOnAWS = "aws", "aws-outdated"

	awsKeyID, awsSecretKey = "AAAAAAAAAAAAAAAAAAA7", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/+"
	awsRole                = "arn:aws:iam::123456789012:role/gardener"

	awsInfrastructure = `{networks: {vpc: {cidr: 10.250.0.0/16}, zones: [
		{name: eu-west-1a, workers: 10.250.0.0/19, public: 10.250.96.0/22, internal: 10.250.112.0/22}]}}`
)

// newAWSShoot is valid, with the required fields only.
func newAWSShoot(name string) *gardencorev1beta1.Shoot {
	shoot := newShoot(name)
	shoot.Spec.CloudProfile.Name, shoot.Spec.CredentialsBindingName, shoot.Spec.Region = onAWS, new(onAWS), "eu-west-1"
	provider := &shoot.Spec.Provider
	provider.Type, provider.ControlPlaneConfig = "aws", nil
	provider.InfrastructureConfig = document(awsGroup, "InfrastructureConfig", awsInfrastructure)
	provider.Workers[0].Zones = []string{"eu-west-1a"}
	return shoot
}

// outdatedAWSShoot is stored before the binary is installed.
func outdatedAWSShoot() *gardencorev1beta1.Shoot {
	shoot := newAWSShoot(outdatedOnAWS)
	inAWSInfrastructure(`{ignoreTags: {keys: [Name]}}`)(shoot)
	inAWSPool(`{cpuOptions: {threadsPerCore: 7, coreCount: 1}}`)(shoot)
	return shoot
}

func inAWSInfrastructure(fields string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.InfrastructureConfig = merged(shoot.Spec.Provider.InfrastructureConfig, awsGroup, "InfrastructureConfig", fields)
	}
}

func inAWSControlPlane(fields string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.ControlPlaneConfig = merged(shoot.Spec.Provider.ControlPlaneConfig, awsGroup, "ControlPlaneConfig", fields)
	}
}

func inAWSPool(fields string) change {
	return worker(func(worker *gardencorev1beta1.Worker) {
		worker.ProviderConfig = merged(worker.ProviderConfig, awsGroup, "WorkerConfig", fields)
	})
}

// newAWSProfile maps the older image in the legacy form, by regions.
func newAWSProfile(name string) *gardencorev1beta1.CloudProfile {
	profile := newCloudProfile(name)
	profile.Spec.Type = "aws"
	profile.Spec.Regions = []gardencorev1beta1.Region{
		{Name: "eu-west-1", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "eu-west-1a"}, {Name: "eu-west-1b"}}},
		{Name: "us-east-1", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "us-east-1a"}}},
	}
	profile.Spec.ProviderConfig = document(awsGroup, "CloudProfileConfig", `{machineImages: [{name: gardenlinux, versions: [
		{version: `+newerImage+`, regions: [{name: us-east-1, ami: ami-3}]}, {version: `+olderImage+`, regions: [{name: eu-west-1, ami: ami-2}]}]}]}`)
	return profile
}

// newCapableAWSProfile maps by capabilities, and its machine images have no flavors.
func newCapableAWSProfile(name string) *gardencorev1beta1.CloudProfile {
	profile := newAWSProfile(name)
	profile.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{
		{Name: v1beta1constants.ArchitectureName, Values: []string{v1beta1constants.ArchitectureAMD64}}, {Name: "boot", Values: []string{"uefi", "bios"}},
	}
	for i := range profile.Spec.MachineImages[0].Versions {
		profile.Spec.MachineImages[0].Versions[i].Architectures = nil
	}
	profile.Spec.MachineTypes[0].Architecture, profile.Spec.MachineTypes[0].Capabilities = nil, gardencorev1beta1.Capabilities{
		v1beta1constants.ArchitectureName: {v1beta1constants.ArchitectureAMD64}, "boot": {"uefi"},
	}
	const flavor = `capabilityFlavors: [{capabilities: {architecture: [amd64], boot: [uefi, bios]}, regions: [{name: eu-west-1, ami: ami-2}]}]`
	profile.Spec.ProviderConfig = document(awsGroup, "CloudProfileConfig", `{machineImages: [{name: gardenlinux, versions: [
		{version: `+newerImage+`, `+flavor+`}, {version: `+olderImage+`, `+flavor+`}]}]}`)
	return profile
}

// accessKey is the content of a Secret, without the keys whose values are empty.
func accessKey(differs map[string]string) map[string]string {
	data := map[string]string{"accessKeyID": awsKeyID, "secretAccessKey": awsSecretKey}
	for key, value := range differs {
		if data[key] = value; value == "" {
			delete(data, key)
		}
	}
	return data
}

func newAWSSecret(name string, differs map[string]string) client.Object {
	secret := newSecret(name, accessKey(differs))
	secret.Labels = labelled("aws")
	return secret
}

func newIdentity(name, fields string) *securityv1alpha1.WorkloadIdentity {
	identity := &securityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: garden.Namespace}}
	identity.Spec = securityv1alpha1.WorkloadIdentitySpec{
		Audiences:    []string{"sts.amazonaws.com"},
		TargetSystem: securityv1alpha1.TargetSystem{Type: "aws", ProviderConfig: document(awsGroup, "WorkloadIdentityConfig", fields)},
	}
	return identity
}

func newAWSBinding(name, apiVersion, kind, credentials string) *securityv1alpha1.CredentialsBinding {
	binding := newCredentialsBinding(name, apiVersion, kind, credentials)
	binding.Provider.Type = "aws"
	return binding
}

// awsObjects are the objects in the garden for the cases of AWS.
func awsObjects() []client.Object {
	return []client.Object{
		newAWSProfile(onAWS), newSecret(onAWS, accessKey(nil)), newAWSBinding(onAWS, "v1", "Secret", onAWS),
		newSecret("aws-lost", accessKey(map[string]string{"accessKeyID": ""})),
	}
}
