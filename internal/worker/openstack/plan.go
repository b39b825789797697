package openstack

import (
	"fmt"
	"maps"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	openstackmachine "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Labels of nodes by which the storage drivers find a node's zone.
const (
	labelCinderZone = "topology.cinder.csi.openstack.org/zone"
	labelManilaZone = "topology.manila.csi.openstack.org/zone"
)

// plan has all inputs of the machines of a pool.
type plan struct {
	in     *inputs
	pool   *extensionsv1alpha1.WorkerPool
	config *openstackv1alpha1.WorkerConfig
	image  *openstackv1alpha1.MachineImage
	// groupID is empty for a pool without a server group.
	groupID      string
	rootDiskSize int
	rootDiskType *string
	dataVolumes  []openstackmachine.DataVolume
}

// planOf returns the plan of a pool. In a deletion missing inputs are accepted, since no machine is created.
func (in *inputs) planOf(pool *extensionsv1alpha1.WorkerPool, recorded *openstackv1alpha1.WorkerStatus) (*plan, error) {
	p := &plan{in: in, pool: pool}
	var err error
	if p.config, err = openstackv1alpha1.DecodeWorkerConfig(pool.ProviderConfig); err != nil {
		if !in.shoot.Deleting {
			return nil, fmt.Errorf("reading the providerConfig of pool %q: %w", pool.Name, err)
		}
		p.config = &openstackv1alpha1.WorkerConfig{}
	}
	if p.image, err = in.imageOf(pool, recorded); err != nil {
		if !in.shoot.Deleting {
			return nil, err
		}
		p.image = &openstackv1alpha1.MachineImage{Image: pool.MachineImage.Name} // a class must name one
	}
	if policyOf(p.config) != "" {
		dependency, err := recordedGroup(recorded.ServerGroupDependencies, pool.Name)
		if err != nil && !in.shoot.Deleting {
			return nil, err
		}
		p.groupID = dependency.ID
	}
	if err := p.sizeDisks(); err != nil && !in.shoot.Deleting {
		return nil, fmt.Errorf("planning the volumes of pool %q: %w", pool.Name, err)
	}
	return p, nil
}

// sizeDisks determines the volumes.
func (p *plan) sizeDisks() error {
	if err := p.sizeRootDisk(); err != nil {
		return err
	}
	for _, volume := range p.pool.DataVolumes {
		size, err := validation.SizeInGiB(volume.Size)
		if err != nil {
			return fmt.Errorf("data volume %s: %w", volume.Name, err)
		}
		planned := openstackmachine.DataVolume{Name: volume.Name, Size: size}
		if kind := value(volume.Type); kind != "" {
			planned.Type = &kind
		}
		p.dataVolumes = append(p.dataVolumes, planned)
	}
	return nil
}

// sizeRootDisk determines the root volume. A pool without a volume type gets that of the machine type, if there is one, and then its size,
// too: machine types without a disk of their own need it.
func (p *plan) sizeRootDisk() (err error) {
	if volume := p.pool.Volume; volume != nil {
		if volume.Size != "" {
			if p.rootDiskSize, err = validation.SizeInGiB(volume.Size); err != nil {
				return err
			}
		}
		if kind := value(volume.Type); kind != "" {
			p.rootDiskType = &kind
		}
		if volume.Type != nil {
			return nil
		}
	}
	machineType := p.in.shoot.MachineType(p.pool)
	if machineType == nil || machineType.Storage == nil {
		return nil
	}
	kind, size := machineType.Storage.Type, machineType.Storage.StorageSize
	if kind == "" || kind == "default" {
		return nil
	}
	p.rootDiskType = &kind
	if size != nil && !size.IsZero() && p.rootDiskSize == 0 {
		if p.rootDiskSize, err = validation.SizeInGiB(size.String()); err != nil {
			return fmt.Errorf("storage of machine type %s: %w", machineType.Name, err)
		}
	}
	return nil
}

// withoutDataVolumes is upstream's description of the pool: it ignores data volumes.
func (p *plan) withoutDataVolumes() *plan {
	upstream := *p
	upstream.dataVolumes = nil
	return &upstream
}

func (p *plan) machines() *worker.Machines {
	data := p.hashData()
	machines := &worker.Machines{HashData: data.values, HashDataNames: data.names, HashDataInPlace: p.hashDataInPlace()}
	for _, zone := range p.pool.Zones {
		config := openstackmachine.NewMachineProviderConfig()
		config.Spec = p.spec(zone)
		machines.Classes = append(machines.Classes, worker.Class{
			Provider: openstackmachine.Provider, ProviderSpec: config, NodeTemplate: p.nodeTemplate(),
			NodeLabels: map[string]string{labelCinderZone: zone, labelManilaZone: zone},
		})
	}
	return machines
}

func (p *plan) spec(zone string) openstackmachine.MachineProviderConfigSpec {
	in := p.in
	spec := openstackmachine.MachineProviderConfigSpec{
		Region: in.shoot.Worker.Spec.Region, AvailabilityZone: zone, FlavorName: p.pool.MachineType, KeyName: in.infra.Node.KeyName,
		SecurityGroups: p.securityGroups(),
		Tags:           p.tags(),
		NetworkID:      in.infra.Networks.ID, SubnetIDs: in.subnets(), PodNetworkCIDRs: slices.Clone(in.shoot.PodRanges),
		RootDiskSize: p.rootDiskSize, RootDiskType: p.rootDiskType, UseConfigDrive: p.config.ConfigDrive,
		DataVolumes: p.dataVolumes,
	}
	if p.image.ID != "" {
		spec.ImageID = p.image.ID
	} else {
		spec.ImageName = p.image.Image
	}
	if p.groupID != "" {
		spec.ServerGroupID = new(p.groupID)
	}
	if len(p.config.AdditionalNetworks) > 0 {
		spec.NetworkID = ""
		spec.Networks = []openstackmachine.Network{{ID: in.infra.Networks.ID, PodNetwork: true}}
		for _, network := range p.config.AdditionalNetworks {
			spec.Networks = append(spec.Networks, openstackmachine.Network{ID: network.ID, Name: network.Name})
		}
	}
	// Classes share no memory with each other or with their inputs.
	return *spec.DeepCopy()
}

// securityGroups are the shoot's own and the additional ones, in their order, without duplicates.
func (p *plan) securityGroups() []string {
	groups := []string{p.in.nodesGroup()}
	for _, group := range p.config.AdditionalSecurityGroups {
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// nodeTemplate has the user's values. The contract adds those of the pool.
func (p *plan) nodeTemplate() machinev1alpha1.NodeTemplate {
	if p.config.NodeTemplate == nil {
		return machinev1alpha1.NodeTemplate{}
	}
	return machinev1alpha1.NodeTemplate{
		Capacity: p.config.NodeTemplate.Capacity.DeepCopy(), VirtualCapacity: p.config.NodeTemplate.VirtualCapacity.DeepCopy(),
	}
}

// tags are the metadata of machines: labels of the pool, labels of machines, and marks of ownership.
//
// Several labels may have the same key as metadata. A machine label takes precedence over a label of the pool; among those of one sort, the
// label with exactly that key, and otherwise the last one by its name. Labels cannot override marks of ownership.
func (p *plan) tags() map[string]string {
	ofMachines := map[string]string{}
	for _, label := range p.config.MachineLabels {
		ofMachines[label.Name] = label.Value
	}
	tags := map[string]string{}
	for _, labels := range []map[string]string{p.pool.Labels, ofMachines} {
		maps.Copy(tags, tagsOf(labels))
	}
	tags[openstackmachine.TagClusterPrefix+p.in.shoot.TechnicalID] = "1"
	tags[openstackmachine.TagRolePrefix+"node"] = "1"
	return tags
}

func tagsOf(labels map[string]string) map[string]string {
	tags := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		key := openstackmachine.TagKey(name)
		_, isWrittenLikeKey := labels[key]
		if openstackmachine.IsIdentity(key) || isWrittenLikeKey && key != name {
			continue
		}
		tags[key] = labels[name]
	}
	return tags
}
