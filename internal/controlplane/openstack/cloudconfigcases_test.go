package openstack

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

const (
	publicNetwork = "a0000000-0000-4000-8000-000000000001"
	secondNetwork = "a0000000-0000-4000-8000-000000000002"
	publicSubnet  = "b0000000-0000-4000-8000-000000000001"
	nodesSubnet   = "c0000000-0000-4000-8000-000000000001"
	lbSubnet      = "c0000000-0000-4000-8000-000000000002"
	otherSubnet   = "c0000000-0000-4000-8000-000000000003"
	router        = "d0000000-0000-4000-8000-000000000001"
	flavor        = "e0000000-0000-4000-8000-000000000001"
)

// newInputs are those of a shoot for which nobody has special wishes.
func newInputs() *inputs {
	in := &inputs{
		config:         &openstackv1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora"},
		profile:        &openstackv1alpha1.CloudProfileConfig{},
		infrastructure: openstackv1alpha1.NewInfrastructureStatus(),
		credentials:    userCredentials(),
		technicalID:    "shoot--dev--one", clusterName: "shoot--dev--one", region: "RegionOne", kubernetesVersion: "1.36.3",
	}
	in.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "public"}}
	networks := &in.infrastructure.Networks
	networks.Name = "shoot--dev--one"
	networks.FloatingPool = openstackv1alpha1.FloatingPoolStatus{ID: publicNetwork, Name: "public"}
	networks.Router.ID = router
	networks.Subnets = []openstackv1alpha1.Subnet{
		{Purpose: openstackv1alpha1.PurposePods, ID: otherSubnet},
		{Purpose: openstackv1alpha1.PurposeNodes, ID: nodesSubnet},
	}
	return in
}

func userCredentials() auth.Credentials {
	return auth.Credentials{
		AuthURL: "https://keystone.example.org:5000/v3", Username: "gardener", Password: "secret", DomainName: "Default", TenantName: "garden",
	}
}

type change func(*inputs)

// configCase is a configuration and the name of its golden file.
type configCase struct {
	file   string
	change change
}

func login(c auth.Credentials) change {
	return func(in *inputs) {
		if c.AuthURL == "" {
			c.AuthURL = userCredentials().AuthURL
		}
		in.credentials = c
	}
}

func password(text string) change {
	return func(in *inputs) { in.credentials.Password = text }
}

func poolClasses(classes ...openstackv1alpha1.LoadBalancerClass) change {
	return func(in *inputs) { in.profile.Constraints.FloatingPools[0].LoadBalancerClasses = classes }
}

func ownClasses(classes ...openstackv1alpha1.LoadBalancerClass) change {
	return func(in *inputs) { in.config.LoadBalancerClasses = classes }
}

func combine(changes ...change) change {
	return func(in *inputs) {
		for _, change := range changes {
			change(in)
		}
	}
}

// What is hard to write into a file. The third would change the load balancers' provider if it were pasted in.
const (
	nastyPassword  = "  \"pass\\word\\\" # no comment; 'really' = [Global]\n\tStraße 密码 ${HOME} {{.}} %s \x01 \\n\\"
	nastySecret    = "\\\"\n"
	injectPassword = "x\"\n[LoadBalancer]\nlb-provider = \"evil"
)

// The second half of each name says what the file shows; defects have the numbers that the study of upstream gave them.
func ccmCases() map[string]configCase {
	return map[string]configCase{
		"a user with a password": {"password", combine()},
		"a password full of what has a meaning in the file, or in others (D19)":  {"d19-nasty-password", password(nastyPassword)},
		"a password that tries to be another section (D19)":                      {"d19-injection", password(injectPassword)},
		"an application credential by ID, about whose project nothing is said":   {"application-credential-id", login(byID())},
		"an application credential by name, with the user and the user's domain": {"application-credential-name", login(byName())},
		"an application credential by name, of a user in another domain":         {"application-credential-name-other-domain", login(byNameElsewhere())},
		"names and IDs, of which the IDs count":                                  {"ids", login(withIDs())},
		"a user in another domain than the project":                              {"user-domain-name", login(userElsewhere())},
		"a user in another domain than the project, which is given by ID":        {"user-domain-id", login(userElsewhereByID())},

		"a CA bundle":                     {"ca-bundle", func(in *inputs) { in.credentials.CACert = caBundle }},
		"certificates that nobody checks": {"insecure", func(in *inputs) { in.credentials.Insecure = true }},

		"pods that are routed natively":                    {"native-routing", func(in *inputs) { in.routesPods = true }},
		"a time that calls may take":                       {"request-timeout", func(in *inputs) { in.profile.RequestTimeout = &metav1.Duration{Duration: 90 * time.Second} }},
		"OVN":                                              {"ovn", func(in *inputs) { in.config.LoadBalancerProvider = "ovn" }},
		"all options of load balancers":                    {"loadbalancer-options", loadBalancerOptions},
		"options of load balancers that are off":           {"loadbalancer-options-off", loadBalancerOptionsOff},
		"a host name for ingresses under the usual domain": {"ingress-hostname", ingressHostname},
		"addresses of nodes in many networks, in an order": {"node-addresses", nodeAddresses},

		"classes of the floating pool, one by default and one private":          {"classes-of-the-pool", poolClasses(internet(), private())},
		"a floating pool that the user calls by its ID":                         {"classes-of-the-pool-by-id", combine(poolClasses(internet()), func(in *inputs) { in.profile.Constraints.FloatingPools[0].Name = publicNetwork })},
		"classes that the user gives instead of those of the pool":              {"classes-of-the-user", combine(poolClasses(internet()), ownClasses(private(), tagged()))},
		"classes of which none is said to be the default, so that the first is": {"classes-first-by-default", ownClasses(tagged(), named("other"))},
		"classes of which one is called default and another private":            {"classes-by-name", ownClasses(tagged(), called("default", internet()), called("private", private()))},

		"an empty list of classes, which means none, and not those of the pool": {"classes-empty", combine(poolClasses(internet(), private()), ownClasses([]openstackv1alpha1.LoadBalancerClass{}...))},
		"an empty list of classes, with a class for VPN in the pool":            {"classes-empty-but-vpn", combine(poolClasses(internet(), vpn()), ownClasses([]openstackv1alpha1.LoadBalancerClass{}...))},

		"a class for VPN in the pool (D7)":                                                             {"d7-vpn-of-the-pool", poolClasses(internet(), vpn())},
		"a class for VPN in the pool, beside classes of the user (D7)":                                 {"d7-vpn-beside-the-users", combine(poolClasses(internet(), vpn()), ownClasses(tagged()))},
		"a class of the user with the name of the one for VPN (D7)":                                    {"d7-vpn-name-taken", combine(poolClasses(internet(), vpn()), ownClasses(called("vpn", tagged())))},
		"a class on a second external network (D6)":                                                    {"d6-second-network", ownClasses(named("plain"), onSecond())},
		"a class on a second external network, while all others choose a subnet of the first one (D6)": {"d6-second-network-any-subnet", ownClasses(internet(), onSecond())},
		"a second external network by default, and classes that take part in it (D6)":                  {"d6-second-network-by-default", ownClasses(asDefault(onSecond()), tagged())},
		"names of classes in quotes and brackets":                                                      {"classes-nasty-names", ownClasses(named(`"a" \ [b] # c`), named("ä ö"))},
	}
}

const caBundle = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----"

func byID() auth.Credentials {
	return auth.Credentials{
		ApplicationCredentialID: "f0000000000040008000000000000001", ApplicationCredentialName: "trellis", ApplicationCredentialSecret: nastySecret,
		Username: "gardener", DomainName: "Default", TenantName: "garden",
	}
}

func byName() auth.Credentials {
	c := byID()
	c.ApplicationCredentialID = ""
	return c
}

func byNameElsewhere() auth.Credentials {
	c := byName()
	c.UserDomainID, c.UserDomainName = "people", "People"
	return c
}

func withIDs() auth.Credentials {
	c := userCredentials()
	c.DomainID, c.TenantID = "default", "f0000000000040008000000000000002"
	return c
}

func userElsewhere() auth.Credentials {
	c := userCredentials()
	c.UserDomainName = "People"
	return c
}

func userElsewhereByID() auth.Credentials {
	c := withIDs()
	c.DomainID, c.DomainName, c.UserDomainID = "", "", "people"
	return c
}

func loadBalancerOptions(in *inputs) {
	in.config.LoadBalancer = &openstackv1alpha1.LoadBalancerConfig{
		AvailabilityZone: new("zone 1"), FlavorID: new(flavor), MaxSharedLB: new(int32(5)), CascadeDelete: new(true),
		IngressHostname: &openstackv1alpha1.IngressHostname{Enabled: true, Suffix: new("lb.example.org")},
		Monitor: &openstackv1alpha1.HealthMonitor{
			Enabled: new(true), Delay: &metav1.Duration{Duration: time.Minute}, Timeout: &metav1.Duration{Duration: 5 * time.Second},
			MaxRetries: new(int32(4)), MaxRetriesDown: new(int32(6)),
		},
	}
}

func loadBalancerOptionsOff(in *inputs) {
	in.config.LoadBalancer = &openstackv1alpha1.LoadBalancerConfig{
		CascadeDelete:   new(false),
		IngressHostname: &openstackv1alpha1.IngressHostname{Suffix: new("lb.example.org")},
		Monitor:         &openstackv1alpha1.HealthMonitor{Enabled: new(false)},
	}
}

func ingressHostname(in *inputs) {
	in.config.LoadBalancer = &openstackv1alpha1.LoadBalancerConfig{IngressHostname: &openstackv1alpha1.IngressHostname{Enabled: true}}
}

func nodeAddresses(in *inputs) {
	in.config.NodeAddresses = &openstackv1alpha1.NodeAddresses{
		PublicNetworkNames: []string{"public", `"dmz"`}, InternalNetworkNames: []string{"storage", "shoot--dev--one"},
		SortOrder: []string{"10.250.0.0/16", "10.0.0.0/8"}, IPv6Disabled: new(true),
	}
}

func named(name string) openstackv1alpha1.LoadBalancerClass {
	return openstackv1alpha1.LoadBalancerClass{Name: name}
}

func called(name string, class openstackv1alpha1.LoadBalancerClass) openstackv1alpha1.LoadBalancerClass {
	class.Name, class.Purpose = name, nil
	return class
}

func asDefault(class openstackv1alpha1.LoadBalancerClass) openstackv1alpha1.LoadBalancerClass {
	class.Purpose = new("default")
	return class
}

func internet() openstackv1alpha1.LoadBalancerClass {
	return openstackv1alpha1.LoadBalancerClass{Name: "internet", Purpose: new("default"), FloatingNetworkID: new(publicNetwork), FloatingSubnetID: new(publicSubnet)}
}

func private() openstackv1alpha1.LoadBalancerClass {
	return openstackv1alpha1.LoadBalancerClass{Name: "intranet", Purpose: new("private"), SubnetID: new(lbSubnet)}
}

func tagged() openstackv1alpha1.LoadBalancerClass {
	return openstackv1alpha1.LoadBalancerClass{Name: "tagged", FloatingSubnetTags: new("b,c"), SubnetID: new(otherSubnet)}
}

func vpn() openstackv1alpha1.LoadBalancerClass {
	return openstackv1alpha1.LoadBalancerClass{Name: "vpn", Purpose: new("vpn"), FloatingSubnetName: new("~vpn-\\d+")}
}

func onSecond() openstackv1alpha1.LoadBalancerClass {
	return openstackv1alpha1.LoadBalancerClass{Name: "second", FloatingNetworkID: new(secondNetwork)}
}

func blockStorage(on bool, limit int32) change {
	return func(in *inputs) {
		in.profile.RescanBlockStorageOnResize, in.profile.IgnoreVolumeAZ, in.profile.NodeVolumeAttachLimit = &on, &on, &limit
	}
}
