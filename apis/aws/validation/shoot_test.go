package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// cluster is what the sentences below change: a Shoot that is fine, and its configurations.
type cluster struct {
	*gardencorev1beta1.Shoot
	infrastructure
	control *v1alpha1.ControlPlaneConfig
	worker  *worker
	in      validation.ShootValidationContext
	// afterwards changes documents that cannot be written with the types.
	afterwards func(*gardencorev1beta1.Provider)
}

func newCluster() *cluster {
	profile := newCloudProfile()
	profile.spec.Regions[0].Zones = []gardencorev1beta1.AvailabilityZone{{Name: "eu-west-1a"}, {Name: "eu-west-1b"}}
	c := &cluster{
		Shoot: &gardencorev1beta1.Shoot{}, infrastructure: newInfrastructure(), control: &v1alpha1.ControlPlaneConfig{}, worker: newWorker(),
		in: validation.ShootValidationContext{Profile: profile.config, Spec: profile.spec},
	}
	c.worker.Machine = gardencorev1beta1.Machine{Type: "m5.large", Image: &gardencorev1beta1.ShootMachineImage{Name: "linux", Version: new("1")}}
	c.Spec.Region, c.Spec.CredentialsBindingName = "west", new("binding")
	c.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "aws"}
	return c
}

// write returns the Shoot with its configurations.
func (c *cluster) write(t *testing.T) *gardencorev1beta1.Shoot {
	t.Helper()
	shoot := c.Shoot.DeepCopy()
	shoot.Spec.Networking = c.networking.DeepCopy()
	for target, config := range map[**runtime.RawExtension]runtime.Object{
		&shoot.Spec.Provider.InfrastructureConfig: c.InfrastructureConfig, &shoot.Spec.Provider.ControlPlaneConfig: c.control,
	} {
		raw, err := v1alpha1.Encode(config)
		require.NoError(t, err)
		*target = raw
	}
	c.worker.pool(t)
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{*c.worker.Worker.DeepCopy()}
	if c.afterwards != nil {
		c.afterwards(&shoot.Spec.Provider)
	}
	return shoot
}

func TestValidateShoot_New(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*cluster)
		want   []string
	}{
		"a shoot":                               {func(*cluster) {}, nil},
		"no configuration of the control plane": {func(c *cluster) { c.afterwards = func(p *gardencorev1beta1.Provider) { p.ControlPlaneConfig = nil } }, nil},
		"no infrastructure": {func(c *cluster) { c.afterwards = func(p *gardencorev1beta1.Provider) { p.InfrastructureConfig = nil } }, []string{
			"spec.provider.infrastructureConfig: Required value: give one with apiVersion aws.provider.extensions.gardener.cloud/v1alpha1 and kind InfrastructureConfig",
		}},
		"no workers, with which there is no infrastructure": {func(c *cluster) {
			c.afterwards = func(p *gardencorev1beta1.Provider) { *p = gardencorev1beta1.Provider{} }
		}, nil},
		"a misspelt field of the infrastructure": {func(c *cluster) {
			c.afterwards = func(p *gardencorev1beta1.Provider) {
				p.InfrastructureConfig.Raw = append([]byte(`{"colour":"red",`), p.InfrastructureConfig.Raw[1:]...)
			}
		}, []string{`spec.provider.infrastructureConfig: Invalid value: decoding InfrastructureConfig: unknown field "colour": correct the name or remove the field`}},
		"a configuration of the control plane of another kind": {func(c *cluster) {
			c.afterwards = func(p *gardencorev1beta1.Provider) { p.ControlPlaneConfig = p.InfrastructureConfig }
		}, []string{
			`spec.provider.controlPlaneConfig: Invalid value: decoding ControlPlaneConfig: apiVersion is "aws.provider.extensions.gardener.cloud/v1alpha1" ` +
				`and kind "InfrastructureConfig": set apiVersion to aws.provider.extensions.gardener.cloud/v1alpha1 and kind to ControlPlaneConfig`,
		}},
		"a zone that the CloudProfile does not have": {func(c *cluster) { c.Networks.Zones[0].Name, c.worker.Zones = "eu-west-1z", c.worker.Zones[1:] }, []string{
			`spec.provider.infrastructureConfig.network.zones[0].name: Invalid value: "eu-west-1z": the CloudProfile has no such zone in the region: choose one of "eu-west-1a", "eu-west-1b"`,
		}},
		"a class of Ingresses": {func(c *cluster) {
			c.control.LoadBalancerController = &v1alpha1.LoadBalancerControllerConfig{IngressClassName: new("A")}
		}, []string{`spec.provider.controlPlaneConfig.loadBalancerController.ingressClassName: Invalid value: "A": give the name of a class, like alb, or remove the field`}},
		"a pool in a zone without subnets": {func(c *cluster) { c.worker.Zones = []string{"eu-west-1c"} }, []string{
			`spec.provider.workers[0].zones[0]: Invalid value: "eu-west-1c": the infrastructure has no such zone: choose one of "eu-west-1a", "eu-west-1b", ` +
				"or add it at the end of networks.zones in infrastructureConfig",
		}},
		"an image that is in another region only": {func(c *cluster) {
			c.in.Profile.MachineImages[0].Versions[0].Regions = c.in.Profile.MachineImages[0].Versions[0].Regions[2:]
		}, []string{
			`spec.provider.workers[0].machine.image.version: Invalid value: "1": the CloudProfile has linux of this version for such machines in "east", and not in "west": ` +
				"choose another version, or ask its admin to map the image there",
		}},
		"an image without a CloudProfile": {func(c *cluster) {
			c.in = validation.ShootValidationContext{}
			c.worker.Machine.Image.Version = new("9")
		}, nil},
		"dual stack": {func(c *cluster) { c.dualStack() }, nil},
		"dual stack with an overlay": {func(c *cluster) {
			c.dualStack()
			c.networking.ProviderConfig = nil
		}, []string{
			`spec.networking.ipFamilies: Invalid value: ["IPv4","IPv6"]: with IPv6 the VPC routes to pods: set overlay.enabled to false in spec.networking.providerConfig, or leave IPv6 out`,
		}},
		"dual stack with a network that cannot be decoded": {func(c *cluster) {
			c.dualStack()
			c.networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"overlay":7}`)}
		}, []string{
			"spec.networking.providerConfig: Invalid value: reading spec.networking.providerConfig of type calico: " +
				"json: cannot unmarshal number into Go struct field anyConfig.overlay of type networking.overlay: correct it",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster()
			test.change(c)
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateShoot(c.write(t), nil, c.in))))
		})
	}
}

func TestValidateShoot_Update(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, after func(*cluster)
		want          []string
	}{
		"nothing": {nil, func(*cluster) {}, nil},
		"a shoot that breaks every rule stays changeable": {breakRules, func(c *cluster) {
			breakRules(c)
			c.worker.Labels = map[string]string{"a": "b"}
			c.Networks.VPC.GatewayEndpoints = []string{"s3"}
		}, nil},
		"an image that is there no more": {func(c *cluster) { c.worker.Machine.Image.Version = new("0") }, func(c *cluster) { c.worker.Machine.Image.Version = new("0") }, nil},
		"another zone": {nil, func(c *cluster) { c.Networks.Zones[0].Name, c.worker.Zones[0] = "eu-west-1c", "eu-west-1c" }, []string{
			`spec.provider.infrastructureConfig.network.zones[0].name: Invalid value: "eu-west-1c": the CloudProfile has no such zone in the region: choose one of "eu-west-1a", "eu-west-1b"`,
			`spec.provider.infrastructureConfig.networks.zones[0].name: Invalid value: "eu-west-1c": is immutable: set it back to "eu-west-1a", or create a new shoot`,
			`spec.provider.workers[0].zones: Invalid value: ["eu-west-1c","eu-west-1b"]: zones can only be added at the end: set it back to ["eu-west-1a","eu-west-1b"], or create a new pool`,
		}},
		"a new error of a pool": {nil, func(c *cluster) { c.worker.config.Volume = &v1alpha1.Volume{IOPS: new(int32(0))} }, []string{
			"spec.provider.workers[0].providerConfig.volume.iops: Invalid value: 0: give a number of operations per second that is greater than 0, or remove the field",
		}},
		"the first workers": {func(c *cluster) {
			c.afterwards = func(p *gardencorev1beta1.Provider) { *p = gardencorev1beta1.Provider{} }
		}, func(c *cluster) { c.worker.Zones = nil }, []string{
			"spec.provider.workers[0].zones: Required value: machines are made zone by zone: give at least one availability zone",
		}},
		"an infrastructure that could not be decoded": {func(c *cluster) {
			c.afterwards = func(p *gardencorev1beta1.Provider) { p.InfrastructureConfig = &runtime.RawExtension{Raw: []byte(`{}`)} }
		}, func(*cluster) {}, nil},
		"no dual stack any more, of the former switch": {
			func(c *cluster) { c.DualStack = &v1alpha1.DualStack{Enabled: true} }, func(*cluster) {},
			[]string{"spec.provider.infrastructureConfig.dualStack.enabled: Forbidden: dual stack cannot be switched off again, since nodes have IPv6 addresses: set it back to true"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, after := newCluster(), newCluster()
			if test.before != nil {
				test.before(before)
			}
			test.after(after)
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateShoot(after.write(t), before.write(t), after.in))))
		})
	}
}

// breakRules breaks rules that an old Shoot may break.
func breakRules(c *cluster) {
	c.IgnoreTags = &v1alpha1.IgnoreTags{Keys: []string{"Name"}}
	c.Networks.Zones[1].Name = "eu-west-1a"
	c.networking.Nodes = nil
	c.networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6, gardencorev1beta1.IPFamilyIPv4}
	c.control.LoadBalancerController = &v1alpha1.LoadBalancerControllerConfig{IngressClassName: new("A")}
	c.worker.Volume.Type, c.worker.Zones = nil, []string{"eu-west-1b"}
	c.worker.config.CpuOptions = &v1alpha1.CpuOptions{CoreCount: new(int32(1))}
}

func TestShootNeedsValidation(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*cluster)
		want   bool
	}{
		"nothing": {func(*cluster) {}, false},
		"the number of machines, and labels of the Shoot": {func(c *cluster) { c.worker.Maximum, c.Labels = 7, map[string]string{"a": "b"} }, false},
		"no workers": {func(c *cluster) { c.afterwards = func(p *gardencorev1beta1.Provider) { p.Workers = nil } }, false},
		"the formatting of a document": {func(c *cluster) {
			c.afterwards = func(p *gardencorev1beta1.Provider) {
				p.InfrastructureConfig.Raw = append([]byte("{ "), p.InfrastructureConfig.Raw[1:]...)
			}
		}, false},
		"the infrastructure": {func(c *cluster) { c.EnableECRAccess = new(false) }, true},
		"the control plane":  {func(c *cluster) { c.control.Storage = &v1alpha1.Storage{} }, true},
		"a pool":             {func(c *cluster) { c.worker.config.CpuOptions = &v1alpha1.CpuOptions{} }, true},
		"a machine":          {func(c *cluster) { c.worker.Machine.Type = "m5.xlarge" }, true},
		"the overlay":        {func(c *cluster) { c.networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"overlay":{}}`)} }, true},
		"the CloudProfile":   {func(c *cluster) { c.Spec.CloudProfile.Name = "other" }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			old, c := newCluster().write(t), newCluster()
			test.change(c)
			assert.Equal(t, test.want, validation.ShootNeedsValidation(c.write(t), old))
		})
	}
	assert.True(t, validation.ShootNeedsValidation(newCluster().write(t), nil))
}

func TestDecodingErrors(t *testing.T) {
	_, err := v1alpha1.DecodeWorkerConfig(&runtime.RawExtension{Raw: []byte(`{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","a":1,"b":2}`)})
	assert.Equal(t, []string{
		`c: Invalid value: decoding WorkerConfig: unknown field "a": correct the name or remove the field`,
		`c: Invalid value: decoding WorkerConfig: unknown field "b": correct the name or remove the field`,
	}, messages(validation.DecodingErrors(field.NewPath("c"), err)))
}
