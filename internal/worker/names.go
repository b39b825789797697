package worker

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// ownerLabel marks classes and their Secrets as this controller's, for the Worker of this name. Other extensions' classes lack it.
const ownerLabel = "worker.trellis.garden/owner"

// deploymentName names the MachineDeployment of a pool's zone by the zone's number: names of zones may have any characters.
func deploymentName(technicalID, pool string, zone int) string {
	return fmt.Sprintf("%s-%s-z%d", technicalID, pool, zone+1)
}

// className names a class and its Secret.
func className(deployment, hash string) string { return deployment + "-" + hash }

// classNames are the names of a pool's classes, zone by zone, for one of the two descriptions that a driver may return.
func classNames(
	technicalID string, p *extensionsv1alpha1.WorkerPool, shoot *gardencorev1beta1.Shoot, machines *Machines,
) ([]string, error) {
	hash, err := poolHash(p, shoot, machines)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(p.Zones))
	for zone := range p.Zones {
		names[zone] = className(deploymentName(technicalID, p.Name, zone), hash)
	}
	return names, nil
}
