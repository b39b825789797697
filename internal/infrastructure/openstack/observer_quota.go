package openstack

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/apis/openstack/validation"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/observer"
)

// demand is what machines need of quotas.
type demand struct {
	instances, cores, ports, volumes int
	ram                              int // MiB
	gigabytes                        int // GiB of volumes
}

// plus returns the demand with that of several machines.
func (d demand) plus(machine demand, count int) demand {
	return demand{
		instances: d.instances + count*machine.instances, cores: d.cores + count*machine.cores, ram: d.ram + count*machine.ram,
		ports: d.ports + count*machine.ports, volumes: d.volumes + count*machine.volumes, gigabytes: d.gigabytes + count*machine.gigabytes,
	}
}

// String describes the demand of a shoot.
func (d demand) String() string {
	text := fmt.Sprintf("%d instances, %d cores, %d MiB of RAM and %d ports", d.instances, d.cores, d.ram, d.ports)
	if d.volumes > 0 {
		text += fmt.Sprintf(", and %d volumes of %d GiB in all", d.volumes, d.gigabytes)
	}
	return text
}

// headroom is one quota with what is used of it, and what the shoot still needs.
type headroom struct {
	what       string
	more, used int
	limit      *int
}

// lacks reports whether the quota is too small. One without a limit never is, and a shoot that needs nothing more is not affected by one that is exceeded.
func (h headroom) lacks() bool {
	return h.limit != nil && *h.limit >= 0 && h.more > 0 && h.used+h.more > *h.limit
}

// quota compares the quotas with what the machines of the shoot need at the maximum of all workers, beyond those that exist. Each shoot of an account is
// compared alone: the sum of what all of them may need is often more than an account is meant to have.
func (s *observedShoot) quota() observer.Finding {
	maximum, skipped := s.maximumDemand()
	existing := s.existingDemand()
	var sentences []string
	for _, one := range s.headrooms(maximum, existing) {
		if one.lacks() {
			sentences = append(sentences, fmt.Sprintf("the maximum of all workers needs %d more %s, but %d are left (%d of %d are used)",
				one.more, one.what, max(*one.limit-one.used, 0), one.used, *one.limit))
		}
	}
	finding := findingOf(sentences, fmt.Sprintf("The quotas suffice for the maximum of all workers, which is %s.", maximum))
	if !finding.Healthy {
		finding.Message += ": have the quotas of the project raised, or lower the maximum of workers."
	}
	finding.Message += " Not counted: what other shoots of the account may need, and machines that a rolling update adds."
	if len(skipped) > 0 {
		finding.Message += " Not counted, since the project has no such flavor: " + strings.Join(skipped, ", ") + "."
	}
	return finding
}

func (s *observedShoot) headrooms(maximum, existing demand) []headroom {
	limits := s.cloud.computeLimits
	more := func(maximum, existing int) int { return max(maximum-existing, 0) }
	all := []headroom{
		{"instances", more(maximum.instances, existing.instances), limits.Instances, limits.MaxInstances},
		{"cores", more(maximum.cores, existing.cores), limits.Cores, limits.MaxCores},
		{"MiB of RAM", more(maximum.ram, existing.ram), limits.RAM, limits.MaxRAM},
	}
	ports := 0
	for _, port := range s.cloud.ports { // the list also has others' in the project's networks
		if port.ProjectID == s.cloud.login.ProjectID {
			ports++
		}
	}
	gigabytes := 0
	for _, volume := range s.cloud.volumes {
		gigabytes += volume.Size
	}
	return append(all,
		headroom{"ports", more(maximum.ports, existing.ports), ports, s.cloud.networkQuota.Ports},
		headroom{"volumes", more(maximum.volumes, existing.volumes), len(s.cloud.volumes), s.cloud.volumeQuota.Volumes},
		// Snapshots, which are not read, use this quota, too.
		headroom{"GiB of volumes", more(maximum.gigabytes, existing.gigabytes), gigabytes, s.cloud.volumeQuota.Gigabytes},
	)
}

// maximumDemand returns the demand of all workers at their maximum, and the workers whose machine type is not a flavor of the project.
func (s *observedShoot) maximumDemand() (total demand, skipped []string) {
	for _, worker := range s.shoot.Cluster.Shoot.Spec.Provider.Workers {
		i := slices.IndexFunc(s.cloud.flavors, func(f cloudopenstack.Flavor) bool { return f.Name == worker.Machine.Type })
		if i < 0 {
			skipped = append(skipped, fmt.Sprintf("worker %s of type %s", worker.Name, worker.Machine.Type))
			continue
		}
		machine := demand{instances: 1, ports: 1, cores: s.cloud.flavors[i].VCPUs, ram: s.cloud.flavors[i].RAM}
		for _, size := range s.volumeSizes(worker) {
			machine.volumes++
			machine.gigabytes += size
		}
		total = total.plus(machine, int(worker.Maximum))
	}
	return total, skipped
}

// volumeSizes returns the sizes of the volumes of a worker's machine in GiB. A machine boots from a volume if the worker, or else the machine type, has a
// size for it.
func (s *observedShoot) volumeSizes(worker gardencorev1beta1.Worker) []int {
	sizes := make([]string, 0, 1+len(worker.DataVolumes))
	if volume := worker.Volume; volume != nil {
		sizes = append(sizes, volume.VolumeSize)
	}
	if root := s.storageOfMachineType(worker); root != "" && (worker.Volume == nil || worker.Volume.VolumeSize == "" && worker.Volume.Type == nil) {
		sizes = append(sizes, root)
	}
	for _, volume := range worker.DataVolumes {
		sizes = append(sizes, volume.VolumeSize)
	}
	var all []int
	for _, text := range sizes {
		if size, err := validation.SizeInGiB(text); err == nil {
			all = append(all, size)
		}
	}
	return all
}

// storageOfMachineType returns the size of the volume that machines of a type need, or "".
func (s *observedShoot) storageOfMachineType(worker gardencorev1beta1.Worker) string {
	for _, machineType := range s.shoot.Cluster.CloudProfile.Spec.MachineTypes {
		storage := machineType.Storage
		if machineType.Name != worker.Machine.Type || storage == nil {
			continue
		}
		if storage.Type != "" && storage.Type != "default" && storage.StorageSize != nil && !storage.StorageSize.IsZero() {
			return storage.StorageSize.String()
		}
	}
	return ""
}

// existingDemand returns what the shoot's machines use already.
func (s *observedShoot) existingDemand() demand {
	sizes := map[string]int{}
	for _, volume := range s.cloud.volumes {
		sizes[volume.ID] = volume.Size
	}
	var total demand
	for _, server := range s.cloud.servers {
		if !s.isMachine(server) {
			continue
		}
		machine := demand{instances: 1}
		if flavor := byID(s.cloud.flavors, server.Flavor.ID, func(f cloudopenstack.Flavor) string { return f.ID }); flavor != nil {
			machine.cores, machine.ram = flavor.VCPUs, flavor.RAM
		}
		for _, volume := range server.Volumes {
			if volume.DeleteOnTermination { // others are those of persistent volumes
				machine.volumes++
				machine.gigabytes += sizes[volume.ID]
			}
		}
		total = total.plus(machine, 1)
	}
	for _, port := range s.cloud.ports {
		if s.isMachinePort(port) {
			total.ports++
		}
	}
	return total
}
