package openstack

// Fault is what a service answered instead of doing what it was asked for. It is the cause within the *cloud.Error that
// every failed call returns; errors.AsType[*Fault] finds it.
type Fault struct {
	Service      string // network, compute, load-balancer, shared-file-system or identity
	Method, Path string
	Status       int    // HTTP status code
	Type         string // machine-readable type, e.g. Neutron's "IpAddressGenerationFailure"; may be empty
	Message      string // the service's own words
	RequestID    string // under which the cloud's operator finds the request
}

// Error implements error.
func (f *Fault) Error() string { return f.Message }

const faultRuleExists = "SecurityGroupRuleExists"

// IsServiceMissing reports whether err says that the cloud does not offer the service that a call needs.
func IsServiceMissing(err error) bool { panic("being written") }
