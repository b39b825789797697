package openstack

import (
	"fmt"
	"slices"
	"strings"
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
func (p *plan) hashData() []string {
	var data []string
	if p.groupID != "" {
		data = append(data, p.groupID)
	}
	var labels []string
	for _, label := range p.config.MachineLabels {
		if label.TriggerRollingOnUpdate {
			labels = append(labels, label.Name+"="+label.Value)
		}
	}
	data = append(data, slices.Sorted(slices.Values(labels))...)
	data = append(data, slices.Sorted(slices.Values(p.config.AdditionalSecurityGroups))...)
	for _, network := range p.config.AdditionalNetworks {
		if network.ID != "" {
			data = append(data, "trellis/network-id="+strings.ToLower(network.ID))
		} else {
			data = append(data, "trellis/network-name="+network.Name)
		}
	}
	if p.config.ConfigDrive != nil {
		data = append(data, fmt.Sprintf("trellis/config-drive=%t", *p.config.ConfigDrive))
	}
	return append(data, p.volumesHashData()...)
}

// hashDataInPlace are the inputs for a pool whose nodes are updated in place. Upstream has none: the machine stays, and an update that
// changes nothing on a node never completes. Of ours it has only the data volumes, which cannot change in such a pool: they distinguish a
// class of ours from upstream's of the same pool, which has none (see worker.Machines).
func (p *plan) hashDataInPlace() []string { return p.volumesHashData() }

func (p *plan) volumesHashData() []string {
	var data []string
	for _, volume := range p.dataVolumes {
		data = append(data, fmt.Sprintf("trellis/data-volume=%s,%d,%s", volume.Name, volume.Size, value(volume.Type)))
	}
	return data
}
