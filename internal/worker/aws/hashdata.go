package aws

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/version"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// hashData are inputs to the hash of a pool with their names for users.
type hashData struct{ names, values []string }

func (d *hashData) add(name, value string) {
	d.names, d.values = append(d.names, name), append(d.values, value)
}

// addSet adds a value that is set.
func addSet[T string | int32 | int64](d *hashData, name string, value *T) {
	if value != nil {
		d.add(name, fmt.Sprint(*value))
	}
}

// hashData are the inputs to the hash of a pool whose nodes are replaced, with its data volumes in the given order. They are upstream's, in upstream's order.
// They must never change: another value, another order, or another input replaces all nodes of the affected pools.
//
//  1. whether the root volume is encrypted, if the pool says it,
//  2. of each data volume: the size; the type and whether it is encrypted, if the pool says it,
//  3. the providerConfig: of a pool with Kubernetes 1.34 or newer, the values of its fields (see addConfig); of an older one, its bytes (see rawConfig).
func (p *plan) hashData(volumes []extensionsv1alpha1.DataVolume) hashData {
	var data hashData
	if p.pool.Volume != nil {
		data.addEncrypted("the root volume", p.pool.Volume.Encrypted)
	}
	for _, volume := range volumes {
		name := "data volume " + volume.Name
		data.add("the size of "+name, volume.Size)
		addSet(&data, "the type of "+name, volume.Type)
		data.addEncrypted(name, volume.Encrypted)
	}
	if p.hashesFields {
		data.addConfig(p.config)
	} else if raw := rawConfig(p.pool, p.config); raw != nil {
		data.add("the providerConfig", string(raw))
	}
	return data
}

// hashDataInPlace are the inputs for a pool whose nodes are updated in place. Such pools keep their providerConfig and their data volumes.
func (p *plan) hashDataInPlace() []string {
	var data hashData
	if p.pool.Volume != nil {
		data.addEncrypted("the root volume", p.pool.Volume.Encrypted)
	}
	return data.values
}

// hashesFields reports whether the fields of a pool's providerConfig are inputs of the hash, and not its bytes.
func hashesFields(pool *extensionsv1alpha1.WorkerPool) (bool, error) {
	if pool.KubernetesVersion == nil {
		return false, nil
	}
	kubernetes, err := version.ParseGeneric(*pool.KubernetesVersion)
	if err != nil {
		return false, fmt.Errorf("reading the Kubernetes version of pool %q: %w", pool.Name, err)
	}
	return kubernetes.AtLeast(version.MajorMinor(1, 34)), nil
}

func (d *hashData) addEncrypted(volume string, encrypted *bool) {
	if encrypted != nil {
		d.add("the encryption of "+volume, strconv.FormatBool(*encrypted))
	}
}

// addConfig adds those fields of a providerConfig that need other machines. cpuOptions.amdSevSnp and descriptions of network interfaces are not among them:
// upstream replaces no nodes for them either.
func (d *hashData) addConfig(config *awsv1alpha1.WorkerConfig) {
	if template := config.NodeTemplate; template != nil {
		for _, name := range slices.Sorted(maps.Keys(template.Capacity)) {
			amount := template.Capacity[name]
			d.add(fmt.Sprintf("the capacity %s of nodes", name), fmt.Sprintf("%s=%d", name, amount.Value()))
		}
	}
	if volume := config.Volume; volume != nil {
		addSet(d, "the IOPS of the root volume", volume.IOPS)
		addSet(d, "the throughput of the root volume", volume.Throughput)
	}
	for _, volume := range config.DataVolumes {
		d.add("the configuration of data volume "+volume.Name, volume.Name)
		addSet(d, "the IOPS of data volume "+volume.Name, volume.IOPS)
		addSet(d, "the throughput of data volume "+volume.Name, volume.Throughput)
		addSet(d, "the snapshot of data volume "+volume.Name, volume.SnapshotID)
	}
	if profile := config.IAMInstanceProfile; profile != nil {
		addSet(d, "the name of the instance profile", profile.Name)
		addSet(d, "the ARN of the instance profile", profile.ARN)
	}
	if options := config.InstanceMetadataOptions; options != nil {
		addSet(d, "the tokens of the metadata service", options.HTTPTokens)
		addSet(d, "the hop limit of the metadata service", options.HTTPPutResponseHopLimit)
	}
	d.addCapacity(config)
	for i := range config.NetworkInterfaces {
		d.addInterface(fmt.Sprintf("network interface %d", i+1), &config.NetworkInterfaces[i])
	}
	if placement := config.Placement; placement != nil {
		addSet(d, "the placement group", placement.GroupID)
		addSet(d, "the tenancy", placement.Tenancy)
		addSet(d, "the dedicated host", placement.HostID)
		addSet(d, "the partition of the placement group", placement.PartitionNumber)
		addSet(d, "the affinity to the host", placement.Affinity)
	}
}

// addCapacity adds processors, reservations and the market.
func (d *hashData) addCapacity(config *awsv1alpha1.WorkerConfig) {
	if options := config.CpuOptions; options != nil {
		addSet(d, "the number of cores", options.CoreCount)
		addSet(d, "the threads of each core", options.ThreadsPerCore)
	}
	if reservation := config.CapacityReservation; reservation != nil {
		addSet(d, "the preference of capacity reservations", reservation.CapacityReservationPreference)
		addSet(d, "the capacity reservation", reservation.CapacityReservationID)
		addSet(d, "the group of capacity reservations", reservation.CapacityReservationResourceGroupARN)
	}
	if options := config.InstanceMarketOptions; options != nil {
		d.add("the market", options.MarketType)
	}
}

func (d *hashData) addInterface(name string, given *awsv1alpha1.NetworkInterface) {
	d.add("the type of "+name, interfaceType(given))
	addSet(d, "the device index of "+name, given.DeviceIndex)
	addSet(d, "the network card of "+name, given.NetworkCardIndex)
	if cards := given.NetworkCardIndexRange; cards != nil {
		d.add("the first network card of "+name, strconv.FormatInt(cards.From, 10))
		d.add("the last network card of "+name, strconv.FormatInt(cards.To, 10))
	}
	addSet(d, "the subnet of "+name, given.SubnetID)
}
