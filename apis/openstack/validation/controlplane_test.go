package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// controlPlane is what the sentences below change: a valid configuration and what it has to fit.
type controlPlane struct {
	config, old *v1alpha1.ControlPlaneConfig
	in          validation.ControlPlaneValidationContext
}

func newControlPlane() *controlPlane {
	profile := &v1alpha1.CloudProfileConfig{}
	profile.Constraints.LoadBalancerProviders = []v1alpha1.LoadBalancerProvider{
		{Name: "amphora"}, {Name: "ovn"}, {Name: "f5", Region: new("asia")}, {Name: "a10", Region: new("asia")},
	}
	profile.Constraints.FloatingPools = []v1alpha1.FloatingPool{
		{Name: "public"},
		{Name: "classy", LoadBalancerClasses: []v1alpha1.LoadBalancerClass{
			{Name: "internet", FloatingNetworkID: new(uuid), FloatingSubnetName: new("internet-*")},
			{Name: "intranet", SubnetID: new(otherUUID)},
		}},
	}
	return &controlPlane{
		config: &v1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora"},
		in:     validation.ControlPlaneValidationContext{Profile: profile, FloatingPoolName: "public", Region: "europe", Domain: "default"},
	}
}

func (c *controlPlane) validate() field.ErrorList {
	return validation.ValidateControlPlaneConfig(c.config, c.old, c.in, field.NewPath("config"))
}

func (c *controlPlane) classes(classes ...v1alpha1.LoadBalancerClass) {
	c.config.LoadBalancerClasses = classes
}

// acceptedBefore makes what the configuration says the state in which the shoot has been all along.
func (c *controlPlane) acceptedBefore(change func(*controlPlane)) {
	change(c)
	c.old = c.config.DeepCopy()
}

func balancer(c v1alpha1.LoadBalancerConfig) func(*controlPlane) {
	return func(s *controlPlane) { s.config.LoadBalancer = &c }
}

func monitor(m v1alpha1.HealthMonitor) func(*controlPlane) {
	return balancer(v1alpha1.LoadBalancerConfig{Monitor: &m})
}

func addresses(a v1alpha1.NodeAddresses) func(*controlPlane) {
	return func(s *controlPlane) { s.config.NodeAddresses = &a }
}

func class(change func(*v1alpha1.LoadBalancerClass)) func(*controlPlane) {
	result := v1alpha1.LoadBalancerClass{Name: "mine"}
	change(&result)
	return func(s *controlPlane) { s.classes(result) }
}

func duration(text string) *metav1.Duration {
	var result metav1.Duration
	if err := result.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		panic(err)
	}
	return &result
}

// manila switches Manila on where everything that it needs is there, but for what the changes take away.
func manila(changes ...func(*controlPlane, *v1alpha1.CSIManila)) func(*controlPlane) {
	return func(s *controlPlane) {
		config := &v1alpha1.CSIManila{Enabled: true, CredentialsRef: &v1alpha1.CredentialsReference{Name: "shares"}}
		s.config.Storage = &v1alpha1.Storage{CSIManila: config}
		s.in.ShareNetwork, s.in.Secrets = true, []string{"other", "shares"}
		for _, change := range changes {
			change(s, config)
		}
	}
}

func withoutCredentials(_ *controlPlane, config *v1alpha1.CSIManila) { config.CredentialsRef = nil }

func TestValidateControlPlaneConfig_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*controlPlane){
		"a provider and nothing else":                        func(*controlPlane) {},
		"the second of the region's own providers":           func(s *controlPlane) { s.in.Region, s.config.LoadBalancerProvider = "asia", "a10" },
		"a feature gate":                                     func(s *controlPlane) { s.config.CloudControllerManager = gates("ContextualLogging") },
		"Manila with a share network and its credentials":    manila(),
		"a living shoot that has Manila without credentials": func(s *controlPlane) { s.acceptedBefore(manila(withoutCredentials)) },
		"a living shoot that gives Manila its credentials": func(s *controlPlane) {
			s.acceptedBefore(manila(withoutCredentials))
			manila()(s)
		},
		"Manila switched off, without anything that it needs": manila(withoutCredentials, func(s *controlPlane, config *v1alpha1.CSIManila) {
			config.Enabled, s.in.ShareNetwork, s.in.Secrets = false, false, nil
		}),
		"a class on a second external network":           class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingNetworkID = new(uuid) }),
		"a class whose subnet is chosen by a regexp":     class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingSubnetName = new(`~dmz-\d`) }),
		"a class with brackets and quotes in its name":   class(func(c *v1alpha1.LoadBalancerClass) { c.Name = `"mine" [1]` }),
		"one class of each purpose that users have":      func(s *controlPlane) { s.classes(withPurpose("a", "default"), withPurpose("b", "private")) },
		"a class of the CloudProfile under another name": func(s *controlPlane) { s.in.FloatingPoolName = "classy"; s.classes(internet()) },
		"all that can be said of load balancers":         balancer(fullBalancer()),
		"a monitor without figures":                      monitor(v1alpha1.HealthMonitor{Enabled: new(false)}),
		"names of networks in many words, and an order":  addresses(fullAddresses()),
		"no IPv6 addresses in a shoot without IPv6":      addresses(v1alpha1.NodeAddresses{IPv6Disabled: new(true)}),
		"IPv6 addresses, explicitly, in a shoot with IPv6": func(s *controlPlane) {
			s.in.IPv6 = true
			addresses(v1alpha1.NodeAddresses{IPv6Disabled: new(false)})(s)
		},
		"a living shoot whose provider is not offered now": func(s *controlPlane) {
			s.acceptedBefore(func(s *controlPlane) { s.config.LoadBalancerProvider = "gone" })
		},
		"a living shoot whose classes are not offered now": func(s *controlPlane) { s.acceptedBefore(notOffered) },
		"a living shoot with a class that only upstream had": func(s *controlPlane) {
			s.acceptedBefore(class(func(c *v1alpha1.LoadBalancerClass) { c.SubnetID = new("by name") }))
		},
		"a good class beside one that only upstream had": func(s *controlPlane) {
			s.acceptedBefore(class(func(c *v1alpha1.LoadBalancerClass) { c.SubnetID = new("by name") }))
			s.classes(append(s.config.LoadBalancerClasses, withPurpose("new", "default"))...)
		},
		"a floating pool that the CloudProfile does not know, which another function reports": func(s *controlPlane) { s.in.FloatingPoolName = "gone"; s.classes(internet()) },
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := newControlPlane()
			change(spec)
			require.Empty(t, spec.validate())
		})
	}
}

func gates(name string) *v1alpha1.CloudControllerManagerConfig {
	return &v1alpha1.CloudControllerManagerConfig{FeatureGates: map[string]bool{name: true}}
}

func withPurpose(name, purpose string) v1alpha1.LoadBalancerClass {
	return v1alpha1.LoadBalancerClass{Name: name, Purpose: new(purpose)}
}

func internet() v1alpha1.LoadBalancerClass {
	return v1alpha1.LoadBalancerClass{Name: "mine", Purpose: new("default"), FloatingNetworkID: new(uuid), FloatingSubnetName: new("internet-*")}
}

func notOffered(s *controlPlane) {
	s.in.FloatingPoolName = "classy"
	s.classes(v1alpha1.LoadBalancerClass{Name: "mine", FloatingNetworkID: new(otherUUID)})
}

func fullBalancer() v1alpha1.LoadBalancerConfig {
	return v1alpha1.LoadBalancerConfig{
		AvailabilityZone: new("Zone 1 (east)"), FlavorID: new(uuid), MaxSharedLB: new(int32(1)), CascadeDelete: new(false),
		IngressHostname: &v1alpha1.IngressHostname{Enabled: true, Suffix: new("lb.example.org")},
		Monitor: &v1alpha1.HealthMonitor{
			Delay: duration("1s"), Timeout: duration("2m"), MaxRetries: new(int32(1)), MaxRetriesDown: new(int32(10)),
		},
	}
}

func fullAddresses() v1alpha1.NodeAddresses {
	return v1alpha1.NodeAddresses{
		PublicNetworkNames: []string{"Ext-Net [1]", `the "second"`}, InternalNetworkNames: []string{"storage"},
		SortOrder: []string{"10.250.0.0/16", "2001:db8::/64"},
	}
}

func TestValidateControlPlaneConfig_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change        func(*controlPlane)
		field, remedy string
	}{
		"no provider": {
			func(s *controlPlane) { s.config.LoadBalancerProvider = "" },
			"config.loadBalancerProvider", `choose one of "amphora", "ovn"`,
		},
		"no provider, neither here nor in the CloudProfile": {
			func(s *controlPlane) {
				s.config.LoadBalancerProvider, s.in.Profile = "", &v1alpha1.CloudProfileConfig{}
			},
			"config.loadBalancerProvider", "such as amphora or ovn",
		},
		"a provider where the CloudProfile has none": {
			func(s *controlPlane) { s.in.Profile = &v1alpha1.CloudProfileConfig{} },
			"config.loadBalancerProvider", "ask its admin",
		},
		"a provider of all regions in a region with its own": {
			func(s *controlPlane) { s.in.Region = "asia" },
			"config.loadBalancerProvider", `does not allow it in region "asia": choose one of "f5", "a10"`,
		},
		"a provider of another region": {
			func(s *controlPlane) { s.config.LoadBalancerProvider = "f5" },
			"config.loadBalancerProvider", `choose one of "amphora", "ovn"`,
		},
		"a living shoot that changes to a provider that is not offered": {
			func(s *controlPlane) {
				s.acceptedBefore(func(*controlPlane) {})
				s.config.LoadBalancerProvider = "f5"
			},
			"config.loadBalancerProvider", `choose one of "amphora", "ovn"`,
		},
		"a feature gate that would be another flag": {
			func(s *controlPlane) { s.config.CloudControllerManager = gates("A=true --leader-elect") },
			"config.cloudControllerManager.featureGates[A=true --leader-elect]", "letters and digits",
		},
		"Manila without a share network": {
			manila(func(s *controlPlane, _ *v1alpha1.CSIManila) { s.in.ShareNetwork = false }),
			"config.storage.csiManila.enabled", "set networks.shareNetwork.enabled to true",
		},
		"Manila without credentials of its own in a new shoot (D20)": {
			manila(withoutCredentials),
			"config.storage.csiManila.credentialsRef", "could read the infrastructure's credentials",
		},
		"Manila without credentials of its own, switched on in a living shoot (D20)": {
			func(s *controlPlane) {
				s.acceptedBefore(func(*controlPlane) {})
				manila(withoutCredentials)(s)
			},
			"config.storage.csiManila.credentialsRef", "credentials for Manila alone",
		},
		"Manila's credentials, taken away from a living shoot (D20)": {
			func(s *controlPlane) {
				s.acceptedBefore(manila())
				manila(withoutCredentials)(s)
			},
			"config.storage.csiManila.credentialsRef", "credentials for Manila alone",
		},
		"Manila's credentials without a name": {
			manila(func(_ *controlPlane, config *v1alpha1.CSIManila) { config.CredentialsRef.Name = "" }),
			"config.storage.csiManila.credentialsRef.name", "in the Shoot's spec.resources",
		},
		"Manila's credentials in a Secret that the Shoot does not refer to": {
			manila(func(s *controlPlane, _ *v1alpha1.CSIManila) { s.in.Secrets = []string{"other"} }),
			"config.storage.csiManila.credentialsRef.name", "add it there",
		},
		"a class without a name": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.Name = "" }),
			"config.loadBalancerClasses[0].name", "the name by which Services choose",
		},
		"a class whose name would end the line": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.Name = "a\"]\nlb-provider=b" }),
			"config.loadBalancerClasses[0].name", "control characters are not allowed",
		},
		"two classes of one name": {
			func(s *controlPlane) { s.classes(withPurpose("a", "default"), withPurpose("a", "private")) },
			"config.loadBalancerClasses[1].name", "remove one of the two",
		},
		"two classes of one purpose": {
			func(s *controlPlane) { s.classes(withPurpose("a", "private"), withPurpose("b", "private")) },
			"config.loadBalancerClasses[1].purpose", "remove it from one of the two",
		},
		"the purpose that is the CloudProfile's": {
			func(s *controlPlane) { s.classes(withPurpose("a", "vpn")) },
			"config.loadBalancerClasses[0].purpose", `choose one of "default", "private"`,
		},
		"two ways to choose a subnet": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingSubnetID, c.FloatingSubnetTags = new(uuid), new("a") }),
			"config.loadBalancerClasses[0].floatingSubnetTags", "floatingSubnetID, floatingSubnetTags exclude each other",
		},
		"an external network by its name": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingNetworkID = new("public") }),
			"config.loadBalancerClasses[0].floatingNetworkID", "give the ID of the external network, not its name",
		},
		"a floating subnet by its name": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingSubnetID = new("public-1") }),
			"config.loadBalancerClasses[0].floatingSubnetID", "not its name",
		},
		"a subnet by its name (D28)": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.SubnetID = new("nodes") }),
			"config.loadBalancerClasses[0].subnetID", "give the ID of the subnet, not its name",
		},
		"a pattern of subnets that is none": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingSubnetName = new("~(") }),
			"config.loadBalancerClasses[0].floatingSubnetName", "behind the tilde",
		},
		"tags that are none": {
			class(func(c *v1alpha1.LoadBalancerClass) { c.FloatingSubnetTags = new("") }),
			"config.loadBalancerClasses[0].floatingSubnetTags", "separated by commas",
		},
		"a class that the CloudProfile does not list": {
			notOffered, "config.loadBalancerClasses[0]", `one of its classes "internet", "intranet"`,
		},
		"a class that leaves out half of the one that the CloudProfile lists": {
			func(s *controlPlane) {
				s.in.FloatingPoolName = "classy"
				s.classes(v1alpha1.LoadBalancerClass{Name: "internet", FloatingNetworkID: new(uuid)})
			},
			"config.loadBalancerClasses[0]", "take those of one of its classes",
		},
		"a living shoot that adds a class that is not offered": {
			func(s *controlPlane) {
				s.acceptedBefore(notOffered)
				s.classes(append(s.config.LoadBalancerClasses, v1alpha1.LoadBalancerClass{Name: "more"})...)
			},
			"config.loadBalancerClasses[1]", "does not allow these networks",
		},
		"no zone at all":     {balancer(v1alpha1.LoadBalancerConfig{AvailabilityZone: new("")}), "config.loadBalancer.availabilityZone", "or remove the field"},
		"a flavor by name":   {balancer(v1alpha1.LoadBalancerConfig{FlavorID: new("large")}), "config.loadBalancer.flavorID", "not its name"},
		"no Services at all": {balancer(v1alpha1.LoadBalancerConfig{MaxSharedLB: new(int32(0))}), "config.loadBalancer.maxSharedLB", "at least 1"},
		"a suffix with a dot": {
			balancer(v1alpha1.LoadBalancerConfig{IngressHostname: &v1alpha1.IngressHostname{Suffix: new(".nip.io")}}),
			"config.loadBalancer.ingressHostname.suffix", "without a dot in front",
		},
		"half a second":          {monitor(v1alpha1.HealthMonitor{Delay: duration("1500ms")}), "config.loadBalancer.monitor.delay", "whole seconds"},
		"no time":                {monitor(v1alpha1.HealthMonitor{Timeout: duration("0s")}), "config.loadBalancer.monitor.timeout", "at least 1s"},
		"no probe":               {monitor(v1alpha1.HealthMonitor{MaxRetries: new(int32(0))}), "config.loadBalancer.monitor.maxRetries", "between 1 and 10"},
		"too many failed probes": {monitor(v1alpha1.HealthMonitor{MaxRetriesDown: new(int32(11))}), "config.loadBalancer.monitor.maxRetriesDown", "between 1 and 10"},
		"a network without name": {addresses(v1alpha1.NodeAddresses{PublicNetworkNames: []string{""}}), "config.nodeAddresses.publicNetworkNames[0]", "the name of a network"},
		"a network twice":        {addresses(v1alpha1.NodeAddresses{InternalNetworkNames: []string{"a", "a"}}), "config.nodeAddresses.internalNetworkNames[1]", "remove one of the two"},
		"a network that is both internal and public": {
			addresses(v1alpha1.NodeAddresses{PublicNetworkNames: []string{"a"}, InternalNetworkNames: []string{"a"}}),
			"config.nodeAddresses.internalNetworkNames[0]", "either internal or public",
		},
		"an address where a range is asked for": {addresses(v1alpha1.NodeAddresses{SortOrder: []string{"10.0.0.1"}}), "config.nodeAddresses.sortOrder[0]", "in CIDR notation"},
		"a range twice":                         {addresses(v1alpha1.NodeAddresses{SortOrder: []string{"10.0.0.0/8", "10.0.0.0/8"}}), "config.nodeAddresses.sortOrder[1]", "remove one of the two"},
		"no IPv6 addresses in a shoot with IPv6": {
			func(s *controlPlane) {
				s.in.IPv6 = true
				addresses(v1alpha1.NodeAddresses{IPv6Disabled: new(true)})(s)
			},
			"config.nodeAddresses.ipv6Disabled", "remove the field",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := newControlPlane()
			test.change(spec)
			errs := spec.validate()
			require.Len(t, errs, 1, "%v", errs)
			require.Equal(t, test.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), test.remedy)
		})
	}
}
