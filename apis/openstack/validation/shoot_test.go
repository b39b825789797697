package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// cluster is what the sentences below change: a Shoot that is fine, its configurations, and what it has to fit.
type cluster struct {
	*gardencorev1beta1.Shoot
	infra   *v1alpha1.InfrastructureConfig
	control *v1alpha1.ControlPlaneConfig
	pools   []*v1alpha1.WorkerConfig
	in      validation.ShootValidationContext
	// afterwards changes documents that cannot be written with the types.
	afterwards []func(*gardencorev1beta1.Provider)
}

func newCluster() *cluster {
	config := newSpec()
	c := &cluster{
		Shoot:   &gardencorev1beta1.Shoot{},
		infra:   config.config,
		control: &v1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora"},
		in:      validation.ShootValidationContext{Profile: newControlPlane().in.Profile, Domain: "default"},
	}
	c.in.Profile.ServerGroupPolicies = []string{"affinity", "soft-anti-affinity"}
	c.in.Profile.Constraints.FloatingPools = append(c.in.Profile.Constraints.FloatingPools, v1alpha1.FloatingPool{Name: "inner", Domain: new("weavers")})
	c.Spec.Region, c.Spec.Networking, c.Spec.CredentialsBindingName = "europe", config.networking, new("binding")
	c.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "openstack"}
	c.Spec.Provider.Type = "openstack"
	c.pool("cpu")
	c.pool("gpu")
	return c
}

// pool adds a pool.
func (c *cluster) pool(name string) {
	c.Spec.Provider.Workers = append(c.Spec.Provider.Workers, gardencorev1beta1.Worker{
		Name: name, Zones: []string{"north-1", "north-2"}, Labels: map[string]string{"team": "weavers"}, Volume: &gardencorev1beta1.Volume{VolumeSize: "50Gi"},
	})
	c.pools = append(c.pools, &v1alpha1.WorkerConfig{})
}

func (c *cluster) worker(i int) *gardencorev1beta1.Worker { return &c.Spec.Provider.Workers[i] }

// misspell has a document say more than its type knows.
func (c *cluster) misspell(document func(*gardencorev1beta1.Provider) **runtime.RawExtension, from, to string) {
	c.afterwards = append(c.afterwards, func(provider *gardencorev1beta1.Provider) {
		raw := document(provider)
		*raw = &runtime.RawExtension{Raw: []byte(strings.Replace(string((*raw).Raw), from, to, 1))}
	})
}

func infraOf(p *gardencorev1beta1.Provider) **runtime.RawExtension { return &p.InfrastructureConfig }

func controlOf(p *gardencorev1beta1.Provider) **runtime.RawExtension { return &p.ControlPlaneConfig }

func firstPool(p *gardencorev1beta1.Provider) **runtime.RawExtension {
	return &p.Workers[0].ProviderConfig
}

func lastPool(p *gardencorev1beta1.Provider) **runtime.RawExtension {
	return &p.Workers[len(p.Workers)-1].ProviderConfig
}

// write returns the Shoot with its configurations.
func (c *cluster) write(t *testing.T) *gardencorev1beta1.Shoot {
	t.Helper()
	encode := func(config runtime.Object) *runtime.RawExtension {
		raw, err := v1alpha1.Encode(config)
		require.NoError(t, err)
		return raw
	}
	provider := &c.Spec.Provider
	provider.InfrastructureConfig, provider.ControlPlaneConfig = encode(c.infra), encode(c.control)
	for i := range provider.Workers {
		provider.Workers[i].ProviderConfig = encode(c.pools[i])
	}
	for _, change := range c.afterwards {
		change(provider)
	}
	return c.Shoot
}

func (c *cluster) remove(i int) {
	c.Spec.Provider.Workers = append(c.Spec.Provider.Workers[:i], c.Spec.Provider.Workers[i+1:]...)
	c.pools = append(c.pools[:i], c.pools[i+1:]...)
}

func (c *cluster) dualStack() {
	spec{config: c.infra, networks: &c.infra.Networks, networking: c.Spec.Networking}.dualStack()
}

func (c *cluster) manila(credentials string) {
	c.infra.Networks.ShareNetwork = &v1alpha1.ShareNetwork{Enabled: true}
	c.control.Storage = &v1alpha1.Storage{CSIManila: &v1alpha1.CSIManila{Enabled: true}}
	if credentials != "" {
		c.control.Storage.CSIManila.CredentialsRef = &v1alpha1.CredentialsReference{Name: credentials}
		c.Spec.Resources = append(c.Spec.Resources, gardencorev1beta1.NamedResourceReference{
			Name: "manila", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "manila-credentials"},
		})
	}
}

func (c *cluster) withoutCredentials() {
	c.Spec.CredentialsBindingName, c.in.Domain = nil, ""
}

func (c *cluster) selfHosted() {
	c.worker(0).ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
}

func (c *cluster) withoutConfigs() {
	c.afterwards = append(c.afterwards, func(p *gardencorev1beta1.Provider) { p.InfrastructureConfig, p.ControlPlaneConfig = nil, nil })
}

func TestValidateShoot_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*cluster){
		"one as small as it gets":                      func(*cluster) {},
		"one with dual stack":                          (*cluster).dualStack,
		"one with Manila and credentials for it":       func(c *cluster) { c.manila("manila") },
		"one in a domain that has pools of its own":    func(c *cluster) { c.infra.FloatingPoolName, c.in.Domain = "inner", "weavers" },
		"one whose domain nobody knows":                func(c *cluster) { c.infra.FloatingPoolName, c.in.Domain = "inner", "" },
		"one in a pool for all, in an unknown domain":  func(c *cluster) { c.in.Domain = "" },
		"one in a pool that offers other classes, too": func(c *cluster) { c.infra.FloatingPoolName = "classy" },
		"one without workers, of which there is nothing to say": func(c *cluster) {
			c.Spec.Provider.Workers = nil
			c.withoutConfigs()
		},
		"one that hosts itself, on machines from here": (*cluster).selfHosted,
		"one that hosts itself, on machines of its own": func(c *cluster) {
			c.selfHosted()
			c.withoutCredentials()
			c.withoutConfigs()
			c.worker(0).Zones = nil
		},
		"one whose pools say nothing": func(c *cluster) {
			c.afterwards = append(c.afterwards, func(p *gardencorev1beta1.Provider) { p.Workers[0].ProviderConfig = nil })
		},
		"one whose classes are offered in a domain that may be its own": func(c *cluster) {
			class := v1alpha1.LoadBalancerClass{Name: "mine", SubnetID: new(otherUUID)}
			c.in.Profile.Constraints.FloatingPools[2].LoadBalancerClasses = []v1alpha1.LoadBalancerClass{class}
			c.infra.FloatingPoolName, c.control.LoadBalancerClasses, c.in.Domain = "inner", []v1alpha1.LoadBalancerClass{class}, ""
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster()
			change(c)
			require.Empty(t, validation.ValidateShoot(c.write(t), nil, c.in))
			require.Empty(t, validation.ValidateShoot(c.Shoot, nil, validation.ShootValidationContext{}), "and without a profile")
		})
	}
}

// expectedError is what is expected of a field.
type expectedError struct{ field, remedy string }

func requireFieldErrors(t *testing.T, errs field.ErrorList, want ...expectedError) {
	t.Helper()
	require.Len(t, errs, len(want), "exactly this should be wrong: %v", errs.ToAggregate())
	for i, w := range want {
		require.Equal(t, w.field, errs[i].Field)
		require.Contains(t, errs[i].Error(), w.remedy)
	}
}

func TestValidateShoot_Invalid(t *testing.T) {
	const (
		infra   = "spec.provider.infrastructureConfig"
		control = "spec.provider.controlPlaneConfig"
		workers = "spec.provider.workers"
	)
	for sentence, test := range map[string]struct {
		change        func(*cluster)
		field, remedy string
	}{
		"no infrastructureConfig":   {func(c *cluster) { drop(c, infraOf) }, infra, "give one with apiVersion openstack.provider.extensions.gardener.cloud/v1alpha1 and kind InfrastructureConfig"},
		"no controlPlaneConfig":     {func(c *cluster) { drop(c, controlOf) }, control, "kind ControlPlaneConfig"},
		"another kind":              {func(c *cluster) { c.misspell(infraOf, "InfrastructureConfig", "WorkerConfig") }, infra, "and kind to InfrastructureConfig"},
		"another group":             {func(c *cluster) { c.misspell(controlOf, "openstack.", "aws.") }, control, "set apiVersion to openstack"},
		"no floating pool":          {func(c *cluster) { c.infra.FloatingPoolName = "" }, infra + ".floatingPoolName", "give the name of an external network"},
		"a floating pool of nobody": {func(c *cluster) { c.infra.FloatingPoolName = "secret" }, infra + ".floatingPoolName", `in region "europe" and domain "default": choose one of "classy", "public"`},
		"a pool of another domain":  {func(c *cluster) { c.infra.FloatingPoolName = "inner" }, infra + ".floatingPoolName", `choose one of "classy", "public"`},
		"a pool that no domain has": {func(c *cluster) { c.infra.FloatingPoolName, c.in.Domain = "secret", "" }, infra + ".floatingPoolName", `in region "europe": choose one of "classy", "inner", "public"`},
		"a router by its name":      {func(c *cluster) { c.infra.Networks.Router = &v1alpha1.Router{ID: "mine"} }, infra + ".networks.router.id", "not its name: a UUID"},
		"a subnet pool by its name": {func(c *cluster) {
			c.infra.Networks.Workers, c.infra.Networks.SubnetPool = "", &v1alpha1.SubnetPool{ID: "mine"}
		}, infra + ".networks.subnetPool.id", "not its name: a UUID"},
		"an IPv6 pool by its name": {func(c *cluster) { c.infra.Networks.IPv6 = &v1alpha1.IPv6Config{SubnetPoolID: new("mine")} }, infra + ".networks.ipv6.subnetPoolID", "not its name: a UUID"},
		"a class's subnet by name": {func(c *cluster) {
			c.control.LoadBalancerClasses = []v1alpha1.LoadBalancerClass{{Name: "a", SubnetID: new("mine")}}
		}, control + ".loadBalancerClasses[0].subnetID", "not its name: a UUID"},
		"nodes somewhere else":      {func(c *cluster) { c.infra.Networks.Workers = "10.99.0.0/19" }, infra + ".networks.workers", "must lie within spec.networking.nodes (10.250.0.0/16)"},
		"no range of nodes":         {func(c *cluster) { c.Spec.Networking.Nodes = nil }, "spec.networking.nodes", "give an IPv4 range that contains networks.workers"},
		"no networking":             {func(c *cluster) { c.Spec.Networking = nil; c.infra.Networks.Workers = ""; c.takePool() }, "spec.networking", "describe the networking"},
		"IPv6 alone":                {func(c *cluster) { c.dualStack(); c.Spec.Networking.IPFamilies = c.Spec.Networking.IPFamilies[1:] }, "spec.networking.ipFamilies", "use [IPv4] or [IPv4, IPv6]"},
		"dual stack from nowhere":   {func(c *cluster) { c.dualStack(); c.infra.Networks.IPv6 = nil }, infra + ".networks.ipv6", "set subnetPoolID, or nodeCIDR, podCIDR and serviceCIDR"},
		"no load balancer provider": {func(c *cluster) { c.control.LoadBalancerProvider = "" }, control + ".loadBalancerProvider", `choose one of "amphora", "ovn"`},
		"an unknown provider":       {func(c *cluster) { c.control.LoadBalancerProvider = "f5" }, control + ".loadBalancerProvider", `in region "europe": choose one of "amphora", "ovn"`},
		"a provider of elsewhere":   {func(c *cluster) { c.Spec.Region = "asia" }, control + ".loadBalancerProvider", `in region "asia": choose one of "f5", "a10"`},
		"a class that nobody offers": {func(c *cluster) {
			c.infra.FloatingPoolName, c.control.LoadBalancerClasses = "classy", []v1alpha1.LoadBalancerClass{{Name: "a"}}
		}, control + ".loadBalancerClasses[0]", `take those of one of its classes "internet", "intranet"`},
		"Manila without credentials": {func(c *cluster) { c.manila("") }, control + ".storage.csiManila.credentialsRef", "give the name of a Secret in the Shoot's spec.resources"},
		"Manila with other ones":     {func(c *cluster) { c.manila("other") }, control + ".storage.csiManila.credentialsRef.name", "add it there, or correct the name"},
		"Manila without its network": {func(c *cluster) { c.manila("manila"); c.infra.Networks.ShareNetwork = nil }, control + ".storage.csiManila.enabled", "set networks.shareNetwork.enabled to true in the InfrastructureConfig"},
		"no IPv6 on dual stack": {func(c *cluster) {
			c.dualStack()
			c.control.NodeAddresses = &v1alpha1.NodeAddresses{IPv6Disabled: new(true)}
		}, control + ".nodeAddresses.ipv6Disabled", "remove the field"},
		"a pool without zones":       {func(c *cluster) { c.worker(1).Zones = nil }, workers + "[1].zones", "give at least one availability zone"},
		"a volume of no size":        {func(c *cluster) { c.worker(1).Volume = &gardencorev1beta1.Volume{Type: new("fast")} }, workers + "[1].volume.size", "give one like 50Gi"},
		"a volume of an odd size":    {func(c *cluster) { c.worker(0).Volume.VolumeSize = "much" }, workers + "[0].volume.size", "give a size like 50Gi"},
		"a volume of data, of none":  {func(c *cluster) { c.worker(0).DataVolumes = []gardencorev1beta1.DataVolume{{Name: "a"}} }, workers + "[0].dataVolumes[0].size", "give a size like 50Gi"},
		"an encrypted volume":        {func(c *cluster) { c.worker(0).Volume.Encrypted = new(true) }, workers + "[0].volume.encrypted", "remove the field, and choose such a type"},
		"a policy of nobody":         {func(c *cluster) { c.pools[1].ServerGroup = &v1alpha1.ServerGroup{Policy: "harmony"} }, workers + "[1].providerConfig.serverGroup.policy", `choose one of "affinity", "soft-anti-affinity"`},
		"one host for several zones": {func(c *cluster) { c.pools[0].ServerGroup = &v1alpha1.ServerGroup{Policy: "affinity"} }, workers + "[0].providerConfig.serverGroup.policy", "choose soft-affinity, or a single zone"},
		"a label that the pool has":  {func(c *cluster) { c.pools[0].MachineLabels = []v1alpha1.MachineLabel{{Name: "team"}} }, workers + "[0].providerConfig.machineLabels[0].name", "remove one of the two"},
		"a misspelt pool":            {func(c *cluster) { c.misspell(lastPool, `{`, `{"serverGroups":{},`) }, workers + "[1].providerConfig", `unknown field "serverGroups": correct the name or remove the field`},
		"a misspelt configuration":   {func(c *cluster) { c.misspell(controlOf, `{`, `{"zones":[],`) }, control, `unknown field "zones": correct the name or remove the field`},
		"a number that is a word":    {func(c *cluster) { c.misspell(infraOf, `"networks":{`, `"networks":{"mtu":"many",`) }, infra, "networks.mtu must be a whole number, not a JSON string: correct the value"},
		"a number that is a word, next to Manila": {func(c *cluster) {
			c.manila("manila")
			c.misspell(infraOf, `"networks":{`, `"networks":{"mtu":"many",`)
		}, infra, "networks.mtu must be a whole number"},
		"Manila with credentials that are none": {func(c *cluster) {
			c.manila("manila")
			c.Spec.Resources[0].ResourceRef.Kind = "ConfigMap"
		}, control + ".storage.csiManila.credentialsRef.name", "refer to no Secret by this name: add it there"},
		"a list instead of a document": {func(c *cluster) {
			c.afterwards = append(c.afterwards, func(p *gardencorev1beta1.Provider) { p.ControlPlaneConfig.Raw = []byte(`[]`) })
		}, control, "not a JSON object"},
		"no machines from here, and no name for them": {func(c *cluster) { c.withoutCredentials(); drop(c, infraOf) }, infra, "give one with apiVersion"},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster()
			test.change(c)
			requireFieldErrors(t, validation.ValidateShoot(c.write(t), nil, c.in), expectedError{test.field, test.remedy})
		})
	}
}

func (c *cluster) takePool() { c.infra.Networks.SubnetPool = &v1alpha1.SubnetPool{ID: uuid} }

func drop(c *cluster, document func(*gardencorev1beta1.Provider) **runtime.RawExtension) {
	c.afterwards = append(c.afterwards, func(p *gardencorev1beta1.Provider) { *document(p) = nil })
}

func TestValidateShoot_UnknownFieldAndOtherErrors(t *testing.T) {
	c := newCluster()
	c.infra.Networks.Workers = ""
	c.misspell(infraOf, `"networks":{`, `"networks":{"wokers":"10.250.0.0/19"`)
	c.pools[0].ServerGroup = &v1alpha1.ServerGroup{Policy: "harmony"}
	c.misspell(firstPool, `{`, `{"machineLabel":[],`)
	requireFieldErrors(
		t, validation.ValidateShoot(c.write(t), nil, c.in),
		expectedError{"spec.provider.infrastructureConfig", `unknown field "networks.wokers"`},
		expectedError{"spec.provider.infrastructureConfig.networks.workers", "give the range of the node subnet"},
		expectedError{"spec.provider.workers[0].providerConfig", `unknown field "machineLabel"`},
		expectedError{"spec.provider.workers[0].providerConfig.serverGroup.policy", "choose one of"},
	)
}
