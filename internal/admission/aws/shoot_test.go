package aws

import (
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	infrastructure = `networks: {vpc: {cidr: 10.250.0.0/16}, zones: [
	{name: eu-west-1a, workers: 10.250.0.0/19, public: 10.250.96.0/22, internal: 10.250.112.0/22}]}`
	profile = `machineImages: [{name: linux, versions: [{version: "1", regions: [{name: eu-west-1, ami: ami-1}, {name: us-east-1, ami: ami-2}]}]}]`
)

// change makes a Shoot of another one.
type change func(t testing.TB, shoot *gardencorev1beta1.Shoot)

// newShoot is valid, and has all that the upstream extension writes into a Shoot. It uses CloudProfile aws.
func newShoot(t testing.TB, changes ...change) *gardencorev1beta1.Shoot {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "one"}}
	spec := &shoot.Spec
	spec.Region, spec.CredentialsBindingName, spec.Kubernetes.Version = "eu-west-1", new("binding"), "1.36.0"
	spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "aws"}
	spec.Networking = &gardencorev1beta1.Networking{
		Type: new("calico"), Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"),
		ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"overlay":{"enabled":false}}`)},
	}
	spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{Enabled: true, ForceTCPToUpstreamDNS: new(false)}}
	spec.Provider = gardencorev1beta1.Provider{
		Type:                 Type,
		InfrastructureConfig: document(t, "InfrastructureConfig", infrastructure+"\nenableMTUCustomizer: false"),
		ControlPlaneConfig:   document(t, "ControlPlaneConfig", `cloudControllerManager: {useCustomRouteController: true}`),
		Workers: []gardencorev1beta1.Worker{{
			Name: "cpu", Minimum: 1, Maximum: 3, Zones: []string{"eu-west-1a"}, Volume: &gardencorev1beta1.Volume{Type: new("gp3"), VolumeSize: "50Gi"},
			Machine: gardencorev1beta1.Machine{Type: "m5.large", Image: &gardencorev1beta1.ShootMachineImage{Name: "linux", Version: new("1")}},
		}},
	}
	for _, c := range changes {
		c(t, shoot)
	}
	return shoot
}

func newGarden(t testing.TB) *garden {
	t.Helper()
	spec := func(config *runtime.RawExtension) gardencorev1beta1.CloudProfileSpec {
		return gardencorev1beta1.CloudProfileSpec{
			Type: Type, ProviderConfig: config,
			Regions: []gardencorev1beta1.Region{
				{Name: "eu-west-1", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "eu-west-1a"}, {Name: "eu-west-1b"}}},
				{Name: "us-east-1", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "us-east-1a"}}},
			},
			MachineImages: []gardencorev1beta1.MachineImage{{Name: "linux", Versions: []gardencorev1beta1.MachineImageVersion{
				{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1"}},
			}}},
		}
	}
	named := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	valid := document(t, "CloudProfileConfig", profile)
	return &garden{objects: []client.Object{
		&gardencorev1beta1.CloudProfile{ObjectMeta: named("", "aws"), Spec: spec(valid)},
		&gardencorev1beta1.CloudProfile{ObjectMeta: named("", "broken"), Spec: spec(document(t, "CloudProfileConfig", `machineImages: 7`))},
		&gardencorev1beta1.NamespacedCloudProfile{
			ObjectMeta: named("garden-dev", "ours"), Status: gardencorev1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: spec(valid)},
		},
	}}
}

func inInfrastructure(text string) change {
	return func(t testing.TB, shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.InfrastructureConfig = document(t, "InfrastructureConfig", text)
	}
}

func inControlPlane(text string) change {
	return func(t testing.TB, shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.ControlPlaneConfig = document(t, "ControlPlaneConfig", text)
	}
}

func inPool(text string) change {
	return func(t testing.TB, shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.Workers[0].ProviderConfig = document(t, "WorkerConfig", text)
	}
}

func inSpec(set func(*gardencorev1beta1.ShootSpec)) change {
	return func(_ testing.TB, shoot *gardencorev1beta1.Shoot) { set(&shoot.Spec) }
}

func withProfile(kind, name string) change {
	return inSpec(func(s *gardencorev1beta1.ShootSpec) {
		s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name}
	})
}

func dualStack(providerConfig string) change {
	return inSpec(func(s *gardencorev1beta1.ShootSpec) {
		s.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
		s.Networking.ProviderConfig = nil
		if providerConfig != "" {
			s.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(providerConfig)}
		}
	})
}

func TestValidateShoot_Create(t *testing.T) {
	const provider, group = "spec.provider.", "aws.provider.extensions.gardener.cloud/v1alpha1"
	for sentence, test := range map[string]struct {
		change change
		reads  []string // CloudProfile aws without
		want   []string
	}{
		"a shoot with upstream's defaults": {change: inSpec(func(*gardencorev1beta1.ShootSpec) {})},
		"a shoot of another cloud":         {change: inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Type = "azure" }), reads: []string{}},
		"a shoot without workers":          {change: inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers = nil }), reads: []string{}},
		"a profile of the project":         {change: withProfile("NamespacedCloudProfile", "ours"), reads: []string{"NamespacedCloudProfile garden-dev/ours"}},
		"a profile that does not exist":    {change: withProfile("CloudProfile", "gone"), reads: []string{"CloudProfile /gone"}},
		"a profile that cannot be decoded": {
			change: withProfile("CloudProfile", "broken"), reads: []string{"CloudProfile /broken"}, want: []string{
				`spec.cloudProfile.name: Invalid value: "broken": what this CloudProfile says about AWS cannot be used: choose another, or ask its admin to correct its ` +
					"spec.providerConfig: decoding CloudProfileConfig: machineImages must be a list, not a JSON number: correct the value",
			},
		},
		"no infrastructure": {
			change: inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.InfrastructureConfig = nil }),
			want:   []string{provider + "infrastructureConfig: Required value: give one with apiVersion " + group + " and kind InfrastructureConfig"},
		},
		"a zone that the CloudProfile does not have, at upstream's path": {
			change: func(t testing.TB, shoot *gardencorev1beta1.Shoot) {
				inInfrastructure(`networks: {vpc: {cidr: 10.250.0.0/16}, zones: [{name: eu-west-1z, workers: 10.250.0.0/19}]}`)(t, shoot)
				shoot.Spec.Provider.Workers[0].Zones[0] = "eu-west-1z"
			},
			want: []string{provider + `infrastructureConfig.network.zones[0].name: Invalid value: "eu-west-1z": the CloudProfile has no such zone in the region: ` +
				`choose one of "eu-west-1a", "eu-west-1b"`},
		},
		"a tag by which resources are found": {
			change: inInfrastructure(infrastructure + "\nignoreTags: {keys: [Name]}"),
			want: []string{provider + `infrastructureConfig.ignoreTags.keys[0]: Invalid value: "Name": resources are found by tags with the key Name and keys that begin ` +
				"with kubernetes.io or gardener.cloud: remove it, or give a longer prefix"},
		},
		"an image that only another region has": {
			change: inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Region = "us-east-2" }),
			want: []string{provider + `workers[0].machine.image.version: Invalid value: "1": the CloudProfile has linux of this version for such machines in "eu-west-1", ` +
				`"us-east-1", and not in "us-east-2": choose another version, or ask its admin to map the image there`},
		},
		"a feature gate of no version": {
			change: inControlPlane(`cloudControllerManager: {featureGates: {Zebra: true}}`),
			want:   []string{provider + `controlPlaneConfig.cloudControllerManager.featureGates.Zebra: Invalid value: "Zebra": unknown feature gate Zebra`},
		},
		"a misspelt field of the control plane, and a name of a class that is none": {
			change: inControlPlane("loadBalancerController: {ingressClassName: A, enable: true}"),
			want: []string{
				provider + `controlPlaneConfig: Invalid value: decoding ControlPlaneConfig: unknown field "loadBalancerController.enable": correct the name or remove the field`,
				provider + `controlPlaneConfig.loadBalancerController.ingressClassName: Invalid value: "A": give the name of a class, like alb, or remove the field`,
			},
		},
		"options of instances that do not fit each other": {
			change: inPool("placement: {hostId: h-1}\ninstanceMarketOptions: {marketType: cheap}"),
			want: []string{
				provider + "workers[0].providerConfig.placement.hostId: Forbidden: a dedicated host needs its tenancy: set tenancy to host, or remove the field",
				provider + `workers[0].providerConfig.instanceMarketOptions.marketType: Invalid value: "cheap": choose one of "spot", "capacity-block", ` +
					`"interruptible-capacity-reservation", or remove the field`,
			},
		},
		"a pool that starts machines from io1 without its performance": {
			change: inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers[0].Volume.Type = new("io1") }),
			want: []string{provider + "workers[0].providerConfig.volume.iops: Required value: volumes of type io1 need it: give the number of operations per second, " +
				"or choose another type"},
		},
		"a misspelt field of a pool": {
			change: inPool(`volumes: {}`),
			want:   []string{provider + `workers[0].providerConfig: Invalid value: decoding WorkerConfig: unknown field "volumes": correct the name or remove the field`},
		},
		"dual stack without an overlay": {change: dualStack(`{"overlay":{"enabled":false}}`)},
		"dual stack with an overlay that is not configured": {
			change: dualStack(""),
			want: []string{`spec.networking.ipFamilies: Invalid value: ["IPv4","IPv6"]: with IPv6 the VPC routes to pods: set overlay.enabled to false in ` +
				"spec.networking.providerConfig, or leave IPv6 out"},
		},
		"no range of nodes": {
			change: inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Networking.Nodes = nil }),
			want:   []string{"spec.networking.nodes: Required value: give the IPv4 range that contains the subnets of nodes"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			reader := newGarden(t)
			response := call(t, reader, "shoot.aws", newShoot(t, test.change), nil)
			assert.Empty(t, cmp.Diff(test.want, causes(response)))
			reads := test.reads
			if reads == nil {
				reads = []string{"CloudProfile /aws"}
			}
			assert.ElementsMatch(t, reads, reader.requests)
		})
	}
}

// outdated violates rules that the shoot was created without.
func outdated(t testing.TB, shoot *gardencorev1beta1.Shoot) {
	inInfrastructure(infrastructure+"\nignoreTags: {keys: [Name]}\nformerField: 1")(t, shoot)
	inControlPlane("cloudControllerManager: {useCustomRouteController: true, featureGates: {Zebra: true}}\nloadBalancerController: {enabled: true, ingressClassName: A}")(t, shoot)
	inPool(`cpuOptions: {threadsPerCore: 7}`)(t, shoot)
	shoot.Spec.Provider.Workers[0].Volume.Type = new("io1")
}

func TestValidateShoot_Update(t *testing.T) {
	const provider = "spec.provider."
	machines := inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers[0].Maximum = 9 })
	label := inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers[0].Labels = map[string]string{"a": "b"} })
	for sentence, test := range map[string]struct {
		before, after []change
		reads         bool
		want          []string
	}{
		"what is not validated changes":               {before: []change{outdated}, after: []change{outdated, machines}},
		"a label changes beside outdated fields":      {before: []change{outdated}, after: []change{outdated, label}, reads: true},
		"the outdated fields are corrected":           {before: []change{outdated}, reads: true},
		"a shoot that uses a profile that is invalid": {before: []change{withProfile("", "broken")}, after: []change{withProfile("", "broken"), label}, reads: true},
		"a shoot comes to a profile that is invalid": {
			after: []change{withProfile("", "broken")}, reads: true, want: []string{
				`spec.cloudProfile.name: Invalid value: "broken": what this CloudProfile says about AWS cannot be used: choose another, or ask its admin to correct its ` +
					"spec.providerConfig: decoding CloudProfileConfig: machineImages must be a list, not a JSON number: correct the value",
			},
		},
		"a new error beside outdated fields": {
			before: []change{outdated}, after: []change{outdated, inPool(`cpuOptions: {coreCount: 2, threadsPerCore: 7, amdSevSnp: perhaps}`)}, reads: true,
			want: []string{provider + `workers[0].providerConfig.cpuOptions.amdSevSnp: Invalid value: "perhaps": choose one of "enabled", "disabled", or remove the field`},
		},
		"the VPC changes": {
			after: []change{inInfrastructure(`networks: {vpc: {cidr: 10.0.0.0/8}, zones: [
				{name: eu-west-1a, workers: 10.250.0.0/19, public: 10.250.96.0/22, internal: 10.250.112.0/22}]}`)}, reads: true,
			want: []string{provider + `infrastructureConfig.networks.vpc.cidr: Invalid value: "10.0.0.0/8": is immutable: set it back to "10.250.0.0/16", or create a new shoot`},
		},
		"an elastic IP address is given": {
			after: []change{inInfrastructure(`networks: {vpc: {cidr: 10.250.0.0/16}, zones: [
				{name: eu-west-1a, workers: 10.250.0.0/19, public: 10.250.96.0/22, internal: 10.250.112.0/22, elasticIPAllocationID: eipalloc-1}]}`)}, reads: true,
		},
		"a zone that the CloudProfile no longer has stays": {
			before: []change{inInfrastructure(`networks: {vpc: {cidr: 10.250.0.0/16}, zones: [{name: eu-west-1z, workers: 10.250.0.0/19}]}`)},
			after: []change{inInfrastructure(`networks: {vpc: {cidr: 10.250.0.0/16, gatewayEndpoints: [s3]}, zones: [
				{name: eu-west-1z, workers: 10.250.0.0/19}, {name: eu-west-1b, workers: 10.250.32.0/19}]}`)},
			reads: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			reader := newGarden(t)
			response := call(t, reader, "shoot.aws", newShoot(t, test.after...), newShoot(t, test.before...))
			assert.Empty(t, cmp.Diff(test.want, causes(response)))
			assert.Equal(t, test.reads, len(reader.requests) > 0)
		})
	}
}

func TestValidateShoot_GardenUnavailable(t *testing.T) {
	reader := newGarden(t)
	reader.unavailable = "CloudProfile"
	response := call(t, reader, "shoot.aws", newShoot(t), nil)
	assert.False(t, response.Allowed)
	assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
	assert.Equal(t, `reading *v1beta1.CloudProfile "aws": connection refused: try again`, response.Result.Message)

	response = call(t, reader, "shoot.aws", newShoot(t, inPool(`cpuOptions: {coreCount: 1}`)), nil)
	assert.EqualValues(t, http.StatusUnprocessableEntity, response.Result.Code, "what needs no read is reported")
}
