package openstack

import (
	"fmt"
	"slices"
	"strings"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// hashData are the inputs to the hash of a pool whose nodes are replaced. The first three are upstream's, in upstream's order; a
// pool without them adds nothing. Our own follow. They must never change: another value, another order, or another input
// replaces all nodes of the affected pools.
//
//  1. the ID of the server group,
//  2. the machine labels that replace nodes, as name=value, sorted,
//  3. the additional security groups, sorted,
//  4. the additional networks, in their order, which is that of the machine's interfaces,
//  5. the config drive, if the pool sets it,
//  6. the data volumes, in their order, which is that of the machine's disks.
func (p *plan) hashData() hashData {
	var data hashData
	if p.groupID != "" {
		data.add("the server group", p.groupID)
	}
	labels := slices.DeleteFunc(slices.Clone(p.config.MachineLabels), func(l openstackv1alpha1.MachineLabel) bool { return !l.TriggerRollingOnUpdate })
	slices.SortFunc(labels, func(a, b openstackv1alpha1.MachineLabel) int {
		return strings.Compare(a.Name+"="+a.Value, b.Name+"="+b.Value)
	})
	for _, label := range labels {
		data.add("machine label "+label.Name, label.Name+"="+label.Value)
	}
	for _, group := range slices.Sorted(slices.Values(p.config.AdditionalSecurityGroups)) {
		data.add("additional security group "+group, group)
	}
	for i, network := range p.config.AdditionalNetworks {
		name := fmt.Sprintf("additional network %d", i+1)
		if network.ID != "" {
			data.add(name, "trellis/network-id="+strings.ToLower(network.ID))
		} else {
			data.add(name, "trellis/network-name="+network.Name)
		}
	}
	if p.config.ConfigDrive != nil {
		data.add("the config drive", fmt.Sprintf("trellis/config-drive=%t", *p.config.ConfigDrive))
	}
	volumes := p.volumesHashData()
	data.names, data.values = append(data.names, volumes.names...), append(data.values, volumes.values...)
	return data
}

// hashDataInPlace are the inputs for a pool whose nodes are updated in place. Upstream has none: the machine stays, and an update that
// changes nothing on a node never completes. Of ours it has only the data volumes, which cannot change in such a pool: they distinguish a
// class of ours from upstream's of the same pool, which has none (see worker.Machines).
func (p *plan) hashDataInPlace() []string { return p.volumesHashData().values }

func (p *plan) volumesHashData() hashData {
	var data hashData
	for _, volume := range p.dataVolumes {
		data.add("data volume "+volume.Name, fmt.Sprintf("trellis/data-volume=%s,%d,%s", volume.Name, volume.Size, value(volume.Type)))
	}
	return data
}

// hashData are inputs to the hash of a pool with their names for users.
type hashData struct{ names, values []string }

func (d *hashData) add(name, value string) {
	d.names, d.values = append(d.names, name), append(d.values, value)
}
