// Package infrastructure is the Infrastructure contract: networks, subnets, routers, security groups and key pairs of a
// shoot, ready before anything else of it starts and removed after everything else is gone.
//
// The contract reads the inputs (object, Cluster, credentials Secret), lets the type's Driver do the action, and turns what
// it returns into the object's status: providerStatus for ControlPlane and Worker, nodesCIDR, egressCIDRs and networking
// for gardenlet, state for another seed. It knows no cloud.
package infrastructure
