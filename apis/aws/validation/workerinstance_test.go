package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

func TestValidateWorkerPool_InvalidInstances(t *testing.T) {
	profile := func(name, arn *string) func(*v1alpha1.WorkerConfig) {
		return func(c *v1alpha1.WorkerConfig) {
			c.IAMInstanceProfile = &v1alpha1.IAMInstanceProfile{Name: name, ARN: arn}
		}
	}
	capacity := func(preference, id, group string) func(*v1alpha1.WorkerConfig) {
		return func(c *v1alpha1.WorkerConfig) { c.CapacityReservation = reservation(preference, id, group) }
	}
	const arn = "arn:aws:iam::123456789012:instance-profile/name"
	for sentence, test := range map[string]struct {
		change func(*v1alpha1.WorkerConfig)
		want   []string
	}{
		"no instance profile": {profile(nil, nil), []string{"iamInstanceProfile: Required value: give the name or the arn of an instance profile, or remove the field"}},
		"two instance profiles": {profile(new("a"), new(arn)), []string{
			"iamInstanceProfile: Invalid value: name and arn cannot both be given: remove one of the two",
		}},
		"an instance profile with its path": {profile(new("/a/b"), nil), []string{
			`iamInstanceProfile.name: Invalid value: "/a/b": give the name of an instance profile, without its path`,
		}},
		"an empty name of an instance profile": {profile(new(""), nil), []string{
			"iamInstanceProfile.name: Required value: give the name of an instance profile, without its path",
		}},
		"a name of an instance profile that is too long": {profile(new(strings.Repeat("a", 129)), nil), []string{
			"iamInstanceProfile.name: Too long: may not be more than 128 bytes",
		}},
		"an ARN that is none": {profile(nil, new("name")), []string{
			`iamInstanceProfile.arn: Invalid value: "name": give the ARN of an instance profile, like ` + arn,
		}},
		"metadata": {func(c *v1alpha1.WorkerConfig) { c.InstanceMetadataOptions = metadata("on", 65) }, []string{
			`instanceMetadataOptions.httpTokens: Invalid value: "on": choose one of "required", "optional", or remove the field`,
			"instanceMetadataOptions.httpPutResponseHopLimit: Invalid value: 65: give a number between 1 and 64, or remove the field",
		}},
		"cores without threads": {func(c *v1alpha1.WorkerConfig) { c.CpuOptions = &v1alpha1.CpuOptions{CoreCount: new(int32(2))} }, []string{
			"cpuOptions.threadsPerCore: Required value: give it together with coreCount, or remove both",
		}},
		"threads without cores, and too many": {func(c *v1alpha1.WorkerConfig) { c.CpuOptions = &v1alpha1.CpuOptions{ThreadsPerCore: new(int32(3))} }, []string{
			"cpuOptions.coreCount: Required value: give it together with threadsPerCore, or remove both",
			"cpuOptions.threadsPerCore: Invalid value: 3: a core has 1 or 2 threads: give one of the two",
		}},
		"encrypted memory": {func(c *v1alpha1.WorkerConfig) { c.CpuOptions = &v1alpha1.CpuOptions{AmdSevSnp: new("yes")} }, []string{
			`cpuOptions.amdSevSnp: Invalid value: "yes": choose one of "enabled", "disabled", or remove the field`,
		}},
		"another preference": {capacity("all", "cr-1", ""), []string{
			`capacityReservation.capacityReservationPreference: Invalid value: "all": choose one of "capacity-reservations-only", "open", "none", or remove the field`,
		}},
		"a reservation for machines that may choose": {capacity("open", "cr-1", ""), []string{
			"capacityReservation.capacityReservationPreference: Forbidden: machines in a given reservation or group cannot choose: set it to capacity-reservations-only, or remove it",
		}},
		"a reservation and a group": {capacity("", "cr-1", groupARN), []string{
			"capacityReservation.capacityReservationId: Forbidden: a reservation and a group cannot both be given: remove this or capacityReservationResourceGroupArn",
		}},
		"a reservation that is none": {capacity("", "mine", ""), []string{
			`capacityReservation.capacityReservationId: Invalid value: "mine": give the ID of a capacity reservation, like cr-0123456789abcdef0`,
		}},
		"a group that is none": {capacity("", "", "mine"), []string{
			`capacityReservation.capacityReservationResourceGroupArn: Invalid value: "mine": give the ARN of a group of capacity reservations, ` +
				"like arn:aws:resource-groups:eu-west-1:123456789012:group/name",
		}},
		"a tenancy and an affinity": {func(c *v1alpha1.WorkerConfig) {
			c.Placement = &v1alpha1.Placement{Tenancy: new("own"), Affinity: new("own")}
		}, []string{
			`placement.tenancy: Invalid value: "own": choose one of "default", "dedicated", "host", or remove the field`,
			`placement.affinity: Invalid value: "own": choose one of "default", "host", or remove the field`,
		}},
		"a host without its tenancy, and a partition": {func(c *v1alpha1.WorkerConfig) {
			c.Placement = &v1alpha1.Placement{HostID: new("h-1"), PartitionNumber: new(int64(0))}
		}, []string{
			"placement.hostId: Forbidden: a dedicated host needs its tenancy: set tenancy to host, or remove the field",
			"placement.partitionNumber: Invalid value: 0: give a number between 1 and 2147483647, or remove the field",
		}},
		"a market": {func(c *v1alpha1.WorkerConfig) { c.InstanceMarketOptions = &v1alpha1.InstanceMarketOptions{} }, []string{
			`instanceMarketOptions.marketType: Invalid value: "": choose one of "spot", "capacity-block", "interruptible-capacity-reservation", or remove the field`,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker()
			test.change(w.config)
			assert.Empty(t, cmp.Diff(below("p.providerConfig.", test.want), w.validate(t)))
		})
	}
}

// below puts a path before each text.
func below(path string, texts []string) []string {
	var result []string
	for _, text := range texts {
		result = append(result, path+text)
	}
	return result
}

func TestValidateWorkerPool_InvalidNetworkInterfaces(t *testing.T) {
	type indices = v1alpha1.IndexRange
	const primary = `type: Invalid value: "efa-only": the interface of network card 0 and device 0 needs IP addresses: choose another type, or another index`
	for sentence, test := range map[string]struct {
		given v1alpha1.NetworkInterface
		want  []string
	}{
		"a card and a range of cards": {v1alpha1.NetworkInterface{NetworkCardIndex: new(int64(1)), NetworkCardIndexRange: &indices{From: 1, To: 2}}, []string{
			"networkCardIndexRange: Forbidden: networkCardIndex says which network card it is: remove one of the two",
		}},
		"indices that are none": {v1alpha1.NetworkInterface{NetworkCardIndex: new(int64(-1)), DeviceIndex: new(int64(2147483648))}, []string{
			"networkCardIndex: Invalid value: -1: give an index between 0 and 2147483647", "deviceIndex: Invalid value: 2147483648: give an index between 0 and 2147483647",
		}},
		"a range of indices that are none": {v1alpha1.NetworkInterface{NetworkCardIndexRange: &indices{From: -1, To: 2147483648}}, []string{
			"networkCardIndexRange.from: Invalid value: -1: give an index between 0 and 2147483647",
			"networkCardIndexRange.to: Invalid value: 2147483648: give an index between 0 and 2147483647",
		}},
		"a range that is the wrong way round": {v1alpha1.NetworkInterface{NetworkCardIndexRange: &indices{From: 2, To: 1}}, []string{
			"networkCardIndexRange.to: Invalid value: 1: is less than from (2): exchange the two",
		}},
		"a range that no machine has": {v1alpha1.NetworkInterface{NetworkCardIndexRange: &indices{From: 1, To: 2147483647}}, []string{
			"networkCardIndexRange.to: Invalid value: 2147483647: no machine has so many network cards: give a range of 1000 at most",
		}},
		"another type":                       {v1alpha1.NetworkInterface{Type: new("eth")}, []string{`type: Invalid value: "eth": choose one of "interface", "efa", "efa-only", or remove the field`}},
		"the first one without IP addresses": {v1alpha1.NetworkInterface{Type: new("efa-only")}, []string{primary}},
		"the first one by its indices":       {v1alpha1.NetworkInterface{Type: new("efa-only"), NetworkCardIndex: new(int64(0)), DeviceIndex: new(int64(0))}, []string{primary}},
		"the first one in a range":           {v1alpha1.NetworkInterface{Type: new("efa-only"), NetworkCardIndexRange: &indices{To: 3}}, []string{primary}},
		"a subnet by its name":               {v1alpha1.NetworkInterface{SubnetID: new("mine")}, []string{`subnetID: Invalid value: "mine": give the ID of a subnet, like subnet-0123456789abcdef0`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker()
			w.config.NetworkInterfaces = []v1alpha1.NetworkInterface{test.given}
			assert.Empty(t, cmp.Diff(below("p.providerConfig.networkInterfaces[0].", test.want), w.validate(t)))
		})
	}
}
