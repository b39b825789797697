// Package infrastructure is the Infrastructure contract: networks, subnets, routers, security groups and key pairs of a shoot, which are created
// before, and deleted after, everything else of the shoot.
//
// The contract reads the inputs (object, Cluster, credentials Secret), calls the type's Driver, and writes its outcome to the object's status:
// providerStatus for ControlPlane and Worker, nodesCIDR, egressCIDRs and networking for gardenlet, state for another seed. It must not depend on a
// cloud.
package infrastructure
