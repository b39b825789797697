package openstack

import (
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane/gcfg"
)

// The defaults of load balancers, which are upstream's.
const (
	monitorDelay      = "20s"
	monitorTimeout    = "30s"
	monitorMaxRetries = "2"
)

// anySubnet is a pattern that matches all subnets.
const anySubnet = "~.*"

// writeLoadBalancers writes the settings of all load balancers, and the classes for Services.
func (in *inputs) writeLoadBalancers(file *gcfg.File) error {
	nodes, err := in.nodeSubnet()
	if err != nil {
		return err
	}
	chosen := in.chosenClasses()
	global := in.globalClass(chosen, nodes)

	file.Section("LoadBalancer")
	file.Set("lb-version", "v2")
	file.Set("lb-provider", in.config.LoadBalancerProvider)
	if in.config.LoadBalancerProvider == "ovn" { // it knows no other method, and leaves source addresses as they are
		file.Set("lb-method", "SOURCE_IP_PORT")
		file.Set("manage-security-groups", "true")
	}
	in.writeLoadBalancerOptions(file)
	writeClass(file, global)
	for _, class := range uniqueNames(in.withVPN(chosen)) {
		file.Labeled("LoadBalancerClass", class.Name)
		writeClass(file, ownSubnets(class, global))
	}
	return nil
}

func (in *inputs) writeLoadBalancerOptions(file *gcfg.File) {
	options := in.config.LoadBalancer
	if options == nil {
		options = &openstackv1alpha1.LoadBalancerConfig{}
	}
	writeMonitor(file, options.Monitor)
	file.Set("availability-zone", value(options.AvailabilityZone))
	file.Set("flavor-id", value(options.FlavorID))
	file.Set("max-shared-lb", numberText(options.MaxSharedLB))
	file.Set("cascade-delete", boolText(options.CascadeDelete))
	if hostname := options.IngressHostname; hostname != nil && hostname.Enabled {
		file.Set("enable-ingress-hostname", "true")
		file.Set("ingress-hostname-suffix", value(hostname.Suffix))
	}
}

func writeMonitor(file *gcfg.File, monitor *openstackv1alpha1.HealthMonitor) {
	if monitor == nil {
		monitor = &openstackv1alpha1.HealthMonitor{}
	}
	enabled, delay, timeout, retries := "true", monitorDelay, monitorTimeout, monitorMaxRetries
	if monitor.Enabled != nil {
		enabled = boolText(monitor.Enabled)
	}
	if monitor.Delay != nil {
		delay = monitor.Delay.Duration.String()
	}
	if monitor.Timeout != nil {
		timeout = monitor.Timeout.Duration.String()
	}
	if monitor.MaxRetries != nil {
		retries = numberText(monitor.MaxRetries)
	}
	file.Set("create-monitor", enabled)
	file.Set("monitor-delay", delay)
	file.Set("monitor-timeout", timeout)
	file.Set("monitor-max-retries", retries)
	file.Set("monitor-max-retries-down", numberText(monitor.MaxRetriesDown))
}

// writeClass writes the networks of a class. Missing keys are taken from [LoadBalancer].
func writeClass(file *gcfg.File, class openstackv1alpha1.LoadBalancerClass) {
	file.Set("floating-network-id", value(class.FloatingNetworkID))
	switch {
	case value(class.FloatingSubnetID) != "":
		file.Set("floating-subnet-id", *class.FloatingSubnetID)
	case value(class.FloatingSubnetName) != "":
		file.Set("floating-subnet", *class.FloatingSubnetName)
	default:
		file.Set("floating-subnet-tags", value(class.FloatingSubnetTags))
	}
	file.Set("subnet-id", value(class.SubnetID))
}

// offeredClasses are those of the floating pool in the cloud profile.
func (in *inputs) offeredClasses() []openstackv1alpha1.LoadBalancerClass {
	pool := in.floatingPool()
	if pool == nil {
		return nil
	}
	return pool.LoadBalancerClasses
}

// chosenClasses are the user's classes. Those of the floating pool apply if the field is left out: an empty list means none.
func (in *inputs) chosenClasses() []openstackv1alpha1.LoadBalancerClass {
	if in.config.LoadBalancerClasses == nil {
		return in.offeredClasses()
	}
	return in.config.LoadBalancerClasses
}

// withVPN appends the cloud profile's class for VPN to the user's classes, whatever they are.
func (in *inputs) withVPN(classes []openstackv1alpha1.LoadBalancerClass) []openstackv1alpha1.LoadBalancerClass {
	for _, class := range in.offeredClasses() {
		if value(class.Purpose) == openstackv1alpha1.LoadBalancerPurposeVPN {
			return append(slices.Clone(classes), class)
		}
	}
	return classes
}

// uniqueNames keeps the first class of each name: a second one would be merged into it key by key.
func uniqueNames(classes []openstackv1alpha1.LoadBalancerClass) []openstackv1alpha1.LoadBalancerClass {
	var result []openstackv1alpha1.LoadBalancerClass
	for _, class := range classes {
		if !slices.ContainsFunc(result, func(other openstackv1alpha1.LoadBalancerClass) bool { return other.Name == class.Name }) {
			result = append(result, class)
		}
	}
	return result
}

// floatingPool is the cloud profile's entry for the shoot's external network, given by name or ID.
func (in *inputs) floatingPool() *openstackv1alpha1.FloatingPool {
	network := in.infrastructure.Networks.FloatingPool
	if pool := in.profile.FindFloatingPool(network.Name, in.region, in.credentials.DomainName); pool != nil {
		return pool
	}
	return in.profile.FindFloatingPool(network.ID, in.region, in.credentials.DomainName)
}

// globalClass is used for Services without a class: the shoot's networks, changed by the private and the default class.
func (in *inputs) globalClass(classes []openstackv1alpha1.LoadBalancerClass, nodeSubnet string) openstackv1alpha1.LoadBalancerClass {
	global := openstackv1alpha1.LoadBalancerClass{FloatingNetworkID: &in.infrastructure.Networks.FloatingPool.ID, SubnetID: &nodeSubnet}
	if private := classFor(openstackv1alpha1.LoadBalancerPurposePrivate, classes); private != nil && value(private.SubnetID) != "" {
		global.SubnetID = private.SubnetID
	}
	defaultClass := classFor(openstackv1alpha1.LoadBalancerPurposeDefault, classes)
	if defaultClass == nil && len(classes) > 0 {
		defaultClass = &classes[0]
	}
	if defaultClass == nil {
		return global
	}
	if value(defaultClass.FloatingNetworkID) != "" {
		global.FloatingNetworkID = defaultClass.FloatingNetworkID
	}
	if value(defaultClass.SubnetID) != "" {
		global.SubnetID = defaultClass.SubnetID
	}
	global.FloatingSubnetID, global.FloatingSubnetName, global.FloatingSubnetTags = defaultClass.FloatingSubnetID, defaultClass.FloatingSubnetName, defaultClass.FloatingSubnetTags
	return global
}

// classFor finds a class by its purpose, or else by its name.
func classFor(purpose string, classes []openstackv1alpha1.LoadBalancerClass) *openstackv1alpha1.LoadBalancerClass {
	for i := range classes {
		if value(classes[i].Purpose) == purpose {
			return &classes[i]
		}
	}
	for i := range classes {
		if classes[i].Name == purpose {
			return &classes[i]
		}
	}
	return nil
}

// ownSubnets makes a class in another external network without subnets use all subnets there: otherwise the setting for all Services would apply, which names
// subnets of the wrong network.
func ownSubnets(class, global openstackv1alpha1.LoadBalancerClass) openstackv1alpha1.LoadBalancerClass {
	onOtherNetwork := value(class.FloatingNetworkID) != "" && value(class.FloatingNetworkID) != value(global.FloatingNetworkID)
	if onOtherNetwork && !choosesSubnets(class) && choosesSubnets(global) {
		every := anySubnet
		class.FloatingSubnetName = &every
	}
	return class
}

func choosesSubnets(class openstackv1alpha1.LoadBalancerClass) bool {
	return value(class.FloatingSubnetID) != "" || value(class.FloatingSubnetName) != "" || value(class.FloatingSubnetTags) != ""
}
